package desktop

import (
	"context"
	"time"
)

// showEvery is how often at most the tray is updated: menus are drawn by others.
const showEvery = 250 * time.Millisecond

// tray is the icon beside the clock.
type tray interface {
	// hosted reports whether somebody shows it.
	hosted() bool
	show(status)
	end()
}

// noTray is where there is none.
type noTray struct{}

func (noTray) hosted() bool { return false }
func (noTray) show(status)  {}
func (noTray) end()         {}

// mood is what the icon shows at a glance.
type mood int

const (
	idle mood = iota
	working
	paused
	attention
)

// status is what the tray shows.
type status struct {
	mood   mood
	words  string
	paused bool       // whatever else it shows
	in     *trayWords // the language of the words and of the menu
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

// showWork keeps the tray at what goes on, until the program ends.
func (l *life) showWork(ctx context.Context) {
	changed := make(chan struct{}, 1)
	l.w.Work.Changed(func() {
		select {
		case changed <- struct{}{}:
		default: // it will be looked at anyway
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
