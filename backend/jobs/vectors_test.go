package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/jobs"
)

// steps is a vector manager with a number of steps to do, which may fail.
type steps struct {
	mu        sync.Mutex
	remaining int
	err       error
	tried     chan int // the number of remaining steps after each step
}

func (s *steps) Vectors(context.Context, []chat.UnitText) (map[int64][][]float32, error) {
	return nil, nil
}

func (s *steps) Step(context.Context) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && s.remaining > 0 {
		s.remaining--
	}
	s.tried <- s.remaining
	return s.remaining > 0, s.err
}

func (s *steps) set(remaining int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remaining, s.err = remaining, err
}

// idleStore has no jobs and no turns of an older chunker.
type idleStore struct{ *memory }

func (idleStore) RequeueOlder(context.Context, int, int) (int, error) { return 0, nil }

// The vector worker continues until nothing is missing, waits after a failure, and starts again when it is woken
// because another embedder was chosen.
func TestVectorsHaveTheirOwnWorker(t *testing.T) {
	s := &steps{remaining: 3, tried: make(chan int, 100)}
	r := jobs.NewRunner(jobs.Deps{Queue: idleStore{newMemory()}, Publish: &recorder{}, Counter: bytesCount{}, TargetTokens: func() int { return 1200 }, Vectors: s})
	r.Start()
	defer r.Stop()
	for want := 2; want >= 0; want-- {
		if got := <-s.tried; got != want {
			t.Fatalf("%d steps are left, want %d", got, want)
		}
	}
	s.set(2, errors.New("the embedder is not available"))
	r.WakeVectors()
	if got := <-s.tried; got != 2 {
		t.Fatalf("%d steps are left after a failure", got)
	}
	s.set(2, nil)
	r.WakeVectors()
	for want := 1; want >= 0; want-- {
		if got := <-s.tried; got != want {
			t.Fatalf("%d steps are left, want %d", got, want)
		}
	}
	r.Stop()
	s.set(1, errors.New("not available again"))
	if n, err := r.Reindex(t.Context()); err == nil || n != 0 {
		t.Errorf("%d steps, %v", n, err)
	}
}

// recordingVectors is a vector manager that records how many units can be found when it is called.
type recordingVectors struct {
	find  func() int
	found []int
	err   error
}

func (v *recordingVectors) Vectors(context.Context, []chat.UnitText) (map[int64][][]float32, error) {
	v.found = append(v.found, v.find())
	return nil, v.err
}

func (*recordingVectors) Step(context.Context) (bool, error) { return false, nil }

// A long message or document is found by its words before its vectors are created, and is recorded in the ledger and
// stored only once.
func TestLongTextsAreFoundByWordsBeforeTheirVectorsExist(t *testing.T) {
	for _, failure := range []error{nil, errors.New("the embedder is not available")} {
		b := newFixture(t)
		var long strings.Builder
		for i := range 400 {
			fmt.Fprintf(&long, "Paragraph %d. %s\n\n", i, strings.Repeat("The lighthouse keeper wrote a line. ", 15))
		}
		turn := b.addTurn(long.String(), "Noted.")
		find := func() int {
			hits, err := b.store.SearchUnits(t.Context(), []string{"lighthouse"}, chat.Within{}, 10_000)
			b.must(err)
			return len(hits)
		}
		v := &recordingVectors{find: find, err: failure}
		r := jobs.NewRunner(jobs.Deps{Queue: b.store, Store: b.store, Publish: &b.changes, Counter: bytesCount{}, TargetTokens: func() int { return 1200 }, Vectors: v})
		_, err := r.Drain(t.Context())
		b.must(err)
		if len(v.found) != 1 || v.found[0] <= 64 || find() != v.found[0] {
			t.Errorf("%v: found when vectors were requested %v, then %d", failure, v.found, find())
		}
		after, err := b.store.Turn(t.Context(), turn.ID)
		b.must(err)
		if done := after.Phase == chat.PhaseDone; done != (failure == nil) {
			t.Errorf("%v: the turn is %s", failure, after.Phase)
		}
	}
}
