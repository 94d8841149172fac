package openai

import (
	"path/filepath"
	"strings"
	"testing"

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
