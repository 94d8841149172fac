package jobs

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
)

// settingPaused holds "true" while background work is paused: a pause is meant until
// it is ended, over restarts too. The window and the tray say so all the while.
const settingPaused = "background.paused"

// Pause does no background work, the runner's included, until Resume. Reconcile works
// anyway.
func (r *Reconciler) Pause() { r.d.Runner.Pause() }

// Resume continues after Pause.
func (r *Reconciler) Resume() {
	r.d.Runner.Resume()
	notify(r.wake)
}

// Paused reports whether background work is paused.
func (r *Reconciler) Paused() bool { return r.d.Runner.Paused() }

// SetPaused pauses background work or continues with it, and remembers that for the next
// start. Where it cannot be remembered it holds for this run, and the error says so.
func (r *Reconciler) SetPaused(ctx context.Context, paused bool) error {
	if paused {
		r.Pause()
	} else {
		r.Resume()
	}
	value := ""
	if paused {
		value = "true"
	}
	err := r.d.Store.PutSetting(ctx, settingPaused, value)
	r.d.Publish.Change(chat.Change{Kind: chat.ChangeJobs})
	return err
}

// RecallPause pauses if an earlier run was left paused. A setting that cannot be read
// pauses nothing.
func (r *Reconciler) RecallPause(ctx context.Context) {
	value, _, err := r.d.Store.Setting(ctx, settingPaused)
	if err != nil {
		r.d.Log.Warn("whether background work is paused could not be read", "err", err)
	}
	if value == "true" {
		r.Pause()
	}
}

// whilePaused is a look of the timer during a pause: turns whose end could not be
// written yet are the person's own and are settled anyway.
func (r *Reconciler) whilePaused(ctx context.Context) time.Duration {
	if r.d.Turns.Unsaved() == 0 {
		return every
	}
	r.guarded(func() { r.tick(ctx) })
	return r.pause()
}
