package transfer

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/internal/dates"
)

// moment is a date in an export: a number, or a text in any format that package dates parses.
type moment struct {
	time.Time        // zero: missing or invalid
	unread    string // the invalid text
}

// UnmarshalJSON never fails: an invalid date must not cost a conversation.
func (m *moment) UnmarshalJSON(data []byte) error {
	*m = readMoment(data)
	return nil
}

// noDate are placeholders that programs write for a missing date.
var noDate = []string{"", "null", "0", "0.0", "false", "0001-01-01T00:00:00Z"}

func readMoment(raw json.RawMessage) moment {
	raw = bytes.TrimSpace(raw)
	text := string(raw)
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) != nil {
		return moment{unread: string(raw)}
	}
	text = strings.TrimSpace(text)
	if slices.Contains(noDate, text) {
		return moment{}
	}
	t, ok := dates.Parse(text)
	if !ok {
		return moment{unread: text}
	}
	return moment{Time: t}
}

// date converts a moment. An invalid one is counted and named in the report; it is not replaced by another date.
func (d *draft) date(m moment) time.Time {
	d.Unread.Add(m.unread)
	return m.Time
}

// unreadNotice says what happens to messages with an invalid date.
func unreadNotice(u dates.Unread) string {
	return "A date could not be read, for example " + u.Named() + "; the entry was imported in order, without its own date."
}
