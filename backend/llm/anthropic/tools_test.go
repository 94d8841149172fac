package anthropic

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
)

// encode returns the body of a request with tools, which must follow the rules of the API.
func encode(t *testing.T, c llmtest.Context, options map[string]any) []byte {
	t.Helper()
	body, err := New(nil).Encode(llm.Request{
		Endpoint: llm.Endpoint{ModelID: "m-1", Stream: true, ToolsMode: llm.ToolsEnabled, Options: options},
		Context:  llmtest.Prepare(t, c),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := llmtest.RuleViolation(Name, body); err != nil {
		t.Errorf("%v\n%s", err, body)
	}
	return body
}

// An answer that the API paused is sent back unchanged, including half of a hosted tool's pair, as the end of the
// request.
func TestAPausedAnswerIsSentBackUnchanged(t *testing.T) {
	hosted := `{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"query":"rain"}}`
	p := llmtest.Play(t, New(nil), llm.ToolsEnabled, recorded("pause_turn", textAt(0, `"I look."`), []string{startBlock(1, hosted), stopBlock(1)}))
	if p.Result.Status != chat.StepPaused || p.Result.Reason != "pause_turn" {
		t.Fatalf("%+v", p.Result)
	}
	body := encode(t, llmtest.Context{
		Messages: []chat.Message{chat.UserText("Weather?"), {Role: chat.RoleAssistant, Blocks: p.Result.Blocks}}, Cycle: 1,
	}, nil)
	var sent struct {
		Messages []struct {
			Role    string
			Content []json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &sent); err != nil || len(sent.Messages) != 2 || sent.Messages[1].Role != "assistant" || len(sent.Messages[1].Content) != 2 {
		t.Fatalf("%v: %s", err, body)
	}
	var got, want any
	if json.Unmarshal(sent.Messages[1].Content[1], &got) != nil || json.Unmarshal([]byte(hosted), &want) != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the hosted call is sent back as %s", sent.Messages[1].Content[1])
	}
}

// Reasoning and the API's data about a call are sent back byte for byte while the turn runs; in later turns the data
// about a call is left out.
func TestReasoningAndCallersAreSentBackVerbatim(t *testing.T) {
	call := `{"type":"tool_use","id":"call_1","name":"get_weather","input":{"a":1.50},"caller":{"type":"code_execution_20250825","tool_id":"srv_1"}}`
	p := llmtest.Play(t, New(nil), llm.ToolsEnabled, recorded("tool_use", []string{
		startBlock(0, `{"type":"thinking","thinking":"","signature":""}`), blockDelta(0, "thinking_delta", "thinking", `"Hm <&> \u00fc."`),
		blockDelta(0, "signature_delta", "signature", `"c2l+/w=="`), stopBlock(0),
		startBlock(1, `{"type":"redacted_thinking","data":"zz=="}`), stopBlock(1), startBlock(2, call), stopBlock(2),
	}))
	answered := []chat.Message{
		{Role: chat.RoleAssistant, Blocks: p.Result.Blocks},
		{Role: chat.RoleUser, Blocks: chat.Blocks{chat.ToolResult{ToolUseID: "call_1", Content: chat.Blocks{chat.Text{Text: "rain"}}}}},
	}
	running := encode(t, llmtest.Context{Messages: append([]chat.Message{chat.UserText("Weather?")}, answered...), Cycle: 2}, nil)
	for _, part := range []string{
		`{"signature":"c2l+/w==","thinking":"Hm <&> ü.","type":"thinking"}`, `{"type":"redacted_thinking","data":"zz=="}`,
		`"caller":{"type":"code_execution_20250825","tool_id":"srv_1"}`, `"input":{"a":1.50}`,
	} {
		if !bytes.Contains(running, []byte(part)) {
			t.Errorf("%s is not in %s", part, running)
		}
	}
	later := append(append([]chat.Message{chat.UserText("Weather?")}, answered...), chat.AssistantText("Rain."), chat.UserText("Thanks."))
	if body := encode(t, llmtest.Context{Messages: later}, nil); bytes.Contains(body, []byte("caller")) || !bytes.Contains(body, []byte("signature")) {
		t.Errorf("the earlier turn is sent as %s", body)
	}
}

// The API accepts four breakpoints. Those in the options come first, then those after the longest parts.
func TestAtMostFourBreakpoints(t *testing.T) {
	messages := []chat.Message{
		chat.UserText("One"), chat.AssistantText("1"), chat.UserText("Weather?"),
		{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.ToolUse{ToolUseID: "a", Name: "get_weather", Input: json.RawMessage(`{}`)}}},
		{Role: chat.RoleUser, Blocks: chat.Blocks{chat.ToolResult{ToolUseID: "a", Content: chat.Blocks{chat.Text{Text: "rain"}}}}},
	}
	c := llmtest.Context{System: []string{"S"}, Messages: messages, Stable: 2, Cycle: 2, Tools: []chat.ToolDefinition{llmtest.Weather}}
	marked := map[string]any{"type": "custom", "name": "mine", "cache_control": map[string]any{"type": "ephemeral"}, "input_schema": map[string]any{"type": "object", "properties": map[string]any{}}}
	for _, options := range []map[string]any{
		nil,
		{"cache_control": map[string]any{"type": "ephemeral"}},
		{"cache_control": map[string]any{"type": "ephemeral"}, "tools": []any{marked}},
	} {
		body := encode(t, c, options)
		if n := strings.Count(string(body), "cache_control"); n != 4 {
			t.Errorf("%d breakpoints with %v: %s", n, options, body)
		}
	}
}

// A property whose name the API rejects is offered under another name and has its own name in what is stored and run;
// the call is sent back as the model wrote it.
func TestPropertiesWithNamesThatAreRefused(t *testing.T) {
	long := strings.Repeat("l", 70)
	tool := chat.ToolDefinition{Name: "list_apps", Schema: json.RawMessage(`{"type":"object","properties":{"filter[id]":{"type":"string"},"a.b-c_d":{},"` + long + `":{}},"required":["filter[id]","` + long + `"]}`)}
	p := llmtest.Play(t, New(nil), llm.ToolsEnabled, recorded("tool_use", []string{
		startBlock(0, `{"type":"tool_use","id":"call_1","name":"list_apps","input":{}}`),
		blockDelta(0, "input_json_delta", "partial_json", `"{\"filter--x5Bid--x5D\":\"7\",\"a.b-c_d\": 1.50}"`), stopBlock(0),
		startBlock(1, `{"type":"tool_use","id":"call_2","name":"list_apps","input":{"a.b-c_d": 1.50}}`), stopBlock(1),
	}))
	var kept []string
	results := chat.Message{Role: chat.RoleUser}
	for _, b := range p.Result.Blocks {
		if use, ok := b.(chat.ToolUse); ok {
			kept = append(kept, string(use.Input))
			results.Blocks = append(results.Blocks, chat.ToolResult{ToolUseID: use.ToolUseID, Content: chat.Blocks{chat.Text{Text: "x"}}})
		}
	}
	if want := []string{`{"a.b-c_d":1.50,"filter[id]":"7"}`, `{"a.b-c_d": 1.50}`}; !reflect.DeepEqual(kept, want) {
		t.Errorf("the calls are kept as %q, not %q", kept, want)
	}
	body := encode(t, llmtest.Context{
		Messages: []chat.Message{chat.UserText("Which?"), {Role: chat.RoleAssistant, Blocks: p.Result.Blocks}, results}, Cycle: 2,
		Tools: []chat.ToolDefinition{tool},
	}, nil)
	for _, part := range []string{
		`"input":{"a.b-c_d":1.50,"filter--x5Bid--x5D":"7"}`,
		`"input_schema":{"properties":{"a.b-c_d":{},"filter--x5Bid--x5D":{"type":"string"}},"required":["filter--x5Bid--x5D"],"type":"object"}`,
	} {
		if !bytes.Contains(body, []byte(part)) {
			t.Errorf("%s is not in %s", part, body)
		}
	}
}
