package journal_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/journal"
)

// TestEachLineHasTheFieldsOfTheSRD: a line of a journal is an object with ts, provider, event_type, seq and payload
// (SRD 13.1).
func TestEachLineHasTheFieldsOfTheSRD(t *testing.T) {
	dir := t.TempDir()
	j := journal.New(journal.Options{Dir: dir})
	step := newStep()
	w, err := j.Begin(step, "openai")
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, w, "hello")
	if _, err := w.End(journal.EndDone, ""); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, string(step)+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if len(lines) < 2 {
		t.Fatalf("%q", raw)
	}
	for _, line := range lines {
		var entry map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for _, field := range []string{"ts", "provider", "event_type", "seq", "payload"} {
			if entry[field] == nil {
				t.Errorf("%s has no %s", line, field)
			}
		}
	}
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "hello") }) {
		t.Errorf("the event is not in %q", lines)
	}
}
