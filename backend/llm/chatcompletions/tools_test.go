package chatcompletions

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
)

// decode decodes a stream with tools enabled.
func decode(t *testing.T, events []chat.RawEvent) llm.Result {
	t.Helper()
	return llmtest.Play(t, New(nil), llm.ToolsEnabled, events).Result
}

// sentBack returns the body of the request that answers every call of an answer, while its turn runs or in a later
// turn.
func sentBack(t *testing.T, r llm.Result, running bool) string {
	t.Helper()
	results := chat.Message{Role: chat.RoleUser}
	for _, b := range r.Blocks {
		if use, ok := b.(chat.ToolUse); ok {
			results.Blocks = append(results.Blocks, chat.ToolResult{ToolUseID: use.ToolUseID, Content: chat.Blocks{chat.Text{Text: "rain"}}})
		}
	}
	c := llmtest.Context{Messages: []chat.Message{chat.UserText("Weather?"), {Role: chat.RoleAssistant, Blocks: r.Blocks}, results}, Cycle: 2}
	if !running {
		c.Messages, c.Cycle = append(c.Messages, chat.AssistantText("Rain."), chat.UserText("Thanks.")), 0
	}
	body, err := New(nil).Encode(llm.Request{Endpoint: llm.Endpoint{ModelID: "m-1", ToolsMode: llm.ToolsEnabled}, Context: llmtest.Prepare(t, c)})
	if err != nil {
		t.Fatal(err)
	}
	if err := llmtest.RuleViolation(Name, body); err != nil {
		t.Errorf("%v\n%s", err, body)
	}
	return string(body)
}

// calledAs returns all calls of an answer as one line.
func calledAs(r llm.Result) string {
	var out []string
	for _, b := range r.Blocks {
		if use, ok := b.(chat.ToolUse); ok {
			out = append(out, fmt.Sprintf("%s=%s%s", use.ToolUseID, use.Name, use.Input))
		}
	}
	return strings.Join(out, " ")
}

func call(body string) string { return `{"tool_calls":[` + body + `]}` }

// Servers encode calls in many ways; each call is decoded once, with a unique id.
func TestCallsAsDifferentServersSendThem(t *testing.T) {
	for name, c := range map[string]struct {
		deltas []string
		want   string
	}{
		"no ids": {[]string{
			call(`{"index":0,"function":{"name":"a","arguments":"{\"x\":1}"}},{"index":1,"function":{"name":"a","arguments":"{}"}}`),
		}, `call-1=a{"x":1} call-2=a{}`},
		"no ids and no indices": {[]string{
			call(`{"function":{"name":"a","arguments":"{\"x\":1}"}}`), call(`{"function":{"name":"a","arguments":"{\"x\":2}"}}`), call(`{"function":{"name":"b","arguments":""}}`),
		}, `call-1=a{"x":1} call-2=a{"x":2} call-3=b{}`},
		"the name in every piece": {[]string{
			call(`{"index":0,"id":"i","function":{"name":"a","arguments":"{\"x\""}}`), call(`{"index":0,"id":"i","function":{"name":"a","arguments":":1}"}}`),
		}, `i=a{"x":1}`},
		"the call repeated at the end": {[]string{
			call(`{"index":0,"id":"i","function":{"name":"a","arguments":"{\"x\":1}"}}`), call(`{"index":0,"id":"i","function":{"name":"a","arguments":"{\"x\":1}"}}`),
		}, `i=a{"x":1}`},
		"duplicate id": {[]string{
			call(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"}}`), call(`{"index":1,"id":"i","function":{"name":"b","arguments":"{}"}}`),
		}, `i=a{} call-2=b{}`},
		"an object instead of a string": {[]string{call(`{"id":"i","function":{"name":"a","arguments":{"x":[1, 2]}}}`)}, `i=a{"x":[1, 2]}`},
		"null arguments":                {[]string{call(`{"id":"i","function":{"name":"a","arguments":null}}`)}, `i=a{}`},
		"the older form":                {[]string{`{"function_call":{"name":"a","arguments":"{\"x\""}}`, `{"function_call":{"arguments":":1}"}}`}, `call-1=a{"x":1}`},
		"a null call":                   {[]string{call(`7,null,{"id":"i","function":{"name":"a"}}`)}, `i=a{}`},
	} {
		for _, finish := range []string{"tool_calls", "stop", "function_call"} {
			r := decode(t, stream(finish, c.deltas...))
			if got := calledAs(r); got != c.want || r.Status != chat.StepPaused || r.Reason != "tool_use" {
				t.Errorf("%s, %s: %s as %s (%s), want %s", name, finish, got, r.Status, r.Reason, c.want)
			}
			sentBack(t, r, true)
		}
		if r := decode(t, stream("length", c.deltas...)); r.Status != chat.StepIncomplete {
			t.Errorf("%s: calls cut by the output limit end as %s", name, r.Status)
		}
	}
}

// Gemini's signature of its reasoning comes with the call, and is sent back with it while the turn runs.
func TestASignatureIsSentBackWithItsCall(t *testing.T) {
	r := decode(t, stream("tool_calls", call(`{"index":0,"id":"i","type":"function","function":{"name":"a","arguments":"{}"},"extra_content":{"google":{"thought_signature":"Cg=="}}}`),
		call(`{"index":1,"id":"k","function":{"name":"b","arguments":"{}"},"extra_content":null}`)))
	signed := `{"extra_content":{"google":{"thought_signature":"Cg=="}},"function":{"arguments":"{}","name":"a"},"id":"i","type":"function"}`
	if body := sentBack(t, r, true); !strings.Contains(body, signed) || strings.Count(body, "extra_content") != 1 {
		t.Errorf("the call is sent back in %s", body)
	}
	if body := sentBack(t, r, false); strings.Contains(body, "extra_content") {
		t.Errorf("a later turn sends %s", body)
	}
}

// The model's reasoning is sent back in the form in which it arrived: as joined details, or as the text of the same
// member.
func TestReasoningIsSentBackUnchanged(t *testing.T) {
	detail := func(s string) string { return `{"reasoning":"x","reasoning_details":[` + s + `]}` }
	tool := call(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"}}`)
	for name, c := range map[string]struct {
		deltas []string
		want   string
	}{
		"details": {[]string{
			detail(`{"type":"reasoning.text","text":"Let ","format":"f","index":0}`), detail(`{"type":"reasoning.text","text":"me \ud83c","index":0,"signature":null}`),
			detail(`{"type":"reasoning.text","text":"\udf0d","index":0,"signature":"c2ln"}`), detail(`{"type":"reasoning.encrypted","data":"zz==","index":1}`),
			detail(`{"type":"reasoning.summary","summary":"S","index":2},{"type":"reasoning.summary","summary":"T","index":3},7`),
		}, `"reasoning_details":[{"format":"f","index":0,"signature":"c2ln","text":"Let me 🌍","type":"reasoning.text"},{"data":"zz==","index":1,"type":"reasoning.encrypted"},` +
			`{"index":2,"summary":"S","type":"reasoning.summary"},{"index":3,"summary":"T","type":"reasoning.summary"}]`},
		"only encrypted":    {[]string{`{"reasoning_details":[{"type":"reasoning.encrypted","data":"zz=="}]}`}, `"reasoning_details":[{"data":"zz==","type":"reasoning.encrypted"}]`},
		"reasoning_content": {[]string{`{"reasoning_content":"Let "}`, `{"reasoning_content":"me."}`}, `"reasoning_content":"Let me."`},
		"reasoning":         {[]string{`{"reasoning":"Let me."}`}, `"reasoning":"Let me."`},
	} {
		r := decode(t, stream("tool_calls", append(c.deltas, tool)...))
		for _, running := range []bool{true, false} {
			body := strings.ReplaceAll(sentBack(t, r, running), `"reasoning_content":""`, "")
			if !strings.Contains(body, c.want) || strings.Count(body, "reasoning") != strings.Count(c.want, "reasoning") {
				t.Errorf("%s: %s is not in %s", name, c.want, body)
			}
		}
	}
	parts := decode(t, stream("tool_calls", content(`[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]`), tool))
	if body := sentBack(t, parts, true); strings.Contains(body, "Hm.") {
		t.Errorf("thoughts without a member are sent back as %s", body)
	}
}

// Arguments that arrive in one event are shown and counted like those in pieces.
func TestWholeArgumentsAreShown(t *testing.T) {
	args := `{"x":"` + strings.Repeat("y", 1000) + `"}`
	for _, raw := range []string{args, string(mustQuote(args))} {
		p := llmtest.Play(t, New(nil), llm.ToolsEnabled, stream("tool_calls", call(`{"id":"i","function":{"name":"a","arguments":`+raw+`}}`)))
		shown := ""
		for _, d := range p.Deltas {
			if d.Kind == llm.DeltaTool {
				shown += d.Text
			}
		}
		meter := llm.Meter{MaxBytes: 999}
		if err := meter.Add(chat.RawEvent{}, p.Deltas, 1); shown != args || !llm.IsTooLong(err) {
			t.Errorf("%d bytes are shown, %v", len(shown), err)
		}
	}
}

func mustQuote(s string) []byte {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return raw
}

// A call keeps its server's id while its turn runs, because Kimi's models read it. In later turns, which may go to
// another server, ids have the form that Mistral accepts.
func TestIDsOfCalls(t *testing.T) {
	r := decode(t, stream("tool_calls", call(`{"index":0,"id":"functions.a:0","function":{"name":"a","arguments":"{}"}}`),
		call(`{"index":1,"id":"call_2","function":{"name":"a","arguments":"{}"}}`), call(`{"index":2,"id":"D681PevKs","function":{"name":"a","arguments":"{}"}}`)))
	for running, ids := range map[bool][]string{true: {"functions.a:0", "call_2", "D681PevKs"}, false: {"call00001", "call00002", "D681PevKs"}} {
		body := sentBack(t, r, running)
		for _, id := range ids {
			if strings.Count(body, `"id":"`+id+`"`) != 1 || strings.Count(body, `"tool_call_id":"`+id+`"`) != 1 {
				t.Errorf("running %v: %s is not the id of a call and its result in %s", running, id, body)
			}
		}
	}
}
