package llmtest

import (
	"encoding/json"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// EncodeGolden encodes requests of every shape and compares each body with testdata/requests.
func EncodeGolden(t *testing.T, h Harness) {
	for name, r := range requests(t) {
		t.Run(name, func(t *testing.T) {
			ep := h.Endpoint("")
			r.Endpoint.Name, r.Endpoint.Provider, r.Endpoint.ModelID = ep.Name, ep.Provider, ep.ModelID
			r.Endpoint.Key = Key
			body, err := h.New(nil).Encode(r)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(body), "canary") {
				t.Error("the key is in the body")
			}
			Golden(t, "requests/"+name+".json", Indented(t, body))
		})
	}
}

func requests(t *testing.T) map[string]llm.Request {
	temperature := 0.25
	plain := Context{
		System: []string{"You are helpful.", "", "Pinned: the cat is called Mio."},
		Messages: []chat.Message{
			chat.UserText("First <question> & more"), chat.AssistantText("First answer"),
			chat.UserText("Second question"), chat.AssistantText("Second answer"),
			chat.UserText("Now?"),
		},
		Stable: 4,
	}
	blocks := Context{System: []string{"S"}, Messages: history(), Stable: 2}
	tools := Context{System: []string{"S"}, Messages: toolHistory(), Stable: 2}
	return map[string]llm.Request{
		"plain": {Context: Prepare(t, plain), Endpoint: llm.Endpoint{Stream: true}},
		"settings": {Context: Prepare(t, plain), Endpoint: llm.Endpoint{
			MaxOutput: 300, Truncation: "auto", Store: true, ParallelToolCalls: true, CacheKey: "branch-1",
			Temperature: &temperature, Effort: "high",
			Options: map[string]any{
				"tools":           []any{map[string]any{"type": "web_search", "name": "web_search"}},
				"reasoning":       map[string]any{"summary": "auto"},
				"temperature":     nil,
				"max_tokens":      int64(77),
				"service_tier":    "flex",
				"stream_options":  map[string]any{"include_obfuscation": false},
				"thinking":        map[string]any{"type": "adaptive"},
				"response_format": map[string]any{"type": "json_object"},
			},
		}},
		"blocks":       {Context: Prepare(t, blocks), Endpoint: llm.Endpoint{Stream: true}},
		"blocks-store": {Context: Prepare(t, blocks), Endpoint: llm.Endpoint{Stream: true, Store: true, Effort: "low"}},
		"tools":        {Context: Prepare(t, tools), Endpoint: llm.Endpoint{Stream: true, Temperature: &temperature}},
		"tools-imported": {Context: Prepare(t, Context{System: []string{"S"}, Messages: importedTools()}), Endpoint: llm.Endpoint{
			Options: map[string]any{"tools": []any{map[string]any{"name": "defined", "function": map[string]any{"name": "defined"}}}},
		}},
		"completion-tokens": {Context: Prepare(t, Context{Messages: []chat.Message{chat.UserText("No system")}}),
			Endpoint: llm.Endpoint{Options: map[string]any{"max_completion_tokens": 55}}},
	}
}

// history returns messages with every kind of block, including opaque ones of this and other providers.
func history() []chat.Message {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	return []chat.Message{
		{Role: chat.RoleUser, Blocks: chat.Blocks{
			chat.Text{Text: "Look:"},
			chat.Image{MediaType: "image/png", Source: raw(`{"data":"iVBORw0KGgo="}`)},
			chat.Image{MediaType: "image/jpeg", Source: raw(`{"url":"https://example.org/a.jpg"}`)},
			chat.Text{Text: "  "},
		}},
		{Role: chat.RoleAssistant, Blocks: chat.Blocks{
			chat.Reasoning{Provider: "openai", EncryptedContent: "gAAA", Summary: "Hm", Raw: raw(`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}],"encrypted_content":"gAAA"}`)},
			chat.Reasoning{Provider: "openai", Raw: raw(`{"id":"rs_2","type":"reasoning","summary":[]}`)},
			chat.Reasoning{Provider: "anthropic", Summary: "Hm", Raw: raw(`{"type":"thinking","thinking":"Hm","signature":"c2ln"}`)},
			chat.Reasoning{Provider: "anthropic", Summary: "torn"},
			chat.Unknown{Provider: "openai", Raw: []byte(`{"type":"compaction","id":"cmp_1","encrypted_content":"zzz"}`)},
			chat.Unknown{Provider: "openai", Raw: []byte(`{"type":"web_search_call","id":"ws_1","status":"in_progress"}`)},
			chat.Unknown{Provider: "anthropic", Raw: []byte(`{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}`)},
			chat.Unknown{Provider: "anthropic", Raw: []byte(`{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[]}`)},
			chat.Unknown{Provider: "anthropic", Raw: []byte(`{"type":"server_tool_use","id":"srv_2","name":"half","input":{}}`)},
			chat.Unknown{Provider: "chatcompletions", Raw: []byte(`{"type":"telepathy"}`)},
			chat.Unknown{Provider: "contextinfinity", Raw: []byte(`{"type":"newer"}`)},
			chat.Text{Text: "Commentary.", Phase: "commentary"},
			chat.Text{Text: "A cat.", Phase: "final_answer"},
			chat.Text{Text: "Really.", Phase: "final_answer"},
		}},
		chat.UserText("Do evil"),
		{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.Refusal{Text: "No."}}},
		chat.UserText("Fine"),
		{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.Reasoning{Provider: "elsewhere", Raw: raw(`{}`)}}},
		chat.UserText("Still there?"),
	}
}

// toolHistory returns messages with answered calls, out of order, and with calls or results that lack the other half.
func toolHistory() []chat.Message {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	text := func(s string) chat.Blocks { return chat.Blocks{chat.Text{Text: s}} }
	return []chat.Message{
		chat.UserText("Weather?"),
		{Role: chat.RoleAssistant, Blocks: chat.Blocks{
			chat.Text{Text: "Checking."},
			chat.ToolUse{ToolUseID: "call_1", Name: "weather", Input: raw(`{"city":"Berlin"}`)},
			chat.ToolUse{ToolUseID: "call_2", Name: "sql", Input: raw(`"SELECT 1"`)},
			chat.ToolResult{ToolUseID: "call_2", Content: text("1"), IsError: true},
			chat.ToolResult{ToolUseID: "call_1", Content: append(text("Rain"), chat.Image{MediaType: "image/png", Source: raw(`{"data":"iVBORw0KGgo="}`)})},
			chat.Text{Text: "It rains."},
		}},
		chat.UserText("And now?"),
		{Role: chat.RoleAssistant, Blocks: chat.Blocks{
			chat.ToolUse{ToolUseID: "call_3", Name: "never_run", Input: raw(`{}`)},
		}},
		{Role: chat.RoleUser, Blocks: chat.Blocks{
			chat.Text{Text: "Go on."},
			chat.ToolResult{ToolUseID: "call_9", Content: text("nobody asked")},
		}},
	}
}

// importedTools returns messages with calls of other programs: with invalid or duplicate names and ids, and results
// without a call.
func importedTools() []chat.Message {
	text := func(s string) chat.Blocks { return chat.Blocks{chat.Text{Text: s}} }
	call := func(id, name string) chat.Block {
		return chat.ToolUse{ToolUseID: id, Name: name, Input: json.RawMessage(`{}`)}
	}
	answer := func(id, content string) chat.Block { return chat.ToolResult{ToolUseID: id, Content: text(content)} }
	return []chat.Message{
		chat.UserText("Write it."),
		{Role: chat.RoleAssistant, Blocks: chat.Blocks{
			call("1", "canmore.create_textdoc"), answer("1", "made"),
			call("1", "<b>web search</b>"), answer("1", "found"),
			call("functions.list:0", "canmore--x2Ecreate_textdoc"), answer("functions.list:0", "listed"),
			call("long", strings.Repeat("tool.", 30)), answer("long", "done"),
			answer("gone", "the call was left out"),
		}},
		chat.UserText("Thanks."),
		{Role: chat.RoleAssistant, Blocks: chat.Blocks{answer("", "first"), answer("", "second"), chat.Text{Text: "Done."}}},
		chat.UserText("And now?"),
	}
}
