package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/journal"
)

// TestSealedJournal: what was appended is replayed, and is nowhere in the file; a cut is a torn line, and a changed, moved
// or missing record an unreadable one.
func TestSealedJournal(t *testing.T) {
	dir := t.TempDir()
	j := journal.New(journal.Options{Dir: dir})
	k := seal.NewKey()
	step, other := chat.StepID("01ARZ3NDEKTSV4RRFFQ69G5FAV"), chat.StepID("01ARZ3NDEKTSV4RRFFQ69G5FAW")
	file := func(s chat.StepID) string { return filepath.Join(dir, string(s)+".jsonl") }
	seal.Use(seal.Lock{Version: 1, Key: k.ID()}, k)
	t.Cleanup(seal.UseNone)
	w, err := j.Begin(step, "openai")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := w.Append(chat.RawEvent{Type: "delta", Data: []byte(`{"text":"canary"}`)}, 6); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.End(journal.EndDone, ""); err != nil {
		t.Fatal(err)
	}
	seal.UseNone() // it is still read
	data, err := os.ReadFile(file(step))
	if err != nil || bytes.Contains(data, []byte("canary")) || bytes.Contains(data, []byte("delta")) {
		t.Fatalf("not sealed: %q, %v", data[seal.HeaderSize:], err)
	}
	replay := func(s chat.StepID, data []byte) (journal.Replay, int) {
		if err := os.WriteFile(file(s), data, 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		rep, err := j.Read(s, func(e chat.RawEvent) error {
			if string(e.Data) == `{"text":"canary"}` {
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return rep, n
	}
	if rep, n := replay(step, data); n != 3 || rep.End != journal.EndDone || rep.BadLine != 0 || rep.TornTail {
		t.Errorf("%d events, %+v", n, rep)
	}
	if rep, n := replay(step, data[:len(data)-3]); n != 3 || rep.End != "" || !rep.TornTail {
		t.Errorf("cut: %d events, %+v", n, rep)
	}
	if rep, n := replay(other, data); n != 0 || rep.BadLine != 1 {
		t.Errorf("of another step: %d events, %+v", n, rep)
	}
	changed := bytes.Clone(data)
	changed[len(changed)-200] ^= 1
	if rep, n := replay(step, changed); n == 3 && rep.End != "" || rep.BadLine == 0 {
		t.Errorf("changed: %d events, %+v", n, rep)
	}
}
