package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// ToolStep is one answer within a turn that calls tools.
type ToolStep struct {
	ID      string // of the response
	Thought string // signed or encrypted, depending on the protocol
	Text    string
	Calls   []StepCall // none: the turn's last answer
}

// StepCall is a call in a stream.
type StepCall struct {
	ID, Name string
	Pieces   []string // of the arguments
}

// Weather and Search are the tools of the suite. Providers would refuse Search's schema unchanged.
var (
	Weather = chat.ToolDefinition{
		Name: "get_weather", Description: "The weather of a <city>.",
		Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
	}
	Search = chat.ToolDefinition{
		Name: "files__search", Description: "Finds files.",
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"glob":{"type":"string"}},"oneOf":[{"required":["name"]},{"required":["glob"]}]}`),
	}
)

// cycle is the result of a turn: the body of each request, each decoded answer, and the messages after the user's
// message.
type cycle struct {
	bodies  [][]byte
	answers []llm.Result
	steps   []chat.Message
}

// turn runs a turn as the program does: it sends, decodes, answers every call in order, and continues until an answer
// has no calls. Every body must obey its provider's rules and begin with the previous one's conversation.
func (s *suite) turn(t *testing.T, before []chat.Message, change func(*llm.Endpoint), answer func(chat.ToolUse) chat.ToolResult, script []Step) cycle {
	t.Helper()
	server := NewServer(t, script...)
	ep := s.endpoint(server.URL)
	ep.ToolsMode = llm.ToolsEnabled
	if change != nil {
		change(&ep)
	}
	var c cycle
	for range script {
		messages := append(append([]chat.Message{}, before...), c.steps...)
		body, err := s.provider.Encode(llm.Request{Endpoint: ep, Context: Prepare(t, Context{
			System: []string{"Be brief."}, Messages: messages, Stable: len(before) - 1,
			Tools: []chat.ToolDefinition{Weather, Search}, Cycle: len(c.steps),
		})})
		if err != nil {
			t.Fatal(err)
		}
		var events []chat.RawEvent
		err = s.provider.Stream(t.Context(), ep, body, func(ev chat.RawEvent) error { events = append(events, ev); return nil })
		if err != nil {
			t.Fatal(err)
		}
		s.checkBody(t, c.bodies, body)
		result := Play(t, s.provider, ep.ToolsMode, events).Result
		c.bodies, c.answers = append(c.bodies, body), append(c.answers, result)
		if result.Status != chat.StepPaused {
			break
		}
		c.steps = append(c.steps, chat.Message{Role: chat.RoleAssistant, Blocks: result.Blocks}, results(result.Blocks, answer))
	}
	return c
}

// script returns a server's responses, step by step.
func (s *suite) script(steps ...ToolStep) []Step {
	var script []Step
	for _, step := range steps {
		script = append(script, Stream(s.Wire.Step(step)...))
	}
	return script
}

// results answers every call of an answer.
func results(blocks chat.Blocks, answer func(chat.ToolUse) chat.ToolResult) chat.Message {
	m := chat.Message{Role: chat.RoleUser}
	for _, b := range blocks {
		if use, ok := b.(chat.ToolUse); ok {
			res := answer(use)
			res.ToolUseID = use.ToolUseID
			m.Blocks = append(m.Blocks, res)
		}
	}
	return m
}

func textResult(use chat.ToolUse) chat.ToolResult {
	return chat.ToolResult{Content: chat.Blocks{chat.Text{Text: "result of " + string(use.Input)}}}
}

// checkBody checks a body against its provider's rules and against the previous step, whose conversation a prompt
// cache holds.
func (s *suite) checkBody(t *testing.T, before [][]byte, body []byte) {
	t.Helper()
	if err := RuleViolation(s.provider.Name(), body); err != nil {
		t.Fatalf("step %d breaks a rule: %v\n%s", len(before), err, Indented(t, body))
	}
	if len(before) == 0 {
		return
	}
	previous, current := conversationOf(before[len(before)-1]), conversationOf(body)
	if len(current) <= len(previous) || !reflect.DeepEqual(current[:len(previous)], previous) {
		t.Fatalf("step %d does not begin like the previous one\n%s", len(before), Indented(t, body))
	}
}

// berlin returns a step with two parallel calls, reasoning and text.
func berlin(id string) ToolStep {
	return ToolStep{ID: id, Thought: "Where is it?", Text: "I look.", Calls: []StepCall{
		{ID: "call_1", Name: "get_weather", Pieces: []string{`{"ci`, `ty":"Ber`, `lin"}`}},
		{ID: "call_2", Name: "files__search", Pieces: []string{`{"name":"a <b>"}`}},
	}}
}

func (s *suite) cycles(t *testing.T) {
	ask := []chat.Message{chat.UserText("Weather?")}
	picture := chat.Image{MediaType: "image/png", Source: json.RawMessage(`{"data":"iVBORw0KGgo="}`)}
	t.Run("two calls at once, an error and an image", func(t *testing.T) {
		c := s.turn(t, ask, func(ep *llm.Endpoint) { ep.ParallelToolCalls = true }, func(use chat.ToolUse) chat.ToolResult {
			res := textResult(use)
			if res.IsError = use.Name == "files__search"; !res.IsError {
				res.Content = append(res.Content, picture)
			}
			return res
		}, s.script(berlin("resp_1"), ToolStep{ID: "resp_2", Text: "It rains."}))
		if r := c.answers[1]; r.Status != chat.StepCompleted || r.Text() != "It rains." || len(c.bodies) != 2 {
			t.Fatalf("%d steps, the last is %+v", len(c.bodies), r)
		}
		Golden(t, "cycle/first.json", Indented(t, c.bodies[0]))
		Golden(t, "cycle/second.json", Indented(t, c.bodies[1]))
	})
	t.Run("one call at a time", func(t *testing.T) {
		c := s.turn(t, ask, nil, textResult, s.script(berlin("resp_1"), ToolStep{ID: "resp_2", Text: "It rains."}))
		for _, body := range c.bodies {
			if !bytes.Contains(body, []byte(`"parallel_tool_calls":false`)) && !bytes.Contains(body, []byte(`"disable_parallel_tool_use":true`)) {
				t.Errorf("the body does not say so: %s", body)
			}
		}
	})
	t.Run("sixteen steps, each with the same ids", func(t *testing.T) {
		var steps []ToolStep
		for i := range 16 {
			steps = append(steps, berlin(fmt.Sprintf("resp_%d", i)))
		}
		c := s.turn(t, ask, nil, func(use chat.ToolUse) chat.ToolResult {
			return chat.ToolResult{Content: chat.Blocks{chat.Text{Text: "rain"}}}
		}, s.script(append(steps, ToolStep{ID: "resp_16", Text: "Done."})...))
		if last := c.bodies[len(c.bodies)-1]; len(c.bodies) != 17 || bytes.Count(last, []byte(`"rain"`)) != 32 {
			t.Errorf("%d steps, the last is\n%s", len(c.bodies), last)
		}
	})
	t.Run("two calls with one id", func(t *testing.T) {
		twice := berlin("resp_1")
		twice.Calls[1].ID = twice.Calls[0].ID
		c := s.turn(t, ask, nil, textResult, s.script(twice, ToolStep{ID: "resp_2", Text: "Done."}))
		if last := c.bodies[1]; bytes.Count(last, []byte("result of ")) != 2 || bytes.Contains(last, []byte("not_recorded")) {
			t.Errorf("the calls are not both sent back with their results: %s", last)
		}
	})
	t.Run("a refusal after results", func(t *testing.T) {
		c := s.turn(t, ask, nil, textResult, append(s.script(berlin("resp_1")), Stream(s.Wire.Refusal...)))
		if r := c.answers[1]; !r.Refused || r.Status != chat.StepCompleted {
			t.Errorf("%+v", r)
		}
	})
	t.Run("arguments that are missing, or not an object", func(t *testing.T) { s.garbledCalls(t, ask) })
	t.Run("definitions and earlier calls by mode", s.noDefinitions)
	t.Run("any conversation can be sent", s.anyConversation)
}

// garbledCalls checks that calls without arguments or with invalid JSON are kept unchanged, and are sent back in a form
// that every server accepts.
func (s *suite) garbledCalls(t *testing.T, ask []chat.Message) {
	c := s.turn(t, ask, nil, textResult, s.script(ToolStep{ID: "resp_1", Calls: []StepCall{
		{ID: "call_1", Name: "get_weather"},
		{ID: "call_2", Name: "get_weather", Pieces: []string{`{"city":"Be`, `rlin`}},
		{ID: "call_3", Name: "get_weather", Pieces: []string{`[1]`}},
	}}, ToolStep{ID: "resp_2", Text: "Done."}))
	var kept []string
	for _, b := range c.answers[0].Blocks {
		if use, ok := b.(chat.ToolUse); ok {
			kept = append(kept, string(use.Input))
		}
	}
	if want := []string{`{}`, `"{\"city\":\"Berlin"`, `[1]`}; !reflect.DeepEqual(kept, want) {
		t.Errorf("the arguments are kept as %q, not %q", kept, want)
	}
	if body := string(c.bodies[1]); !strings.Contains(body, "_raw") {
		t.Errorf("the arguments that the model wrote are not sent back: %s", body)
	}
}

func (s *suite) noDefinitions(t *testing.T) {
	called := chat.Blocks{
		chat.ToolUse{ToolUseID: "a", Name: "old_tool", Input: json.RawMessage(`{"day":"Monday"}`)},
		chat.ToolResult{ToolUseID: "a", Content: chat.Blocks{chat.Text{Text: "It was sunny."}}}, chat.Text{Text: "Sunny."},
	}
	for _, mode := range []llm.ToolsMode{llm.ToolsDisabled, llm.ToolsParseOnly} {
		ep := s.endpoint("http://127.0.0.1:1")
		ep.ToolsMode, ep.ParallelToolCalls = mode, true
		body, err := s.provider.Encode(llm.Request{Endpoint: ep, Context: Prepare(t, Context{
			Messages: []chat.Message{chat.UserText("Before?"), {Role: chat.RoleAssistant, Blocks: called}, chat.UserText("Hello?")},
			Tools:    []chat.ToolDefinition{Weather},
		})})
		if err == nil {
			err = RuleViolation(s.provider.Name(), body)
		}
		if err != nil {
			t.Fatalf("%s: %v, %s", mode, err, body)
		}
		var top map[string]json.RawMessage
		if err := json.Unmarshal(body, &top); err != nil {
			t.Fatal(err)
		}
		offered := bytes.Contains(top["tools"], []byte("get_weather"))
		if offered != (mode == llm.ToolsParseOnly) {
			t.Errorf("%s: it offers %s", mode, top["tools"])
		}
		if mode == llm.ToolsParseOnly {
			continue
		}
		for _, name := range []string{"tools", "tool_choice", "parallel_tool_calls"} {
			if top[name] != nil {
				t.Errorf("%s: %s is sent: %s", mode, name, top[name])
			}
		}
		for _, want := range []string{"[Tool call: old_tool ", "Monday", "It was sunny."} {
			if !bytes.Contains(body, []byte(want)) {
				t.Errorf("%s: %q of an earlier call is not sent as text: %s", mode, want, body)
			}
		}
		for _, block := range []string{`"tool_use"`, `"tool_calls"`, `"function_call"`, `"tool_result"`, `"function_call_output"`} {
			if bytes.Contains(body, []byte(block)) {
				t.Errorf("%s: an earlier call is sent as %s: %s", mode, block, body)
			}
		}
	}
}

// anyConversation checks that the body obeys the provider's rules, whatever calls, results and opaque parts a
// conversation and a turn contain, with tools on or off.
func (s *suite) anyConversation(t *testing.T) {
	name := s.provider.Name()
	rapid.Check(t, func(rt *rapid.T) {
		history := []chat.Message{chat.UserText("Hello?")}
		for range rapid.IntRange(0, 3).Draw(rt, "turns") {
			history = append(history, chat.Message{Role: chat.RoleAssistant, Blocks: anyBlocks(rt, name)}, chat.UserText("Go on."))
		}
		var steps []chat.Message
		for range rapid.IntRange(0, 3).Draw(rt, "steps") {
			blocks := append(anyBlocks(rt, name), chat.ToolUse{ToolUseID: "end", Name: "get_weather", Input: json.RawMessage(`{}`)})
			steps = append(steps, chat.Message{Role: chat.RoleAssistant, Blocks: blocks}, results(blocks, textResult))
		}
		ep := s.endpoint("http://127.0.0.1:1")
		ep.ToolsMode = rapid.SampledFrom([]llm.ToolsMode{llm.ToolsEnabled, llm.ToolsDisabled, llm.ToolsParseOnly}).Draw(rt, "mode")
		ep.Store, ep.Effort = rapid.Bool().Draw(rt, "store"), "low"
		body, err := s.provider.Encode(llm.Request{Endpoint: ep, Context: Prepare(t, Context{
			System: []string{"S"}, Messages: append(history, steps...), Stable: len(history) - 1,
			Tools: []chat.ToolDefinition{Weather, Search}, Cycle: len(steps),
		})})
		if err != nil {
			rt.Fatal(err)
		}
		if err := RuleViolation(name, body); err != nil {
			rt.Fatalf("%v\n%s", err, body)
		}
	})
}

// anyBlocks returns blocks of an answer as an import, an interruption or a provider may produce them.
func anyBlocks(rt *rapid.T, provider string) chat.Blocks {
	id := rapid.SampledFrom([]string{"a", "b", "functions.x:0", "", "call-1", strings.Repeat("i", 70)})
	tool := rapid.SampledFrom([]string{"get_weather", "files__search", "f g", "", strings.Repeat("n.", 40)})
	input := rapid.SampledFrom([]string{`{}`, `{"city":"x"}`, `"text"`, `null`, `[1]`, ``, `7`})
	var out chat.Blocks
	for range rapid.IntRange(1, 6).Draw(rt, "blocks") {
		switch rapid.IntRange(0, 5).Draw(rt, "block") {
		case 0:
			out = append(out, chat.Text{Text: rapid.SampledFrom([]string{"word", " ", ""}).Draw(rt, "text")})
		case 1:
			out = append(out, chat.ToolResult{ToolUseID: id.Draw(rt, "id"), Content: chat.Blocks{chat.Text{Text: "found"}}})
		case 2:
			out = append(out, chat.Reasoning{Provider: provider, Summary: "Hm", Raw: json.RawMessage(`{"type":"thinking","thinking":"Hm"}`)})
		case 3:
			out = append(out, chat.Unknown{Provider: provider, Raw: []byte(`{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}`)})
		default:
			out = append(out, chat.ToolUse{ToolUseID: id.Draw(rt, "id"), Name: tool.Draw(rt, "tool"), Input: json.RawMessage(input.Draw(rt, "input"))})
		}
	}
	return out
}

// errorStep returns a server response that refuses a request.
func (s *suite) errorStep(code, message string) Step {
	return JSON(http.StatusBadRequest, s.Wire.ErrorBody(code, message))
}

func (s *suite) refusals(t *testing.T) {
	_, err := s.run(t.Context(), t, s.errorStep("", "m-1 does not support tools"))
	if e := asError(t, err); !e.NoTools || e.Forgotten || e.Retryable() {
		t.Errorf("%+v", e)
	}
	_, err = s.run(t.Context(), t, s.errorStep("previous_response_not_found", "Previous response with id 'resp_1' not found."))
	if e := asError(t, err); !e.Forgotten || e.NoTools || e.Retryable() {
		t.Errorf("%+v", e)
	}
}

// checkSentBack sends an answer back: in a later turn and, if it stopped for its calls or was paused, in its own turn.
// All bodies must obey the provider's rules.
func checkSentBack(t *testing.T, h Harness, r llm.Result) {
	t.Helper()
	p := h.New(nil)
	ask, answer := chat.UserText("Hello?"), chat.Message{Role: chat.RoleAssistant, Blocks: r.Blocks}
	contexts := map[string]Context{"a later turn": {Messages: []chat.Message{ask, answer, chat.UserText("Go on.")}, Stable: 2}}
	answered := []chat.Message{ask, answer}
	if results := results(r.Blocks, textResult); len(results.Blocks) > 0 {
		answered = append(answered, results)
		contexts["a later turn, answered"] = Context{Messages: append(slices.Clone(answered), chat.AssistantText("Done."), chat.UserText("Go on."))}
	}
	if r.Status == chat.StepPaused {
		contexts["the same turn"] = Context{Messages: answered, Cycle: len(answered) - 1}
	}
	for when, c := range contexts {
		c.Tools = []chat.ToolDefinition{Weather}
		for _, mode := range []llm.ToolsMode{llm.ToolsEnabled, llm.ToolsDisabled} {
			ep := h.Endpoint("")
			ep.ToolsMode = mode
			body, err := p.Encode(llm.Request{Endpoint: ep, Context: Prepare(t, c)})
			if err == nil {
				err = RuleViolation(p.Name(), body)
			}
			if err != nil {
				t.Errorf("sent back in %s, tools %s: %v\n%s", when, mode, err, body)
			}
		}
	}
}
