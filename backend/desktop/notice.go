package desktop

import (
	"contextinfinity/backend/internal/display"
)

// Notice is a notification about a session. A click on it opens the session.
type Notice struct{ Session, Title, Text string }

// maxNoticeLength limits the title and the text of a notification, in characters; most systems show less.
const maxNoticeLength = 200

// Notify shows a notification if the system supports it and the setting is on. It replaces the session's last one.
// The caller decides what may be visible on the screen.
func Notify(n Notice) {
	l := shown.Load()
	if l == nil || l.isQuitting() || !l.w.Settings().Notifications {
		return
	}
	n.Title, n.Text = noticeText(n.Title), noticeText(n.Text)
	l.send(n)
}

// openSession handles a click on a notification.
func (l *Lifecycle) openSession(session string) {
	l.show()
	l.w.Request(WindowRequest{Kind: RequestOpenSession, Session: session, X: -1, Y: -1})
}

// noticeText returns the text on one line, cut to maxNoticeLength.
func noticeText(text string) string { return display.Clip(display.OneLine(text), maxNoticeLength) }
