package turn_test

import (
	"fmt"
	"strings"
	"testing"
)

// An extract is built once and never changes, so that the contexts of old turns can be rebuilt byte for byte after
// many requests and a restart.
func TestExtractsNeverChange(t *testing.T) {
	w := newEnv(t)
	w.window = 4096
	var last string
	for i := range 30 {
		w.provider.script(call{events: []string{text(strings.Repeat("answer ", 150)), done}})
		last = string(w.send(fmt.Sprintf("question %d: we decided on shelf %d %s", i, i, strings.Repeat("word ", 100))).ID)
		if _, err := w.jobs.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	turns, err := w.store.PreparedTurns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	warm := map[string]string{}
	extracts := 0
	for _, id := range turns {
		seen, err := w.engine.ContextSeen(t.Context(), id)
		if err != nil || !seen.Same {
			t.Fatalf("%v %s", err, seen.Note)
		}
		for _, x := range seen.Texts {
			if x.Source == "extract" {
				extracts++
				warm[string(id)] += x.Text
			}
		}
	}
	if extracts == 0 || !strings.Contains(warm[last], "shelf") {
		t.Fatalf("%d extracts were built, so the test proves nothing", extracts)
	}
	w.close()
	w.open()
	for _, id := range turns {
		seen, err := w.engine.ContextSeen(t.Context(), id)
		if err != nil || !seen.Same {
			t.Fatalf("after a start: %v %s", err, seen.Note)
		}
		cold := ""
		for _, x := range seen.Texts {
			if x.Source == "extract" {
				cold += x.Text
			}
		}
		if cold != warm[string(id)] {
			t.Errorf("turn %s: a cached extract differs from a new one", id)
		}
	}
	w.clean()
}
