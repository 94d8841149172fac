package jobs_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

// TestAPauseIsRemembered: later runs are paused too, until background work is resumed.
func TestAPauseIsRemembered(t *testing.T) {
	b := newFixture(t)
	run := func(want bool) (set func(bool)) {
		t.Helper()
		runner := b.runner(b.store)
		r := b.reconciler(&turns{}, runner, nil)
		r.RestorePause(t.Context())
		if r.Paused() != want || runner.Paused() != want {
			t.Fatalf("paused: %v and %v, want %v", r.Paused(), runner.Paused(), want)
		}
		return func(paused bool) {
			t.Helper()
			b.must(r.SetPaused(t.Context(), paused))
			if r.Paused() != paused {
				t.Errorf("it was set to %v, but is %v", paused, r.Paused())
			}
		}
	}
	run(false)(true)
	run(true)
	run(true)(false)
	run(false)
}

// TestAPauseThatCannotBeSavedStillApplies: the pause applies to this run, and the error is returned.
func TestAPauseThatCannotBeSavedStillApplies(t *testing.T) {
	b := newFixture(t)
	r := b.reconciler(&turns{}, b.runner(b.store), nil)
	b.must(b.store.Close())
	if err := r.SetPaused(t.Context(), true); err == nil || !r.Paused() {
		t.Errorf("%v, paused %v", err, r.Paused())
	}
}

// TestAPauseStillChecksForUnsavedTurns: during a pause, only unsaved turns are checked for and saved.
func TestAPauseStillChecksForUnsavedTurns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := newFixtureAt(t, nil)
		defer b.close()
		f, dailyCalls := &turns{}, atomic.Int32{}
		r := b.reconciler(f, b.runner(b.store), func(context.Context) error { dailyCalls.Add(1); return nil })
		r.Pause()
		r.Start()
		defer r.Stop()
		pending := b.final(1)
		time.Sleep(time.Hour)
		if f.checks() != 0 {
			t.Errorf("paused, it checked %d times", f.checks())
		}
		f.set(1)
		time.Sleep(6 * time.Minute)
		if f.checks() < 2 {
			t.Errorf("a turn was unsaved, and it checked %d times", f.checks())
		}
		f.set(0)
		before := f.checks()
		time.Sleep(time.Hour)
		if checks := f.checks() - before; checks > 1 || dailyCalls.Load() != 0 || b.phase(pending.ID) != chat.PhaseResponseFinalized {
			t.Errorf("%d checks, %d daily calls, the turn is %s", checks, dailyCalls.Load(), b.phase(pending.ID))
		}
	})
}
