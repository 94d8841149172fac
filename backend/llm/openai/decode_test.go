package openai

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
)

// TestStreams decodes the streams of testdata/streams, each made for events that
// are rarely recorded; what they mean stands beside them.
func TestStreams(t *testing.T) {
	paths, err := filepath.Glob("testdata/streams/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		t.Run(name, func(t *testing.T) {
			events := llmtest.ThroughServer(t, harness, llmtest.ReadRecording(t, path))
			for n := range events { // whatever the cut, the decoder's promises hold
				llmtest.Play(t, New(nil), llm.ToolsDisabled, events[:n])
			}
			off := llmtest.Play(t, New(nil), llm.ToolsDisabled, events)
			parsed := llmtest.Play(t, New(nil), llm.ToolsParseOnly, events)
			llmtest.Golden(t, "streams/"+name+".txt",
				"== tools parse_only\n"+llmtest.Describe(parsed)+"== tools disabled\n"+llmtest.Outcome(off))
		})
	}
}

func FuzzDecoder(f *testing.F) {
	paths, _ := filepath.Glob("testdata/streams/*.jsonl")
	for _, path := range paths {
		var lines []string
		for _, ev := range llmtest.ReadRecording(f, path) {
			lines = append(lines, string(ev.Data))
		}
		f.Add(strings.Join(lines, "\n"), true)
	}
	f.Add(harness.Wire.Whole, false)
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
			if p := llmtest.Play(t, New(nil), mode, events); !utf8.ValidString(p.Result.Text()) {
				t.Fatal("the text is not valid UTF-8")
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	events := harness.Wire.Text
	piece := events[2:3] // one delta, again and again
	d := New(nil).NewDecoder(llm.ToolsDisabled)
	for _, ev := range events[:2] {
		d.Decode(ev)
	}
	b.ReportAllocs()
	for b.Loop() {
		d.Decode(piece[0])
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deltas/s")
}
