//go:build desktop && !windows && !darwin

package desktop

import (
	"sync"

	"fyne.io/systray"
	"github.com/godbus/dbus/v5"
)

// panel is a freedesktop tray: the icon is registered with a watcher, and is visible only while a host (a panel) is
// registered too. systray would report itself ready without either.
type panel struct {
	icon *icon

	mu      sync.Mutex
	host    bool
	created bool
}

func newSystemTray(i *icon) systemTray {
	p := &panel{icon: i}
	watchHost(p.changed)
	return p
}

func (p *panel) hosted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.host
}

// changed creates the icon when a host appears, and shows the window when the last one disappears.
func (p *panel) changed(host bool) {
	p.mu.Lock()
	if host && !p.created {
		p.created = true
		p.icon.mu.Lock()
		p.icon.prepare()
		p.icon.mu.Unlock()
		systray.SetOnTapped(p.icon.l.show)
		start, _ := systray.RunWithExternalLoop(p.icon.build, nil)
		start()
	} else if host && !p.host {
		reregister()
	}
	p.host = host
	p.mu.Unlock()
	if !host {
		p.icon.l.hostGone()
	}
}

// reregister registers the icon with a new watcher, over the connection that systray shares with other libraries.
// systray does so too, but stops when it receives one of their signals.
func reregister() {
	if conn, err := dbus.SessionBus(); err == nil {
		conn.Object(watcherName, watcherPath).Call(watcherName+".RegisterStatusNotifierItem", dbus.FlagNoReplyExpected, "/StatusNotifierItem")
	}
}

// end does nothing: the icon disappears with its connection when the process ends.
func (p *panel) end() {}

const trayFirst = false
