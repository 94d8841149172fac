package chatcompletions

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

func piece(delta string) string {
	return `{"id":"resp_1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

func finished(reason string) string {
	return `{"id":"resp_1","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const (
	role   = `{"role":"assistant","content":""}`
	counts = `{"id":"resp_1","model":"m-1","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17,"prompt_tokens_details":{"cached_tokens":4}}}`
)

func content(json string) string { return `{"content":` + json + `}` }

func stream(reason string, deltas ...string) []chat.RawEvent {
	all := []string{piece(role)}
	for _, d := range deltas {
		all = append(all, piece(d))
	}
	return llmtest.Events(append(all, finished(reason), counts, "[DONE]")...)
}

// step returns an answer within a turn that calls tools.
func step(s llmtest.ToolStep) []chat.RawEvent {
	var deltas []string
	if s.Thought != "" {
		deltas = append(deltas, fmt.Sprintf(`{"reasoning_content":%q}`, s.Thought))
	}
	if s.Text != "" {
		deltas = append(deltas, content(fmt.Sprintf("%q", s.Text)))
	}
	for i, call := range s.Calls {
		deltas = append(deltas, fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]}`, i, call.ID, call.Name))
		for _, piece := range call.Pieces {
			deltas = append(deltas, fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%q}}]}`, i, piece))
		}
	}
	reason := "stop"
	if len(s.Calls) > 0 {
		reason = "tool_calls"
	}
	return stream(reason, deltas...)
}

var harness = llmtest.Harness{
	New: func(c *http.Client) llm.Provider { return New(c) },
	Endpoint: func(base string) llm.Endpoint {
		return llm.Endpoint{Name: "local", Provider: Name, ModelID: "m-1", BaseURL: base}
	},
	Path:   "/v1/chat/completions",
	Header: map[string]string{"Authorization": "Bearer " + llmtest.Key},
	Wire: llmtest.Wire{
		Why:            "Chat Completions has one message and one text",
		Text:           stream("stop", content(`"Hello, "`), content(`"w\u00f6rld"`), content(`" 🌍"`)),
		TerminalEvents: 3,
		EmptyDelta:     stream("stop", content(`""`), content(`"Late."`)),
		Surrogates:     stream("stop", content(`"\ud83c"`), content(`"\udf0d"`)),
		Reasoning:      stream("stop", `{"reasoning_content":"Let me "}`, `{"reasoning_content":"think."}`, content(`"Done."`)),
		Refusal:        stream("stop", `{"refusal":"I cannot "}`, `{"refusal":"help with that."}`),
		ToolCall: stream("tool_calls", content(`"Checking."`),
			`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"\"Berlin\"}"}}]}`),
		Unknown: append(llmtest.Events(`{"type":"telepathy","object":"never.seen"}`),
			stream("stop", content(`[{"type":"telepathy","thought":"never_seen"},{"type":"text","text":"Known."}]`))...),
		ErrorEvent: llmtest.Events(piece(role), piece(content(`"Partial"`)),
			`{"error":{"message":"The server is overloaded","type":"server_error","code":503}}`),
		DuplicateStart: append(llmtest.Events(piece(role)), stream("stop", content(`"Once."`))...),
		Truncated:      stream("length", content(`"Cut"`)),
		Unstreamed:     `{"id":"resp_1","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello, whole"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":5}}`,
		Step:           step,
		ErrorBody: func(code, message string) string {
			return fmt.Sprintf(`{"error":{"message":%q,"type":"error","code":%q}}`, message, code)
		},
		TooLarge: [2]string{"exceed_context_size_error", "the request exceeds the available context size, try increasing it"},
	},
}

func TestConformance(t *testing.T) { llmtest.Conformance(t, harness) }

func TestEncode(t *testing.T) { llmtest.EncodeGolden(t, harness) }

func TestStreams(t *testing.T) { llmtest.TestStreams(t, harness) }

func FuzzStream(f *testing.F) { llmtest.FuzzStream(f, harness) }

func FuzzDecoder(f *testing.F) { llmtest.FuzzDecoder(f, harness) }

func BenchmarkDecode(b *testing.B) {
	llmtest.BenchmarkDecode(b, harness, llmtest.Event(piece(content(`"w\u00f6rld"`))))
}

// An answer with very many parts without visible text does not exhaust memory, in one event or in many.
func TestTooManyParts(t *testing.T) {
	const many = llm.MaxParts + 1000
	list := func(item string) string { return strings.Repeat(item+`,`, many) + item }
	response := func(message string) chat.RawEvent {
		return chat.RawEvent{Type: llm.EventResponse, Data: []byte(`{"choices":[{"index":0,"finish_reason":"stop","message":` + message + `}]}`)}
	}
	for name, message := range map[string]func(list func(string) string) string{
		"content": func(list func(string) string) string { return `{"content":[` + list(`{"type":"new"}`) + `]}` },
		"calls": func(list func(string) string) string {
			return `{"tool_calls":[` + list(`{"id":"","function":{"name":"b","arguments":"{}"}}`) + `]}`
		},
		"details": func(list func(string) string) string {
			return `{"reasoning_details":[` + list(`{"type":"reasoning.encrypted","data":"a"}`) + `]}`
		},
		"annotations": func(list func(string) string) string { return `{"content":"a","annotations":[` + list(`{}`) + `]}` },
	} {
		t.Run(name, func(t *testing.T) {
			llmtest.TooManyParts(t, New(nil), response(message(list)))
			if name == "annotations" { // those of the last event replace earlier ones
				return
			}
			event := llmtest.Event(`{"choices":[{"index":0,"delta":` + message(func(item string) string { return item }) + `}]}`)
			llmtest.TooManyParts(t, New(nil), slices.Repeat([]chat.RawEvent{event}, many)...)
		})
	}
}
