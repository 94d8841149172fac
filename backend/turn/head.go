package turn

import (
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
	"contextinfinity/backend/prompt"
)

// headText is the head's summary as a context needs it. Where the newest turns are
// always in it as they were said, the summary's own excerpt of the last exchange
// would say the same again.
func headText(in prompt.Input) string {
	if in.Policy.History != prompt.HistoryElastic || in.Policy.PreserveRecent == 0 || len(in.Sizes) == 0 {
		return in.Head.Summary
	}
	return withoutSection(in.Head.Summary, librarian.LastExchange.Heading())
}

// withoutSection leaves out a section of a Markdown text, up to the next heading of its
// level.
func withoutSection(text, heading string) string {
	var kept []string
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "## ") {
			inside = strings.TrimSpace(line[3:]) == heading
		}
		if !inside {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// capHead shortens a summary that was made for a larger window to its cap. No model is
// asked: it would be asked for every request.
func capHead(in *prompt.Input) {
	if in.Policy.History == prompt.HistoryOff {
		return
	}
	room := prompt.NewBudget(in.Limits, in.Policy, in.Calibration).StateRoom()
	if in.Count(in.Head.Summary) > room {
		in.Head.Summary, in.HeadCapped = librarian.Trim(in.Head.Summary, room, in.Count), true
	}
}

// now is the date and time of a request in words: for a turn, when its message was
// accepted, so that each of its attempts says the same.
func (e *Engine) now(t *chat.Turn) string {
	at := e.clock.Now()
	if t != nil && !t.CreatedAt.IsZero() {
		at = t.CreatedAt
	}
	return moment(at.Local())
}

func moment(at time.Time) string {
	zone := "UTC" + at.Format("-07:00")
	if _, offset := at.Zone(); offset == 0 {
		zone = "UTC"
	}
	return at.Format("Monday, 2 January 2006, 15:04") + " " + zone
}
