package anthropic

import (
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
)

// TestRecordings decodes every recorded stream after it went through a server
// and the real client: each event arrives byte for byte, and what the events
// mean stands in testdata/recordings, written down once and read against the
// recording.
func TestRecordings(t *testing.T) {
	for _, path := range llmtest.Recordings(t, Name) {
		name := strings.TrimSuffix(filepath.Base(path), ".chunks.txt")
		t.Run(name, func(t *testing.T) {
			events := llmtest.ThroughServer(t, harness, llmtest.ReadRecording(t, path))
			off := llmtest.Play(t, New(nil), llm.ToolsDisabled, events)
			parsed := llmtest.Play(t, New(nil), llm.ToolsParseOnly, events)
			llmtest.Golden(t, "recordings/"+name+".txt",
				"== tools parse_only\n"+llmtest.Describe(parsed)+"== tools disabled\n"+llmtest.Outcome(off))
		})
	}
}
