package desktop

import (
	"context"
	"time"
)

// showEvery is the minimum time between updates of the tray, whose menus other programs draw.
const showEvery = 250 * time.Millisecond

// tray is the icon in the tray.
type tray interface {
	// hosted reports whether a tray shows it.
	hosted() bool
	show(status)
	end()
}

// noTray is used without a tray.
type noTray struct{}

func (noTray) hosted() bool { return false }
func (noTray) show(status)  {}
func (noTray) end()         {}

// trayState is the icon's state.
type trayState int

const (
	idle trayState = iota
	working
	paused
	attention
)

// status is what the tray shows.
type status struct {
	trayState trayState
	words     string
	paused    bool       // independent of the state
	in        *trayWords // the language of the texts and of the menu
}

func statusOf(w Work, in *trayWords) status {
	running, queued := w.Busy()
	stopped := w.Paused()
	switch why := w.Attention(); {
	case why != "":
		return status{attention, why, stopped, in}
	case stopped:
		return status{paused, in.stopped(queued), true, in}
	case running+queued > 0:
		return status{working, in.counts(running, queued), false, in}
	}
	return status{idle, in.idle, false, in}
}

// showWork updates the tray until the program ends.
func (l *life) showWork(ctx context.Context) {
	changed := make(chan struct{}, 1)
	l.w.Work.Changed(func() {
		select {
		case changed <- struct{}{}:
		default: // an update is already pending
		}
	})
	for !l.leaving() {
		l.mu.Lock()
		t := l.tray
		l.mu.Unlock()
		t.show(statusOf(l.w.Work, l.w.words()))
		time.Sleep(showEvery)
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}
