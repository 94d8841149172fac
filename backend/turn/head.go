package turn

import (
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
	"contextinfinity/backend/prompt"
)

// headText is the head's summary for a context. If the newest turns are always in the context verbatim, the summary's
// own excerpt of the last exchange would be redundant.
func headText(in prompt.Input) string {
	if in.Policy.History != prompt.HistoryElastic || in.Policy.PreserveRecent == 0 || len(in.Sizes) == 0 {
		return in.Head.Summary
	}
	return withoutSection(in.Head.Summary, librarian.LastExchange.Heading())
}

// withoutSection removes a section of a Markdown text, up to the next heading of its level.
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

// capHead shortens a summary made for a larger window to its cap. It calls no model, because it would be needed for
// every request.
func capHead(in *prompt.Input) {
	if in.Policy.History == prompt.HistoryOff {
		return
	}
	limit := prompt.NewBudget(in.Limits, in.Policy, in.Calibration).MaxStateTokens()
	if in.Count(in.Head.Summary) > limit {
		in.Head.Summary, in.HeadCapped = librarian.Trim(in.Head.Summary, limit, in.Count), true
	}
}

// now is the date and time of a request as text: for a turn, when its message was accepted, so that all its attempts
// agree.
func (e *Engine) now(t *chat.Turn) string {
	at := e.clock.Now()
	if t != nil && !t.CreatedAt.IsZero() {
		at = t.CreatedAt
	}
	return timeText(at.Local())
}

func timeText(at time.Time) string {
	zone := "UTC" + at.Format("-07:00")
	if _, offset := at.Zone(); offset == 0 {
		zone = "UTC"
	}
	return at.Format("Monday, 2 January 2006, 15:04") + " " + zone
}
