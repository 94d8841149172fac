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
	texts     *trayWords // the texts in the language of the tray
}

func statusOf(w Work, texts *trayWords) status {
	running, queued := w.Busy()
	isPaused := w.Paused()
	switch problem := w.Attention(); {
	case problem != "":
		return status{attention, problem, isPaused, texts}
	case isPaused:
		return status{paused, texts.pausedText(queued), true, texts}
	case running+queued > 0:
		return status{working, texts.workText(running, queued), false, texts}
	}
	return status{idle, texts.idle, false, texts}
}

// showWork updates the tray until the program ends.
func (l *Lifecycle) showWork(ctx context.Context) {
	changed := make(chan struct{}, 1)
	l.w.Work.Changed(func() {
		select {
		case changed <- struct{}{}:
		default: // an update is already pending
		}
	})
	for !l.isQuitting() {
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
