package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/storetest"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fixture struct {
	t       *testing.T
	store   *store.Store
	clock   *clock.Fake
	branch  chat.Branch
	changes recorder
}

type recorder struct {
	mu   sync.Mutex
	seen []chat.Change
}

func (r *recorder) Change(c chat.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, c)
}

type bytesCount struct{}

func (bytesCount) Count(_, s string) int { return (len(s) + 3) / 4 }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	fake := clock.NewFake(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	b := newFixtureAt(t, fake.Now)
	b.clock = fake
	t.Cleanup(b.close)
	return b
}

// newFixtureAt is a fixture with its own clock, or with the system's, which in a synctest bubble is the fake one.
func newFixtureAt(t *testing.T, c clock.Clock) *fixture {
	t.Helper()
	b := &fixture{t: t}
	var err error
	dir := t.TempDir()
	storetest.Fill(t, dir)
	if b.store, err = store.Open(t.Context(), store.Options{DataDir: dir, Clock: c}); err != nil {
		t.Fatal(err)
	}
	if _, b.branch, err = b.store.CreateSession(t.Context(), chat.NewSession{}); err != nil {
		t.Fatal(err)
	}
	return b
}

// inBubble runs a test in a synctest bubble. It first creates the compressors that all stores share, because channels
// created in a bubble can only be used there.
func inBubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	b := newFixture(t)
	b.final(1)
	_, err := b.runner(b.store).Drain(t.Context())
	b.must(err)
	synctest.Test(t, f)
}

func (b *fixture) close() { _ = b.store.Close() }

// queueStore stores jobs and the data that they process.
type queueStore interface {
	jobs.Queue
	jobs.Store
}

func (b *fixture) runner(s queueStore) *jobs.Runner {
	return jobs.NewRunner(jobs.Deps{Queue: s, Store: s, Publish: &b.changes, Counter: bytesCount{}, TargetTokens: func() int { return 1200 }})
}

// final adds a turn with a final answer.
func (b *fixture) final(n int) chat.Turn {
	b.t.Helper()
	return b.addTurn(fmt.Sprintf("We decided to use plan %d.", n), fmt.Sprintf("Answer %d.", n))
}

func (b *fixture) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *fixture) phase(id chat.TurnID) chat.Phase {
	b.t.Helper()
	t, err := b.store.Turn(b.t.Context(), id)
	b.must(err)
	return t.Phase
}

func (b *fixture) head() chat.Branch {
	b.t.Helper()
	br, err := b.store.Branch(b.t.Context(), b.branch.ID)
	b.must(err)
	return br
}

// TestDrain: final turns are committed and indexed, in order, with one state summary each.
func TestDrain(t *testing.T) {
	b := newFixture(t)
	var turns []chat.Turn
	for n := range 5 {
		turns = append(turns, b.final(n))
	}
	r := b.runner(b.store)
	n, err := r.Drain(t.Context())
	b.must(err)
	if n != 10 {
		t.Errorf("%d jobs ran, want 10", n)
	}
	for i, turn := range turns {
		got, err := b.store.Turn(t.Context(), turn.ID)
		b.must(err)
		st, err := b.store.State(t.Context(), got.StateAfter)
		b.must(err)
		if got.Phase != chat.PhaseDone || st.Seq != int64(i+1) {
			t.Errorf("turn %d is %s at state #%d", i+1, got.Phase, st.Seq)
		}
	}
	if n, err := r.Drain(t.Context()); n != 0 || err != nil {
		t.Errorf("a second drain ran %d jobs (%v)", n, err)
	}
}

// TestLateJobFirst: the job of a later turn also commits the earlier ones, so that no head skips a turn; their own
// jobs then have nothing to do.
func TestLateJobFirst(t *testing.T) {
	b := newFixture(t)
	first, last := b.final(1), b.final(2)
	r := b.runner(b.store)
	if _, err := r.RunTurn(t.Context(), last.ID, jobs.LevelCommitted); err != nil {
		t.Fatal(err)
	}
	if b.phase(first.ID) != chat.PhaseStateCommitted || b.phase(last.ID) != chat.PhaseStateCommitted || b.head().HeadSeq != 2 {
		t.Fatalf("%s, %s, head #%d", b.phase(first.ID), b.phase(last.ID), b.head().HeadSeq)
	}
	if _, err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b.head().HeadSeq != 2 || b.phase(first.ID) != chat.PhaseDone {
		t.Fatalf("head #%d, first %s", b.head().HeadSeq, b.phase(first.ID))
	}
}

// losing fails to move the head a number of times, as if another writer had moved it.
type losing struct {
	*store.Store
	times int
}

func (l *losing) Commit(ctx context.Context, c chat.Commit) (chat.State, error) {
	if l.times > 0 {
		l.times--
		c.Epoch--
	}
	return l.Store.Commit(ctx, c)
}

// TestStaleWriterRetries: a worker that lost the race repeats its work with the new head and never overwrites it (OXY
// 7).
func TestStaleWriterRetries(t *testing.T) {
	b := newFixture(t)
	turn := b.final(1)
	if _, err := b.runner(&losing{Store: b.store, times: 3}).RunTurn(t.Context(), turn.ID, jobs.LevelCommitted); err != nil {
		t.Fatal(err)
	}
	if b.head().HeadSeq != 1 {
		t.Fatalf("head #%d", b.head().HeadSeq)
	}
}

// broken fails to index.
type broken struct {
	*store.Store
	err error
}

func (s *broken) Index(ctx context.Context, i chat.Indexing) error {
	if s.err != nil && i.Status == chat.IndexOK {
		return s.err
	}
	return s.Store.Index(ctx, i)
}

// TestFailedAndDegraded: after 8 attempts the job has failed and the turn is shown as not searchable; nothing runs
// forever, and a manual retry repairs it.
func TestFailedAndDegraded(t *testing.T) {
	b := newFixture(t)
	turn := b.final(1)
	s := &broken{Store: b.store, err: errors.New("index broke")}
	r := b.runner(s)
	ran := 0
	for range 50 {
		n, err := r.Drain(t.Context())
		b.must(err)
		ran += n
		b.clock.Advance(10 * time.Minute)
	}
	if ran != 1+chat.MaxJobAttempts {
		t.Errorf("%d jobs ran, want %d", ran, 1+chat.MaxJobAttempts)
	}
	got, err := b.store.Turn(t.Context(), turn.ID)
	b.must(err)
	if got.IndexStatus != chat.IndexDegraded || got.Phase != chat.PhaseStateCommitted {
		t.Fatalf("turn is %s, index %q", got.Phase, got.IndexStatus)
	}
	if n, err := b.store.RequeueMissing(t.Context()); n != 0 || err != nil {
		t.Errorf("a failed job was queued again without a request: %d %v", n, err)
	}
	job, _, err := b.store.JobFor(t.Context(), turn.ID, chat.JobIndexTurn)
	b.must(err)
	if job.State != chat.JobFailed || job.LastError == "" {
		t.Fatalf("job %+v", job)
	}
	s.err = nil
	b.must(b.store.RetryJob(t.Context(), job.ID))
	_, err = r.Drain(t.Context())
	b.must(err)
	if b.phase(turn.ID) != chat.PhaseDone {
		t.Fatalf("after the retry the turn is %s", b.phase(turn.ID))
	}
}

// TestBackground: a started runner does its work by itself; it can be stopped twice.
func TestBackground(t *testing.T) {
	b := newFixture(t)
	turn := b.final(1)
	r := b.runner(b.store)
	r.Start()
	r.Start()
	r.Wake()
	for deadline := time.Now().Add(time.Minute); b.phase(turn.ID) != chat.PhaseDone; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the background work did not run")
		}
	}
	r.Stop()
	r.Stop()
}

// TestIndexTwice is SRD 22.5 from the queue to the store: running index_turn again inserts nothing.
func TestIndexTwice(t *testing.T) {
	b := newFixture(t)
	turn := b.final(1)
	r := b.runner(b.store)
	_, err := r.Drain(t.Context())
	b.must(err)
	before, err := b.store.Stats(t.Context())
	b.must(err)
	job, _, err := b.store.JobFor(t.Context(), turn.ID, chat.JobIndexTurn)
	b.must(err)
	_ = b.store.RetryJob(t.Context(), job.ID)
	_, err = r.Drain(t.Context())
	b.must(err)
	after, err := b.store.Stats(t.Context())
	b.must(err)
	if after.Chunks != before.Chunks || after.Units != before.Units {
		t.Fatalf("chunks %d to %d, units %d to %d", before.Chunks, after.Chunks, before.Units, after.Units)
	}
}
