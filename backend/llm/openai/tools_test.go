package openai

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
)

// encode returns the body of a request with tools, which must follow the rules of the API.
func encode(t *testing.T, r llm.Request, c llmtest.Context) string {
	t.Helper()
	r.Endpoint.ModelID, r.Endpoint.ToolsMode = "gpt-5", llm.ToolsEnabled
	c.Tools = []chat.ToolDefinition{llmtest.Weather}
	r.Context = llmtest.Prepare(t, c)
	body, err := New(nil).Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := llmtest.RuleViolation(Name, body); err != nil {
		t.Errorf("%v\n%s", err, body)
	}
	return string(body)
}

func result(id, text string) chat.Message {
	return chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{chat.ToolResult{ToolUseID: id, Content: chat.Blocks{chat.Text{Text: text}}}}}
}

func called(id, name, input string) chat.ToolUse {
	return chat.ToolUse{ToolUseID: id, Name: name, Input: json.RawMessage(input)}
}

// Content that the provider stores is not sent again; the request names the stored answer, and this answer is stored too.
func TestARequestContinuesAnAnswer(t *testing.T) {
	c := llmtest.Context{System: []string{"S"}, Cycle: 2, Messages: []chat.Message{
		chat.UserText("Weather?"),
		{Role: chat.RoleAssistant, Blocks: chat.Blocks{
			chat.Reasoning{Provider: Name, EncryptedContent: "gAAA"}, called("call_1", "get_weather", `{}`), called("call_2", "sql", `"SELECT 1"`),
		}},
		{Role: chat.RoleUser, Blocks: chat.Blocks{result("call_1", "rain").Blocks[0], result("call_2", "1").Blocks[0]}},
	}}
	body := encode(t, llm.Request{Continues: &llm.Continuation{ResponseID: "resp_1", Messages: 2}}, c)
	want := `"input":[{"call_id":"call_1","output":"rain","type":"function_call_output"},{"call_id":"call_2","output":"1","type":"custom_tool_call_output"}],"instructions":"S",`
	for _, part := range []string{want, `"previous_response_id":"resp_1"`, `"store":true`, `"tools":[`} {
		if !strings.Contains(body, part) {
			t.Errorf("%s is not in %s", part, body)
		}
	}
	for name, c := range map[string]struct {
		held     int // messages that the provider has stored
		messages []chat.Message
	}{
		"a call that could not keep its id": {2, []chat.Message{
			chat.UserText("Weather?"), {Role: chat.RoleAssistant, Blocks: chat.Blocks{called("call.1", "get_weather", `{}`)}}, result("call.1", "rain"),
		}},
		"no new messages": {3, c.Messages},
	} {
		body := encode(t, llm.Request{Continues: &llm.Continuation{ResponseID: "resp_1", Messages: c.held}}, llmtest.Context{Messages: c.messages, Cycle: 2})
		if strings.Contains(body, "previous_response_id") || !strings.Contains(body, "Weather?") || !strings.Contains(body, `"store":false`) {
			t.Errorf("%s: the complete request is not sent: %s", name, body)
		}
	}
}

// Later steps continue later answers, and only what came after them is sent.
func TestEachStepContinuesThePreviousOne(t *testing.T) {
	messages := []chat.Message{chat.UserText("Weather?")}
	for _, id := range []string{"call_1", "call_2", "call_3"} {
		messages = append(messages, chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{called(id, "get_weather", `{}`)}}, result(id, "result of "+id))
	}
	body := encode(t, llm.Request{Continues: &llm.Continuation{ResponseID: "resp_3", Messages: 6}}, llmtest.Context{Messages: messages, Cycle: 6})
	if strings.Contains(body, "Weather?") || strings.Contains(body, "call_2") || !strings.Contains(body, "result of call_3") {
		t.Errorf("sent %s", body)
	}
}

// If the server stores answers, calls and the reasoning before them are sent back with the server's ids; otherwise
// without.
func TestIDsAreSentBackOnlyIfStored(t *testing.T) {
	p := llmtest.Play(t, New(nil), llm.ToolsEnabled, step(llmtest.ToolStep{ID: "resp_1", Thought: "Hm.", Calls: []llmtest.StepCall{{ID: "call_1", Name: "get_weather"}}}))
	c := llmtest.Context{Messages: []chat.Message{chat.UserText("Weather?"), {Role: chat.RoleAssistant, Blocks: p.Result.Blocks}, result("call_1", "rain")}, Cycle: 2}
	for _, store := range []bool{true, false} {
		body := encode(t, llm.Request{Endpoint: llm.Endpoint{Store: store}}, c)
		if !strings.Contains(body, `"include":["reasoning.encrypted_content"]`) || !strings.Contains(body, `"encrypted_content":"gAAA"`) {
			t.Errorf("store %v: reasoning cannot be sent back without its id: %s", store, body)
		}
		if strings.Contains(body, `"id":"fc_call_1"`) != store || strings.Contains(body, `"id":"rs_1"`) != store {
			t.Errorf("store %v: %s", store, body)
		}
	}
}

// Ids that gateways generate for each event would be rejected, so they are not sent.
func TestGeneratedIDsAreNotSentBack(t *testing.T) {
	call := called("call_1", "get_weather", `{}`)
	call.Provider, call.Extra = Name, json.RawMessage(`{"id":"Xi0028z==","namespace":"n"}`)
	body := encode(t, llm.Request{Endpoint: llm.Endpoint{Store: true}}, llmtest.Context{Cycle: 2, Messages: []chat.Message{
		chat.UserText("Weather?"), {Role: chat.RoleAssistant, Blocks: chat.Blocks{call}}, result("call_1", "rain"),
	}})
	if strings.Contains(body, `"id"`) || !strings.Contains(body, `"namespace":"n"`) {
		t.Errorf("sent %s", body)
	}
}

// A function call stays one, whatever its arguments look like, and never becomes a custom tool call.
func TestGarbledArgumentsStayAFunctionCall(t *testing.T) {
	body := encode(t, llm.Request{}, llmtest.Context{Cycle: 2, Messages: []chat.Message{
		chat.UserText("Weather?"), {Role: chat.RoleAssistant, Blocks: chat.Blocks{called("call_1", "get_weather", `"{\"city\":"`)}}, result("call_1", "no JSON"),
	}})
	if !bytes.Contains([]byte(body), []byte(`{"arguments":"{\"_raw\":\"{\\\"city\\\":\"}","call_id":"call_1","name":"get_weather","type":"function_call"}`)) {
		t.Errorf("sent %s", body)
	}
}
