package turn

import (
	"testing"

	"contextinfinity/backend/prompt"
)

// countingStore only returns the number of permanent deletions.
type countingStore struct {
	HistoryStore
	deletions int64
}

func (s *countingStore) Deletions() int64 { return s.deletions }

// An extract that was cached before a permanent deletion is rebuilt after it.
func TestExtractsAreRebuiltAfterADeletion(t *testing.T) {
	store := &countingStore{}
	e := &Engine{past: store}
	extract := "The vault opens with 4711."
	cached := e.cachedExtract("branch", "o200k_base")
	get := func() string {
		text, err := cached(prompt.Piece{From: 1, To: 9, Target: 40}, func() (string, error) { return extract, nil })
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	before := get()
	extract = "The vault opens."
	if get() != before {
		t.Fatal("it is built for each request, so the test proves nothing")
	}
	store.deletions++
	if got := get(); got != extract {
		t.Errorf("after the deletion it says %q", got)
	}
}
