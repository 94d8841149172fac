//go:build !windows && !darwin

package desktop

import (
	"context"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"
)

const (
	noticeName = "org.freedesktop.Notifications"
	noticePath = dbus.ObjectPath("/org/freedesktop/Notifications")
)

// notices are the visible notifications, by the server's id.
var notices struct {
	mu       sync.Mutex
	sessions map[uint32]string
	conn     *dbus.Conn // the connection whose signals are handled
}

// send shows a notification. Without a notification server none is shown; the window has the same information.
func (l *Lifecycle) send(n Notice) {
	conn, err := sessionBus()
	if err != nil {
		return
	}
	l.followNotices(conn)
	ctx, cancel := context.WithTimeout(context.Background(), busTimeout)
	defer cancel()
	var id uint32
	hints := map[string]dbus.Variant{
		"desktop-entry": dbus.MakeVariant("contextinfinity"), "category": dbus.MakeVariant("im.received"), "urgency": dbus.MakeVariant(byte(1)),
	}
	err = conn.Object(noticeName, noticePath).CallWithContext(ctx, noticeName+".Notify", 0, Title, visibleNotice(n.Session),
		"contextinfinity", n.Title, escapeMarkup(n.Text), []string{"default", "Open"}, hints, int32(-1)).Store(&id)
	if err != nil {
		return
	}
	notices.mu.Lock()
	defer notices.mu.Unlock()
	notices.sessions[id] = n.Session
}

// visibleNotice returns the id of the session's notification, 0 if it has none.
func visibleNotice(session string) uint32 {
	notices.mu.Lock()
	defer notices.mu.Unlock()
	for id, s := range notices.sessions {
		if s == session {
			return id
		}
	}
	return 0
}

// markup escapes the text, which servers read as markup, unlike the title.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escapeMarkup(text string) string { return markup.Replace(text) }

// followNotices listens for clicks, once per connection.
func (l *Lifecycle) followNotices(conn *dbus.Conn) {
	notices.mu.Lock()
	defer notices.mu.Unlock()
	if notices.conn == conn {
		return
	}
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	if err := conn.AddMatchSignal(dbus.WithMatchInterface(noticeName)); err != nil {
		return
	}
	notices.conn, notices.sessions = conn, map[uint32]string{}
	go func() {
		for s := range signals {
			l.noticeSignal(s)
		}
	}()
}

// noticeSignal handles a signal. Servers send the signals of all notifications to every program; the ids identify
// this program's.
func (l *Lifecycle) noticeSignal(s *dbus.Signal) {
	if s.Path != noticePath || len(s.Body) < 2 {
		return
	}
	id, ok := s.Body[0].(uint32)
	isClick := s.Name == noticeName+".ActionInvoked"
	// Other signals, such as the activation token that precedes a click, leave the notification as it is.
	if !ok || !isClick && s.Name != noticeName+".NotificationClosed" {
		return
	}
	notices.mu.Lock()
	session, ours := notices.sessions[id]
	delete(notices.sessions, id)
	notices.mu.Unlock()
	if ours && isClick {
		l.openSession(session)
	}
}
