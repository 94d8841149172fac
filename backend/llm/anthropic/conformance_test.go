package anthropic

import (
	"cmp"
	"fmt"
	"net/http"
	"runtime"
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
	started = `{"type":"message_start","message":{"id":"resp_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":8,"cache_read_input_tokens":4,"output_tokens":1}}}`
	stop    = `{"type":"message_stop"}`
)

func startBlock(index int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block)
}

func blockDelta(index int, kind, member, json string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%s}}`, index, kind, member, json)
}

func stopBlock(index int) string {
	return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index)
}

func messageDelta(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":{"output_tokens":5}}`
}

// textAt returns a complete text block.
func textAt(index int, pieces ...string) []string {
	out := []string{startBlock(index, `{"type":"text","text":""}`)}
	for _, p := range pieces {
		out = append(out, blockDelta(index, "text_delta", "text", p))
	}
	return append(out, stopBlock(index))
}

// recorded returns a complete recording.
func recorded(reason string, parts ...[]string) []chat.RawEvent {
	all := []string{started, `{"type":"ping"}`}
	for _, p := range parts {
		all = append(all, p...)
	}
	return llmtest.Events(append(all, messageDelta(reason), stop)...)
}

// step returns an answer within a turn that calls tools.
func step(s llmtest.ToolStep) []chat.RawEvent {
	events := []string{strings.Replace(started, "resp_1", s.ID, 1)}
	n := 0
	block := func(start string, deltas ...string) {
		events = append(events, startBlock(n, start))
		events = append(append(events, deltas...), stopBlock(n))
		n++
	}
	if s.Thought != "" {
		block(`{"type":"thinking","thinking":"","signature":""}`, blockDelta(n, "thinking_delta", "thinking", fmt.Sprintf("%q", s.Thought)),
			blockDelta(n, "signature_delta", "signature", `"c2ln"`))
	}
	if s.Text != "" {
		block(`{"type":"text","text":""}`, blockDelta(n, "text_delta", "text", fmt.Sprintf("%q", s.Text)))
	}
	for _, call := range s.Calls {
		var deltas []string
		for _, piece := range call.Pieces {
			deltas = append(deltas, blockDelta(n, "input_json_delta", "partial_json", fmt.Sprintf("%q", piece)))
		}
		block(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, call.ID, call.Name), deltas...)
	}
	reason := "end_turn"
	if len(s.Calls) > 0 {
		reason = "tool_use"
	}
	return llmtest.Events(append(events, messageDelta(reason), stop)...)
}

var harness = llmtest.Harness{
	New: func(c *http.Client) llm.Provider { return New(c) },
	Endpoint: func(base string) llm.Endpoint {
		return llm.Endpoint{Name: "sonnet", Provider: Name, ModelID: "m-1", BaseURL: base}
	},
	Path:   "/v1/messages",
	Header: map[string]string{"X-Api-Key": llmtest.Key, "Anthropic-Version": "2023-06-01"},
	Wire: llmtest.Wire{
		Text:           recorded("end_turn", textAt(0, `"Hello, "`, `"w\u00f6rld"`, `" 🌍"`)),
		TerminalEvents: 1,
		EmptyDelta:     recorded("end_turn", textAt(0, `""`, `"Late."`)),
		Surrogates:     recorded("end_turn", textAt(0, `"\ud83c"`, `"\udf0d"`)),
		TwoItems: recorded("end_turn", textAt(0, `"First."`),
			[]string{startBlock(1, `{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}`), stopBlock(1)},
			textAt(2, `"Sec"`, `"ond."`)),
		Reasoning: recorded("end_turn", []string{
			startBlock(0, `{"type":"thinking","thinking":"","signature":""}`),
			blockDelta(0, "thinking_delta", "thinking", `"Let me "`),
			blockDelta(0, "thinking_delta", "thinking", `"think."`),
			blockDelta(0, "signature_delta", "signature", `"c2ln"`), stopBlock(0),
		}, textAt(1, `"Done."`)),
		Refusal: llmtest.Events(started,
			`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"I cannot help with that."}},"usage":{"output_tokens":5}}`, stop),
		ToolCall: recorded("tool_use", textAt(0, `"Checking."`), []string{
			startBlock(1, `{"type":"tool_use","id":"call_1","name":"get_weather","input":{}}`),
			blockDelta(1, "input_json_delta", "partial_json", `""`),
			blockDelta(1, "input_json_delta", "partial_json", `"{\"city\":"`),
			blockDelta(1, "input_json_delta", "partial_json", `"\"Berlin\"}"`), stopBlock(1),
		}),
		Unknown: recorded("end_turn",
			[]string{
				`{"type":"telepathy_start","index":0}`,
				startBlock(0, `{"type":"telepathy","thought":"never_seen"}`),
				blockDelta(0, "telepathy_delta", "thought", `"!"`), stopBlock(0),
			}, textAt(1, `"Known."`)),
		ErrorEvent: llmtest.Events(started, startBlock(0, `{"type":"text","text":""}`),
			blockDelta(0, "text_delta", "text", `"Partial"`),
			`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`),
		DuplicateStart: llmtest.Events(append(append([]string{started, started}, textAt(0, `"Once."`)...), messageDelta("end_turn"), stop)...),
		Truncated:      recorded("max_tokens", textAt(0, `"Cut"`)),
		Unstreamed:     `{"id":"resp_1","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"Hello, whole"}],"stop_reason":"end_turn","usage":{"input_tokens":8,"output_tokens":5}}`,
		Step:           step,
		ErrorBody: func(code, message string) string {
			code = cmp.Or(code, "invalid_request_error")
			return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, code, message)
		},
		TooLarge: [2]string{"invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"},
	},
}

func TestConformance(t *testing.T) { llmtest.Conformance(t, harness) }

func TestEncode(t *testing.T) { llmtest.EncodeGolden(t, harness) }

func TestStreams(t *testing.T) { llmtest.TestStreams(t, harness) }

func TestRecordings(t *testing.T) { llmtest.TestRecordings(t, harness) }

func FuzzStream(f *testing.F) { llmtest.FuzzStream(f, harness) }

func FuzzDecoder(f *testing.F) { llmtest.FuzzDecoder(f, harness) }

func BenchmarkDecode(b *testing.B) {
	llmtest.BenchmarkDecode(b, harness, llmtest.Event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" word"}}`))
}

// A block of unknown type is extended by its deltas without being copied each time; otherwise a provider that never
// ends one would keep a CPU busy for hours.
func TestUnknownBlocksGrow(t *testing.T) {
	decode := func(deltas ...string) llm.Result {
		d := New(nil).NewDecoder(llm.ToolsEnabled)
		d.Decode(llmtest.Event(`{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":"Be","kept":[1],"was":"x"}}`))
		for _, delta := range deltas {
			d.Decode(llmtest.Event(`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta",` + delta + `}}`))
		}
		d.Decode(llmtest.Event(`{"type":"content_block_stop","index":0}`))
		return d.Result()
	}
	got := decode(`"content":"gin \ud83d"`, `"content":"\ude00."`, `"content":""`, `"new":"a","was":null`, `"new":"b","was":"y"`, `"kept":[2]`)
	want := `{"content":"Begin 😀.","kept":[2],"new":"ab","type":"compaction","was":"y"}`
	if raw := got.Blocks[0].(chat.Unknown).Raw; string(raw) != want {
		t.Errorf("it became %s, want %s", raw, want)
	}

	const n = 20_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got = decode(slices.Repeat([]string{`"content":"ten bytes."`}, n)...)
	runtime.ReadMemStats(&after)
	if raw := got.Blocks[0].(chat.Unknown).Raw; len(raw) < 10*n {
		t.Fatalf("only %d bytes of it were kept", len(raw))
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 300<<20 {
		t.Errorf("%d deltas of 10 bytes allocated %d MB", n, allocated>>20)
	}
}

// An answer with very many parts without visible text does not exhaust memory, in one event or in many.
func TestTooManyParts(t *testing.T) {
	const many = llm.MaxParts + 1000
	for name, block := range map[string]string{
		"redacted": `{"type":"redacted_thinking","data":"a"}`, "text": `{"type":"text","text":""}`, "unknown": `{"type":"new"}`, "calls": `{"type":"tool_use","id":"a","name":"b"}`,
	} {
		t.Run(name, func(t *testing.T) {
			llmtest.TooManyParts(t, New(nil), chat.RawEvent{Type: llm.EventResponse, Data: []byte(
				`{"id":"x","type":"message","stop_reason":"end_turn","content":[` + strings.Repeat(block+`,`, many) + block + `]}`)})
			events := []chat.RawEvent{llmtest.Event(started)}
			for n := range many {
				events = append(events, llmtest.Event(startBlock(n, block)), llmtest.Event(blockDelta(n, "text_delta", "text", `"a"`)), llmtest.Event(stopBlock(n)))
			}
			llmtest.TooManyParts(t, New(nil), events...)
		})
	}
	cited := []chat.RawEvent{llmtest.Event(startBlock(0, `{"type":"text","text":"a"}`))}
	messages := []chat.RawEvent{}
	for n := range many {
		cited = append(cited, llmtest.Event(blockDelta(0, "citations_delta", "citation", `{"type":"char_location"}`)))
		messages = append(messages, llmtest.Event(fmt.Sprintf(`{"type":"message_start","message":{"id":"m%d"}}`, n)), llmtest.Event(stop))
	}
	llmtest.TooManyParts(t, New(nil), cited...)
	d := New(nil).NewDecoder(llm.ToolsEnabled)
	for _, ev := range messages {
		d.Decode(ev)
	}
	if d.Parts() <= llm.MaxParts || len(d.Result().Items) > llm.MaxParts+10 {
		t.Errorf("%d messages, of which %d are counted, and %d items kept", many, d.Parts(), len(d.Result().Items))
	}
}
