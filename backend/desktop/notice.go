package desktop

import (
	"contextinfinity/backend/internal/display"
)

// Notice is what a notification says of a session. A click on it opens the session.
type Notice struct{ Session, Title, Text string }

// longest is how much of a text a notification shows, in characters: the system's own
// bubbles hold less.
const longest = 200

// Notify shows a notification where the system has them and the user wants them. It
// takes the place of the session's last one. What others may see on the screen, the
// caller has decided.
func Notify(n Notice) {
	l := shown.Load()
	if l == nil || l.leaving() || !l.w.Settings().Notifications {
		return
	}
	n.Title, n.Text = inBubble(n.Title), inBubble(n.Text)
	l.send(n)
}

// openSession is what a click on a notification does.
func (l *life) openSession(session string) {
	l.show()
	l.w.Request(WindowRequest{Kind: RequestOpenSession, Session: session, X: -1, Y: -1})
}

// inBubble is a text on one line, cut to what a bubble holds.
func inBubble(text string) string { return display.Clip(display.OneLine(text), longest) }
