package desktop

import (
	"contextinfinity/backend/internal/display"
)

// Notice is a notification about a session. A click on it opens the session.
type Notice struct{ Session, Title, Text string }

// longest is the maximum length of a notification's text, in characters: the system's bubbles show less.
const longest = 200

// Notify shows a notification if the system supports them and the setting is on. It replaces the session's last one.
// The caller decides what may be visible on the screen.
func Notify(n Notice) {
	l := shown.Load()
	if l == nil || l.leaving() || !l.w.Settings().Notifications {
		return
	}
	n.Title, n.Text = inBubble(n.Title), inBubble(n.Text)
	l.send(n)
}

// openSession handles a click on a notification.
func (l *life) openSession(session string) {
	l.show()
	l.w.Request(WindowRequest{Kind: RequestOpenSession, Session: session, X: -1, Y: -1})
}

// inBubble is a text on one line, cut to the length of a notification.
func inBubble(text string) string { return display.Clip(display.OneLine(text), longest) }
