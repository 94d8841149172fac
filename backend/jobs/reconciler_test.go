package jobs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/store"
)

// turns is a fake of the engine.
type turns struct {
	mu       sync.Mutex
	found    []chat.RecoveryItem
	running  []chat.TurnID
	unsaved  int
	recovers int           // number of calls of Recover
	added    chan struct{} // signals another unsaved turn
}

func (f *turns) Recover(context.Context) (chat.RecoveryReport, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recovers++
	return chat.RecoveryReport{At: time.Now(), Items: slices.Clone(f.found)}, nil
}

func (f *turns) Running() []chat.TurnID {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.running)
}

func (f *turns) Unsaved() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unsaved
}

func (f *turns) UnsavedAdded() <-chan struct{} { return f.added }

func (f *turns) checks() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.recovers
}

func (f *turns) set(unsaved int, found ...chat.RecoveryItem) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unsaved, f.found = unsaved, found
}

func (b *fixture) reconciler(f *turns, r *jobs.Runner, daily func(context.Context) error) *jobs.Reconciler {
	return jobs.NewReconciler(jobs.ReconcilerDeps{Turns: f, Store: b.store, Runner: r, Publish: &b.changes, Daily: daily})
}

func kinds(r chat.RecoveryReport) string {
	out := lists.Map(r.Items, func(i chat.RecoveryItem) string { return string(i.Kind) })
	return strings.Join(out, " ")
}

// TestReportsAreCompleteAndStored: findings become one report; pending turns are reported once they are committed;
// findings that stay open are reported once; the next run still has the last report.
func TestReportsAreCompleteAndStored(t *testing.T) {
	b := newFixture(t)
	b.final(1)
	b.final(2)
	unsent := chat.RecoveredTurn(chat.Turn{ID: "t", Seq: 3}, chat.RecoveredUnsent, 0)
	f := &turns{found: []chat.RecoveryItem{unsent, chat.RecoveredCount(chat.RecoveredPruned, 1)}}
	runner := b.runner(b.store)
	r := b.reconciler(f, runner, nil)
	first, err := r.Reconcile(t.Context())
	b.must(err)
	if kinds(first) != "unsent pruned" || kinds(r.Report()) != "unsent pruned" {
		t.Fatalf("%+v", first)
	}
	ran, committed, err := r.CatchUp(t.Context())
	b.must(err)
	if ran != 4 || committed != 2 || kinds(r.Report()) != "unsent pruned committed" || r.Report().Items[2].Count != 2 {
		t.Fatalf("%d jobs, %d turns, %+v", ran, committed, r.Report())
	}
	f.set(0, unsent)
	if again, err := r.Reconcile(t.Context()); err != nil || kinds(again) != "unsent" {
		t.Fatalf("%v %v", again, err)
	}
	last, err := r.LastReport(t.Context())
	b.must(err)
	if kinds(last) != "unsent pruned committed" || len(r.Earlier()) != 1 {
		t.Fatalf("stored %+v, earlier %+v", last, r.Earlier())
	}
	next := b.reconciler(f, b.runner(b.store), nil)
	f.set(0)
	if _, err := next.Reconcile(t.Context()); err != nil || !next.Report().Clean() {
		t.Fatalf("%+v %v", next.Report(), err)
	}
	if e := next.Earlier(); len(e) != 1 || kinds(e[0]) != "unsent pruned committed" {
		t.Errorf("the next run has %+v", e)
	}
}

// TestAFailedJobIsReported: a failed job is reported once, with what to do, and not again by the next run.
func TestAFailedJobIsReported(t *testing.T) {
	b := newFixture(t)
	b.final(1)
	runner := b.runner(&broken{Store: b.store, err: errors.New("The index broke")})
	r := b.reconciler(&turns{}, runner, nil)
	_, err := r.Reconcile(t.Context())
	b.must(err)
	for range 30 {
		_, _, err := r.CatchUp(t.Context())
		b.must(err)
		b.clock.Advance(10 * time.Minute)
	}
	report := r.Report()
	i := slices.IndexFunc(report.Items, func(i chat.RecoveryItem) bool { return i.Kind == chat.RecoveredJobFailed })
	if i < 0 || report.Items[i].JobID == 0 || !strings.Contains(report.Items[i].Message, "8 times") || !strings.Contains(report.Items[i].Message, "The index broke") {
		t.Fatalf("%+v", report)
	}
	next := b.reconciler(&turns{}, b.runner(b.store), nil)
	if again, err := next.Reconcile(t.Context()); err != nil || !again.Clean() {
		t.Errorf("reported again: %+v %v", again, err)
	}
	if requested, err := next.Reconcile(t.Context()); err != nil || kinds(requested) != "dead" {
		t.Errorf("on request, it reports %+v %v", requested, err)
	}
}

// TestTheTimer: if nothing was written, nothing is checked, otherwise the work is done; a turn that could not be
// saved is retried soon; the daily work is tried every hour, and its failure is reported once; Stop ends
// everything.
func TestTheTimer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := newFixtureAt(t, nil)
		defer b.close()
		f := &turns{added: make(chan struct{}, 1)}
		var dailyCalls atomic.Int32
		var failing atomic.Bool
		runner := b.runner(b.store)
		r := b.reconciler(f, runner, func(context.Context) error {
			dailyCalls.Add(1)
			if failing.Load() {
				return errors.New("No backup was made.")
			}
			return nil
		})
		_, err := r.Reconcile(t.Context())
		b.must(err)
		runner.Start()
		defer runner.Stop()
		r.Start()
		r.Start()
		time.Sleep(time.Minute)
		checks := f.checks()
		time.Sleep(50 * time.Minute)
		if f.checks() != checks || dailyCalls.Load() != 1 {
			t.Errorf("idle, it checked %d times, %d daily calls", f.checks()-checks, dailyCalls.Load())
		}
		if n := b.store.LogBytes(); n != 0 {
			t.Errorf("idle, the log has %d bytes", n)
		}
		b.final(1)
		time.Sleep(12 * time.Minute) // the first check starts the jobs, the second finds them done
		if f.checks() != checks+2 || b.store.LogBytes() != 0 {
			t.Errorf("after a turn, it checked %d times, the log has %d bytes", f.checks()-checks, b.store.LogBytes())
		}
		time.Sleep(10 * time.Minute)
		checks = f.checks()
		f.set(1)
		f.added <- struct{}{}
		start := time.Now()
		for _, c := range []struct{ after, more int }{{0, 1}, {1, 2}, {3, 3}, {7, 4}, {15, 5}, {31, 6}, {61, 7}, {91, 8}, {121, 9}} {
			time.Sleep(time.Duration(c.after)*time.Second - time.Since(start))
			synctest.Wait()
			if f.checks() != checks+c.more {
				t.Errorf("a turn was unsaved, and it checked %d times in %d seconds", f.checks()-checks, c.after)
			}
		}
		f.set(0)
		failing.Store(true)
		time.Sleep(3 * time.Hour)
		reports := 0
		for _, e := range append(r.Earlier(), r.Report()) {
			reports += strings.Count(kinds(e), string(chat.RecoveredDaily))
		}
		if dailyCalls.Load() < 4 || reports != 1 {
			t.Errorf("tried %d times in four hours, reported %d times", dailyCalls.Load(), reports)
		}
		r.Pause()
		dailyCalls.Store(0)
		time.Sleep(5 * time.Hour)
		if dailyCalls.Load() != 0 {
			t.Error("it continued while paused")
		}
		r.Resume()
		time.Sleep(time.Minute)
		if dailyCalls.Load() != 1 {
			t.Error("after resuming, it did not continue")
		}
		r.Stop()
		r.Stop()
	})
}

// TestTheLogIsNotCheckpointedDuringATurn: while a turn runs, only a large log is checkpointed.
func TestTheLogIsNotCheckpointedDuringATurn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := newFixtureAt(t, nil)
		defer b.close()
		f := &turns{running: []chat.TurnID{"t"}}
		s := &checkpoints{Store: b.store}
		runner := b.runner(b.store)
		r := jobs.NewReconciler(jobs.ReconcilerDeps{Turns: f, Store: s, Runner: runner, Publish: &b.changes})
		r.Start()
		defer r.Stop()
		step := func(large bool, some, idle int) {
			t.Helper()
			s.large.Store(large)
			s.some.Store(0)
			s.idle.Store(0)
			b.final(1)
			time.Sleep(6 * time.Minute)
			if int(s.some.Load()) != some || int(s.idle.Load()) != idle {
				t.Errorf("large %v: %d partial and %d idle checkpoints", large, s.some.Load(), s.idle.Load())
			}
		}
		time.Sleep(time.Minute)
		step(false, 0, 0)
		step(true, 1, 0)
		f.mu.Lock()
		f.running = nil
		f.mu.Unlock()
		step(false, 0, 1)
	})
}

// checkpoints counts checkpoints and can simulate a large log.
type checkpoints struct {
	*store.Store
	large      atomic.Bool
	some, idle atomic.Int32
}

func (c *checkpoints) LogBytes() int64 {
	if c.large.Load() {
		return 1 << 30
	}
	return c.Store.LogBytes()
}
func (c *checkpoints) CheckpointSome(context.Context) error { c.some.Add(1); return nil }
func (c *checkpoints) CheckpointIdle(context.Context) error { c.idle.Add(1); return nil }
