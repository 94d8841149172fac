package transfer

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/internal/dates"
)

// moment is a date as exports write it: a number or a text in any form that package
// dates reads.
type moment struct {
	time.Time        // zero: none was given, or it could not be read
	unread    string // what could not be read
}

// UnmarshalJSON never fails: a date that cannot be read is not worth a conversation.
func (m *moment) UnmarshalJSON(data []byte) error {
	*m = readMoment(data)
	return nil
}

// noDate are values that programs write where they have no date.
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

// date is a moment of the draft. One that cannot be read is counted, and named in the
// report: no other date is put in its place.
func (d *draft) date(m moment) time.Time {
	d.Unread.Add(m.unread)
	return m.Time
}

// unreadNotice says the outcome of what has a date that could not be read.
func unreadNotice(u dates.Unread) string {
	return "A date could not be read, for example " + u.Named() + "; what it belongs to was imported in order, without its own date."
}
