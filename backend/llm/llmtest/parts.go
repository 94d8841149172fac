package llmtest

import (
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// TooManyParts decodes an answer with far more parts than allowed, in one event or in many. The decoder must count more
// than are allowed, and keep about as many as allowed.
func TooManyParts(t *testing.T, p llm.Provider, events ...chat.RawEvent) {
	t.Helper()
	d := p.NewDecoder(llm.ToolsEnabled)
	shown := 0
	for _, ev := range events {
		for _, delta := range d.Decode(ev) {
			shown = max(shown, delta.Block)
		}
	}
	r := d.Result()
	if d.Parts() <= llm.MaxParts {
		t.Errorf("%d parts are counted", d.Parts())
	}
	const extra = 10 // facts about the answer, and the part over the limit
	kept := max(len(r.Blocks), len(r.Items), shown)
	for _, b := range r.Blocks {
		if text, ok := b.(chat.Text); ok {
			kept = max(kept, len(text.Annotations))
		}
	}
	if kept > llm.MaxParts+extra {
		t.Errorf("%d parts are kept", kept)
	}
}
