//go:build desktop && !windows && !darwin

package desktop

import (
	"sync"

	"fyne.io/systray"
	"github.com/godbus/dbus/v5"
)

// panel is a freedesktop tray: the icon is registered with a watcher, and shown only
// while a host, a panel that is, has registered there too. systray would report itself
// ready with neither.
type panel struct {
	icon *icon

	mu    sync.Mutex
	host  bool
	begun bool
}

func newPlace(i *icon) place {
	p := &panel{icon: i}
	watchHost(p.changed)
	return p
}

func (p *panel) hosted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.host
}

// changed puts the icon where a host came to be, and calls the window back when the
// last one went.
func (p *panel) changed(host bool) {
	p.mu.Lock()
	if host && !p.begun {
		p.begun = true
		p.icon.mu.Lock()
		p.icon.prepare()
		p.icon.mu.Unlock()
		systray.SetOnTapped(p.icon.l.show)
		begin, _ := systray.RunWithExternalLoop(p.icon.build, nil)
		begin()
	} else if host && !p.host {
		registerAgain()
	}
	p.host = host
	p.mu.Unlock()
	if !host {
		p.icon.l.hostGone()
	}
}

// registerAgain tells a new watcher of the icon, over the connection that systray
// shares with other libraries. It does so itself, until it meets a signal of theirs.
func registerAgain() {
	if conn, err := dbus.SessionBus(); err == nil {
		conn.Object(watcherName, watcherPath).Call(watcherName+".RegisterStatusNotifierItem", dbus.FlagNoReplyExpected, "/StatusNotifierItem")
	}
}

// end leaves it to the end of the process, a moment later: the icon goes with its
// connection.
func (p *panel) end() {}

const trayFirst = false
