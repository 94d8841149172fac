package responses

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
)

type wireForm struct{}

func (wireForm) NewDecoder(mode llm.ToolsMode) llm.Decoder { return NewDecoder(mode) }

func FuzzDecoder(f *testing.F) {
	paths, _ := filepath.Glob("../../openai/testdata/streams/*.jsonl")
	for _, path := range paths {
		var lines []string
		for _, ev := range llmtest.ReadRecording(f, path) {
			lines = append(lines, string(ev.Data))
		}
		f.Add(strings.Join(lines, "\n"), true)
	}
	f.Add(`{"id":"r","type":"message","status":"completed","stop_reason":"end_turn","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}],"content":[{"type":"text","text":"a"}]}`, false)
	f.Fuzz(func(t *testing.T, stream string, streamed bool) {
		var events []chat.RawEvent
		if streamed {
			for line := range strings.SplitSeq(stream, "\n") {
				events = append(events, llmtest.Event(line))
			}
		} else {
			events = []chat.RawEvent{{Type: llm.EventResponse, Data: []byte(stream)}}
		}
		for _, mode := range []llm.ToolsMode{llm.ToolsDisabled, llm.ToolsParseOnly} {
			if p := llmtest.Play(t, wireForm{}, mode, events); !utf8.ValidString(p.Result.Text()) {
				t.Fatal("the text is not valid UTF-8")
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	d := NewDecoder(llm.ToolsDisabled)
	piece := llmtest.Event(`{"type":"response.output_text.delta","output_index":0,"content_index":0,"item_id":"msg_0","sequence_number":7,"delta":" word","logprobs":[],"obfuscation":"abc"}`)
	b.ReportAllocs()
	for b.Loop() {
		d.Decode(piece)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deltas/s")
}
