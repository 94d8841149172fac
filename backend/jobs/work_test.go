package jobs_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/store"
)

// panicking panics for one turn's answer, like a bug in a handler.
type panicking struct {
	*store.Store
	turn    chat.TurnID
	indexed bool // the index panics
	fixed   bool
}

func (p *panicking) Index(ctx context.Context, i chat.Indexing) error {
	if i.TurnID == p.turn && i.Status == chat.IndexOK && !p.fixed {
		panic("the user's secret words")
	}
	return p.Store.Index(ctx, i)
}

func (p *panicking) Commit(ctx context.Context, c chat.Commit) (chat.State, error) {
	if c.Turns[0] == p.turn && !p.fixed && !p.indexed {
		var none []int
		_ = none[len(c.Turns)]
	}
	return p.Store.Commit(ctx, c)
}

// TestAPanicFailsOnlyItsJob: a handler that panics fails its job, with an error that names the place but no
// content. Other turns are indexed, other branches committed, later turns of the same branch wait, and a manual retry
// completes everything.
func TestAPanicFailsOnlyItsJob(t *testing.T) {
	b := newFixture(t)
	first, second := b.final(1), b.final(2)
	branch := b.branch
	var err error
	if _, b.branch, err = b.store.CreateSession(t.Context(), chat.NewSession{}); err != nil {
		t.Fatal(err)
	}
	other := b.final(3)
	b.branch = branch
	s := &panicking{Store: b.store, turn: first.ID}
	r := b.runner(s)
	for range 30 {
		_, err := r.Drain(t.Context())
		b.must(err)
		b.clock.Advance(10 * time.Minute)
	}
	if b.phase(other.ID) != chat.PhaseDone || b.phase(second.ID) != chat.PhaseResponseFinalized || b.phase(first.ID) != chat.PhaseResponseFinalized {
		t.Fatalf("%s, %s, %s", b.phase(other.ID), b.phase(second.ID), b.phase(first.ID))
	}
	failed, _, err := b.store.JobFor(t.Context(), first.ID, chat.JobSummarizeTurn)
	b.must(err)
	if failed.State != chat.JobFailed || !strings.Contains(failed.LastError, "work_test.go:") || !strings.Contains(failed.LastError, "index out of range") {
		t.Fatalf("%+v", failed)
	}
	list, err := b.store.Jobs(t.Context(), chat.JobQuery{State: chat.JobQueued})
	b.must(err)
	if len(list) != 1 || list[0].WaitsFor != failed.ID || list[0].Attempts != 0 {
		t.Fatalf("%+v", list)
	}
	s.fixed = true
	b.must(b.store.RetryJob(t.Context(), failed.ID))
	_, err = r.Drain(t.Context())
	b.must(err)
	if b.phase(first.ID) != chat.PhaseDone || b.phase(second.ID) != chat.PhaseDone {
		t.Fatalf("after the retry: %s, %s", b.phase(first.ID), b.phase(second.ID))
	}
	s.turn, s.fixed, s.indexed = b.final(4).ID, false, true
	_, err = r.Drain(t.Context())
	b.must(err)
	job, _, err := b.store.JobFor(t.Context(), s.turn, chat.JobIndexTurn)
	b.must(err)
	if strings.Contains(job.LastError, "secret") || !strings.Contains(job.LastError, "Internal error") {
		t.Errorf("the job says %q", job.LastError)
	}
}

// slow takes some time to answer.
type slow struct {
	takes time.Duration
	calls atomic.Int32
}

func (*slow) Name() string    { return "slow" }
func (*slow) InputLimit() int { return 100_000 }
func (s *slow) Complete(ctx context.Context, _, user string, _ int) (string, *chat.Usage, error) {
	s.calls.Add(1)
	select {
	case <-time.After(s.takes):
		return keepEntries("", user), nil, nil
	case <-ctx.Done():
		return "", nil, ctx.Err()
	}
}

// TestALeaseIsRenewedWhileItsJobIsWorkedOn: a librarian that takes longer than a lease keeps its job, and another
// worker finds nothing to do.
func TestALeaseIsRenewedWhileItsJobIsWorkedOn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := newFixtureAt(t, nil)
		defer b.close()
		turn := b.final(1)
		m := &slow{takes: 3 * chat.MaxJobLease}
		d := b.deps(m)
		d.Timeout = func() time.Duration { return time.Hour }
		r, other := jobs.NewRunner(d), b.runner(b.store)
		r.Start()
		defer r.Stop()
		for range 20 {
			time.Sleep(chat.MaxJobLease / 10)
			if n, err := other.Drain(t.Context()); n != 0 || err != nil {
				t.Fatalf("%d jobs were taken over (%v)", n, err)
			}
		}
		time.Sleep(2 * chat.MaxJobLease)
		synctest.Wait()
		if b.phase(turn.ID) != chat.PhaseDone || m.calls.Load() != 1 || b.state().Origin != chat.StateLibrarian {
			t.Errorf("%s after %d calls, %s", b.phase(turn.ID), m.calls.Load(), b.state().Origin)
		}
	})
}

// unrenewable cannot renew leases, as if its process hung or slept.
type unrenewable struct{ *store.Store }

func (unrenewable) RenewJob(context.Context, chat.Lease, time.Duration) error {
	return errors.New("not renewed")
}

// TestADeadWorkersJobIsTakenOver: after its lease another worker does the job, once; if the first one wakes up, it
// changes nothing.
func TestADeadWorkersJobIsTakenOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := newFixtureAt(t, nil)
		defer b.close()
		turn := b.final(1)
		m := &slow{takes: 2 * chat.MaxJobLease}
		d := b.deps(m)
		d.Queue, d.Timeout = unrenewable{b.store}, func() time.Duration { return time.Hour }
		hung := jobs.NewRunner(d)
		hung.Start()
		defer hung.Stop()
		time.Sleep(chat.MaxJobLease + time.Second)
		if n, err := b.runner(b.store).Drain(t.Context()); n == 0 || err != nil {
			t.Fatalf("%d jobs were taken over (%v)", n, err)
		}
		before := b.state()
		time.Sleep(2 * chat.MaxJobLease)
		synctest.Wait()
		if after := b.state(); after.ID != before.ID || after.Origin != chat.StateFallback || b.phase(turn.ID) != chat.PhaseDone {
			t.Errorf("the state was %s and is %s (%s), %s", before.ID, after.ID, after.Origin, b.phase(turn.ID))
		}
		if _, _, failed, err := b.store.JobCounts(t.Context()); failed != 0 || err != nil {
			t.Errorf("%d failed, %v", failed, err)
		}
	})
}

// TestWorkOnALostJobStops: a worker stops at once if its result would be rejected.
func TestWorkOnALostJobStops(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := newFixtureAt(t, nil)
		defer b.close()
		turn := b.final(1)
		m := &slow{takes: 24 * time.Hour}
		d := b.deps(m)
		d.Timeout = func() time.Duration { return 100 * time.Hour }
		r := jobs.NewRunner(d)
		r.Start()
		defer r.Stop()
		time.Sleep(time.Minute)
		job, _, err := b.store.JobFor(t.Context(), turn.ID, chat.JobSummarizeTurn)
		b.must(err)
		b.must(b.store.DismissJob(t.Context(), job.ID))
		time.Sleep(chat.MaxJobLease)
		b.must(b.store.RetryJob(t.Context(), job.ID))
		r.Wake()
		time.Sleep(time.Minute)
		if n := m.calls.Load(); n != 2 {
			t.Errorf("the librarian was called %d times: the worker still waits for the first answer", n)
		}
	})
}

// counting counts the workers' calls to the database.
type counting struct {
	*broken
	calls atomic.Int64
}

func (c *counting) ClaimJob(ctx context.Context, l time.Duration, types ...chat.JobType) (chat.Job, bool, error) {
	c.calls.Add(1)
	return c.Store.ClaimJob(ctx, l, types...)
}

// TestIdleWorkersSleep: with nothing due the database is not called for days; a failed job is checked when it is due,
// or when the runner is woken.
func TestIdleWorkersSleep(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := newFixtureAt(t, nil)
		defer b.close()
		b.final(1)
		c := &counting{broken: &broken{Store: b.store}}
		r := b.runner(c)
		r.Start()
		defer r.Stop()
		time.Sleep(time.Minute)
		before := c.calls.Load()
		time.Sleep(72 * time.Hour)
		if n := c.calls.Load() - before; n != 0 {
			t.Errorf("%d calls in three idle days", n)
		}
		c.err = errors.New("the index broke")
		turn := b.final(2)
		r.Wake()
		time.Sleep(24 * time.Hour)
		job, _, err := b.store.JobFor(t.Context(), turn.ID, chat.JobIndexTurn)
		b.must(err)
		if job.State != chat.JobFailed {
			t.Errorf("a day later the job is %s after %d tries", job.State, job.Attempts)
		}
		if n := c.calls.Load() - before; n > 6*chat.MaxJobAttempts {
			t.Errorf("%d calls for %d tries", n, chat.MaxJobAttempts)
		}
	})
}

// TestPause: while paused, no work starts except what is explicitly requested.
func TestPause(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := newFixtureAt(t, nil)
		defer b.close()
		r := b.runner(b.store)
		r.Start()
		defer r.Stop()
		r.Pause()
		turn, requested := b.final(1), b.final(2)
		r.Wake()
		time.Sleep(time.Hour)
		if b.phase(turn.ID) != chat.PhaseResponseFinalized || !r.Paused() {
			t.Fatalf("paused, the turn is %s", b.phase(turn.ID))
		}
		_, err := r.RunTurn(t.Context(), requested.ID, jobs.LevelCommitted)
		b.must(err)
		if b.phase(requested.ID) != chat.PhaseStateCommitted {
			t.Fatalf("on request, the turn is %s", b.phase(requested.ID))
		}
		r.Resume()
		time.Sleep(time.Minute)
		if b.phase(turn.ID) != chat.PhaseDone || b.phase(requested.ID) != chat.PhaseDone {
			t.Fatalf("resumed, the turns are %s and %s", b.phase(turn.ID), b.phase(requested.ID))
		}
	})
}

// TestAClockJumpSpreadsRetries: if the clock is set forward by days, or the machine slept, failed jobs are
// not retried all at once, but all soon. If it is set back, none waits longer than intended.
func TestAClockJumpSpreadsRetries(t *testing.T) {
	for name, jump := range map[string]time.Duration{"forward": 72 * time.Hour, "back": -72 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var offset atomic.Int64
				now := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
				b := newFixtureAt(t, now)
				defer b.close()
				d := b.deps(nil)
				d.Store, d.Clock = &broken{Store: b.store, err: errors.New("index broke")}, now
				r := jobs.NewRunner(d)
				const many = 8
				for n := range many {
					b.final(n)
				}
				r.Start()
				defer r.Stop()
				time.Sleep(20 * time.Second) // each has failed a few times
				synctest.Wait()
				before := b.tries()
				offset.Add(int64(jump))
				r.Wake()
				synctest.Wait()
				if n := b.tries() - before; n > 2 { // the first job, and one that was due now anyway
					t.Errorf("%d of %d were tried at once", n, many)
				}
				time.Sleep(10 * time.Minute)
				if n := b.tries() - before; n < many {
					t.Errorf("%d of %d were tried in ten minutes", n, many)
				}
			})
		})
	}
}

// tries counts the attempts of all indexing jobs.
func (b *fixture) tries() int {
	b.t.Helper()
	list, err := b.store.Jobs(b.t.Context(), chat.JobQuery{Type: chat.JobIndexTurn})
	b.must(err)
	n := 0
	for _, j := range list {
		n += j.Attempts
	}
	return n
}

// TestWaitingForAnotherWorkersJob: waiting for a turn's work waits for the worker that has started it, and does
// the work at once that a policy deferred.
func TestWaitingForAnotherWorkersJob(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := newFixtureAt(t, nil)
		defer b.close()
		d := b.deps(&slow{takes: time.Minute})
		d.Timeout = func() time.Duration { return time.Hour }
		r := jobs.NewRunner(d)
		turn := b.final(1)
		r.Start()
		defer r.Stop()
		time.Sleep(time.Second)
		start := time.Now()
		_, err := r.RunTurn(t.Context(), turn.ID, jobs.LevelIndexed)
		b.must(err)
		if took := time.Since(start); b.phase(turn.ID) != chat.PhaseDone || took < 30*time.Second {
			t.Errorf("after %s the turn is %s", took, b.phase(turn.ID))
		}
	})
	b := newFixture(t)
	d := b.deps(nil)
	d.Commit = func() jobs.CommitPolicy { return jobs.CommitPolicy{MinTurns: 3} }
	r := jobs.NewRunner(d)
	turn := b.final(1)
	_, err := r.Drain(t.Context())
	b.must(err)
	if b.phase(turn.ID) != chat.PhaseResponseFinalized {
		t.Fatalf("the policy waits, but the turn is %s", b.phase(turn.ID))
	}
	_, err = r.RunTurn(t.Context(), turn.ID, jobs.LevelIndexed)
	b.must(err)
	if b.phase(turn.ID) != chat.PhaseDone {
		t.Errorf("on request, the turn is %s", b.phase(turn.ID))
	}
}
