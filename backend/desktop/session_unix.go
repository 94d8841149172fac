//go:build !windows && !darwin

package desktop

import (
	"context"
	"os"

	"github.com/godbus/dbus/v5"
)

// sessionManager is the desktop's session manager, which asks this program to end, and waits, before the session
// removes its display.
type sessionManager struct {
	name     string
	path     dbus.ObjectPath
	register string // method that registers a client and returns its object
	client   string // interface of that object
}

var sessionManagers = []sessionManager{
	{"org.gnome.SessionManager", "/org/gnome/SessionManager", "org.gnome.SessionManager.RegisterClient", "org.gnome.SessionManager.ClientPrivate"},
	{"org.xfce.SessionManager", "/org/xfce/SessionManager", "org.xfce.Session.Manager.RegisterClient", "org.xfce.Session.Client"},
}

// joinSession registers with a running session manager. Others end a session by SIGTERM, or by removing the display,
// which kills this program.
func (l *Lifecycle) joinSession() {
	conn, err := sessionBus()
	if err != nil {
		return
	}
	for _, m := range sessionManagers {
		if client, ok := m.registerClient(conn); ok {
			m.follow(conn, client, l)
			return
		}
	}
}

func (m sessionManager) registerClient(conn *dbus.Conn) (client dbus.ObjectPath, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), busTimeout)
	defer cancel()
	err := conn.Object(m.name, m.path).CallWithContext(ctx, m.register, dbus.FlagNoAutoStart,
		"contextinfinity", os.Getenv("DESKTOP_AUTOSTART_ID")).Store(&client)
	return client, err == nil && client.IsValid()
}

// follow replies to the session manager: the session may always end, and the work is stopped first.
func (m sessionManager) follow(conn *dbus.Conn, client dbus.ObjectPath, l *Lifecycle) {
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	if err := conn.AddMatchSignal(dbus.WithMatchObjectPath(client), dbus.WithMatchInterface(m.client)); err != nil {
		return
	}
	agree := func() {
		conn.Object(m.name, client).Call(m.client+".EndSessionResponse", dbus.FlagNoReplyExpected, true, "")
	}
	go func() {
		for s := range signals {
			if s.Path != client {
				continue
			}
			switch s.Name {
			case m.client + ".QueryEndSession":
				agree()
			case m.client + ".EndSession":
				l.closeWindow()
				agree()
				l.quit()
			case m.client + ".Stop":
				l.quit()
			}
		}
	}()
}
