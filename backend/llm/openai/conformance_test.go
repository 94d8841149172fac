package openai

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	created = `{"type":"response.created","response":{"id":"resp_1","model":"m-1","status":"in_progress","output":[]}}`
	usageIn = `"usage":{"input_tokens":12,"input_tokens_details":{"cached_tokens":4},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0}}`
)

func completed(output string) string {
	return `{"type":"response.completed","response":{"id":"resp_1","model":"m-1","status":"completed","output":[` + output + `],` + usageIn + `}}`
}

func textItem(index int, text string) string {
	return fmt.Sprintf(`{"type":"message","id":"msg_%d","role":"assistant","status":"completed","content":[{"type":"output_text","text":%q,"annotations":[]}]}`, index, text)
}

func added(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, index, item)
}

func done(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, index, item)
}

func delta(index int, json string) string {
	return fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"content_index":0,"delta":%s}`, index, json)
}

const emptyMessage = `{"type":"message","id":"msg_0","role":"assistant","status":"in_progress","content":[]}`

func textEvents(deltas ...string) []chat.RawEvent {
	events := []string{created, added(0, emptyMessage)}
	for _, d := range deltas {
		events = append(events, delta(0, d))
	}
	return llmtest.Events(append(events, completed(""))...)
}

// step returns an answer within a turn that calls tools.
func step(s llmtest.ToolStep) []chat.RawEvent {
	events := []string{strings.Replace(created, "resp_1", s.ID, 1)}
	n := 0
	if s.Thought != "" {
		events = append(events, added(n, `{"type":"reasoning","id":"rs_1","summary":[]}`),
			done(n, fmt.Sprintf(`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":%q}],"encrypted_content":"gAAA"}`, s.Thought)))
		n++
	}
	if s.Text != "" {
		events = append(events, added(n, textItem(n, "")), delta(n, fmt.Sprintf("%q", s.Text)), done(n, textItem(n, s.Text)))
		n++
	}
	for _, call := range s.Calls {
		item := func(args string) string {
			return fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":%q,"name":%q,"arguments":%q,"status":"completed"}`, call.ID, call.ID, call.Name, args)
		}
		events = append(events, added(n, item("")))
		for _, piece := range call.Pieces {
			events = append(events, fmt.Sprintf(`{"type":"response.function_call_arguments.delta","output_index":%d,"delta":%q}`, n, piece))
		}
		events = append(events, done(n, item(strings.Join(call.Pieces, ""))))
		n++
	}
	return llmtest.Events(append(events, strings.Replace(completed(""), "resp_1", s.ID, 1))...)
}

var harness = llmtest.Harness{
	New: func(c *http.Client) llm.Provider { return New(c) },
	Endpoint: func(base string) llm.Endpoint {
		return llm.Endpoint{Name: "gpt", Provider: Name, ModelID: "m-1", BaseURL: base}
	},
	Path:   "/v1/responses",
	Header: map[string]string{"Authorization": "Bearer " + llmtest.Key},
	Wire: llmtest.Wire{
		Text:           textEvents(`"Hello, "`, `"w\u00f6rld"`, `" 🌍"`),
		TerminalEvents: 1,
		EmptyDelta:     textEvents(`""`, `"Late."`),
		Surrogates:     textEvents(`"\ud83c"`, `"\udf0d"`),
		TwoItems: llmtest.Events(created,
			added(0, emptyMessage), delta(0, `"First."`), done(0, textItem(0, "First.")),
			added(1, textItem(1, "")), delta(1, `"Sec"`), delta(1, `"ond."`), completed(textItem(0, "First.")+","+textItem(1, "Second."))),
		Reasoning: llmtest.Events(created,
			added(0, `{"type":"reasoning","id":"rs_1","summary":[]}`),
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"Let me "}`,
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"think."}`,
			done(0, `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Let me think."}],"encrypted_content":"gAAA"}`),
			added(1, textItem(1, "")), delta(1, `"Done."`), completed("")),
		Refusal: llmtest.Events(created, added(0, emptyMessage),
			`{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"I cannot "}`,
			`{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"help with that."}`,
			`{"type":"response.refusal.done","output_index":0,"content_index":0,"refusal":"I cannot help with that."}`,
			completed("")),
		ToolCall: llmtest.Events(created, added(0, emptyMessage), delta(0, `"Checking."`),
			added(1, `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_weather","arguments":""}`),
			`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"city\":"}`,
			`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"\"Berlin\"}"}`,
			`{"type":"response.function_call_arguments.done","output_index":1,"arguments":"{\"city\":\"Berlin\"}"}`,
			completed("")),
		Unknown: llmtest.Events(created,
			`{"type":"response.telepathy.delta","output_index":0,"delta":"?"}`,
			added(0, `{"type":"telepathy","id":"tp_1","thought":"never_seen"}`),
			added(1, textItem(1, "")), delta(1, `"Known."`), completed("")),
		ErrorEvent: llmtest.Events(created, added(0, emptyMessage), delta(0, `"Partial"`),
			`{"type":"error","error":{"type":"server_error","code":"server_is_overloaded","message":"We are overloaded."}}`),
		DuplicateStart: llmtest.Events(created, created, added(0, emptyMessage), added(0, emptyMessage), delta(0, `"Once."`), completed("")),
		Truncated: llmtest.Events(created, added(0, emptyMessage), delta(0, `"Cut"`),
			`{"type":"response.incomplete","response":{"id":"resp_1","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}}`),
		Unstreamed: `{"id":"resp_1","object":"response","model":"m-1","status":"completed","output":[` + textItem(0, "Hello, whole") + `],` + usageIn + `}`,
		Step:       step,
		ErrorBody: func(code, message string) string {
			return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":%q}}`, message, code)
		},
		TooLarge: [2]string{"context_length_exceeded", "Your input exceeds the context window of this model."},
	},
}

func TestConformance(t *testing.T) { llmtest.Conformance(t, harness) }

func TestEncode(t *testing.T) { llmtest.EncodeGolden(t, harness) }

func TestStreams(t *testing.T) { llmtest.TestStreams(t, harness) }

func TestRecordings(t *testing.T) { llmtest.TestRecordings(t, harness) }

func FuzzStream(f *testing.F) { llmtest.FuzzStream(f, harness) }

func FuzzDecoder(f *testing.F) { llmtest.FuzzDecoder(f, harness) }

func BenchmarkDecode(b *testing.B) {
	llmtest.BenchmarkDecode(b, harness, llmtest.Event(`{"type":"response.output_text.delta","output_index":0,"content_index":0,"item_id":"msg_0","sequence_number":7,"delta":" word","logprobs":[],"obfuscation":"abc"}`))
}

// An answer with very many parts without visible text does not exhaust memory, in one event or in many.
func TestTooManyParts(t *testing.T) {
	const many = llm.MaxParts + 1000
	list := func(item string) string { return strings.Repeat(item+`,`, many) + item }
	response := func(output string) chat.RawEvent {
		return chat.RawEvent{Type: llm.EventResponse, Data: []byte(`{"id":"x","object":"response","status":"completed","output":[` + output + `]}`)}
	}
	for name, item := range map[string]string{
		"reasoning": `{"type":"reasoning","summary":[]}`, "unknown": `{"type":"new"}`, "message": `{"type":"message","content":[{"type":"output_text","text":"a"}]}`,
		"calls": `{"type":"function_call","call_id":"a","name":"b","arguments":"{}"}`, "results": `{"type":"mcp_call_output","call_id":"a"}`,
	} {
		t.Run(name, func(t *testing.T) {
			llmtest.TooManyParts(t, New(nil), response(list(item)))
			var events []chat.RawEvent
			for n := many; n > 0; n-- { // in reverse order
				events = append(events, llmtest.Event(fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, n, item)))
			}
			llmtest.TooManyParts(t, New(nil), events...)
		})
	}
	llmtest.TooManyParts(t, New(nil), response(`{"type":"message","content":[`+list(`{"type":"output_text","text":"a"}`)+`]}`))
	llmtest.TooManyParts(t, New(nil), response(`{"type":"message","content":[{"type":"output_text","text":"a","annotations":[`+list(`{}`)+`]}]}`))
	annotation := llmtest.Event(`{"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"annotation":{"type":"url_citation"}}`)
	llmtest.TooManyParts(t, New(nil), append([]chat.RawEvent{llmtest.Event(`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a"}`)}, slices.Repeat([]chat.RawEvent{annotation}, many)...)...)
}
