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
	mu    sync.Mutex
	left  int
	err   error
	tried chan int // what was left after each step
}

func (s *steps) Vectors(context.Context, []string) (map[int64][][]float32, error) { return nil, nil }

func (s *steps) Step(context.Context) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && s.left > 0 {
		s.left--
	}
	s.tried <- s.left
	return s.left > 0, s.err
}

func (s *steps) set(left int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.err = left, err
}

// idleStore has no jobs and nothing to renew.
type idleStore struct{ *memory }

func (idleStore) RequeueOlder(context.Context, int, int) (int, error) { return 0, nil }

// The vector worker continues until nothing is missing, waits after a failure, and starts again when it is woken
// because another embedder was chosen.
func TestVectorsHaveTheirOwnWorker(t *testing.T) {
	s := &steps{left: 3, tried: make(chan int, 100)}
	r := jobs.NewRunner(jobs.Deps{Queue: idleStore{newMemory()}, Publish: &recorder{}, Counter: bytesCount{}, TargetTokens: func() int { return 1200 }, Vectors: s})
	r.Start()
	defer r.Stop()
	for want := 2; want >= 0; want-- {
		if got := <-s.tried; got != want {
			t.Fatalf("%d steps are left, want %d", got, want)
		}
	}
	s.set(2, errors.New("the embedder is gone"))
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
	s.set(1, errors.New("gone again"))
	if n, err := r.Reindex(t.Context()); err == nil || n != 0 {
		t.Errorf("%d steps, %v", n, err)
	}
}

// asking is a vector manager that records what can be found when it is called.
type asking struct {
	look func() int
	seen []int
	err  error
}

func (a *asking) Vectors(context.Context, []string) (map[int64][][]float32, error) {
	a.seen = append(a.seen, a.look())
	return nil, a.err
}

func (*asking) Step(context.Context) (bool, error) { return false, nil }

// A long message or document is found by its words before its vectors are made, and is recorded in the ledger and
// stored only once.
func TestLongTextsAreFoundByWordsBeforeTheirVectorsExist(t *testing.T) {
	for _, failure := range []error{nil, errors.New("the embedder is gone")} {
		b := newBench(t)
		var long strings.Builder
		for i := range 400 {
			fmt.Fprintf(&long, "Paragraph %d. %s\n\n", i, strings.Repeat("The lighthouse keeper wrote a line. ", 15))
		}
		turn := b.answered(long.String(), "Noted.")
		find := func() int {
			hits, err := b.store.SearchUnits(t.Context(), []string{"lighthouse"}, chat.Within{}, 10_000)
			b.must(err)
			return len(hits)
		}
		a := &asking{look: find, err: failure}
		r := jobs.NewRunner(jobs.Deps{Queue: b.store, Store: b.store, Publish: &b.changes, Counter: bytesCount{}, TargetTokens: func() int { return 1200 }, Vectors: a})
		_, err := r.Drain(t.Context())
		b.must(err)
		if len(a.seen) != 1 || a.seen[0] <= 64 || find() != a.seen[0] {
			t.Errorf("%v: found when asked for vectors %v, then %d", failure, a.seen, find())
		}
		after, err := b.store.Turn(t.Context(), turn.ID)
		b.must(err)
		if done := after.Phase == chat.PhaseDone; done != (failure == nil) {
			t.Errorf("%v: the turn is %s", failure, after.Phase)
		}
	}
}
