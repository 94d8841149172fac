package jobs

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
)

// settingPaused is the setting that is "true" while background work is paused, also across restarts. The window and
// the tray show it.
const settingPaused = "background.paused"

// Pause stops background work until Resume. Reconcile works anyway.
func (r *Reconciler) Pause() { r.d.Runner.Pause() }

// Resume continues after Pause.
func (r *Reconciler) Resume() {
	r.d.Runner.Resume()
	notify(r.wake)
}

// Paused reports whether background work is paused.
func (r *Reconciler) Paused() bool { return r.d.Runner.Paused() }

// SetPaused pauses or resumes background work, and stores that for the next start. If it cannot be stored, an error is
// returned, and the change applies to this run only.
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

// RestorePause pauses if the previous run was paused. An unreadable setting does not pause.
func (r *Reconciler) RestorePause(ctx context.Context) {
	value, _, err := r.d.Store.Setting(ctx, settingPaused)
	if err != nil {
		r.d.Log.Warn("the setting that pauses background work could not be read", "err", err)
	}
	if value == "true" {
		r.Pause()
	}
}

// tickPaused is the timer's check during a pause: turns whose end could not be saved are the user's data and are
// saved anyway.
func (r *Reconciler) tickPaused(ctx context.Context) time.Duration {
	if r.d.Turns.Unsaved() == 0 {
		return checkInterval
	}
	r.runGuarded(func() { r.tick(ctx) })
	return r.pause()
}
