package transfer

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// moment is a time as exports write it: seconds, milliseconds, microseconds or
// nanoseconds since 1970 as a number or a text, RFC 3339, or a date. What it cannot be
// is no time: the order of messages is their tree's.
type moment struct{ time.Time }

// UnmarshalJSON never fails: a time that cannot be read is not worth a conversation.
func (m *moment) UnmarshalJSON(data []byte) error {
	m.Time = readMoment(data)
	return nil
}

var dateForms = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999",
	"2006-01-02 15:04", "2006-01-02", "2006/01/02 15:04", "2006/01/02", "3:04 pm on 2 January, 2006", time.RFC1123Z, time.RFC1123,
}

func readMoment(raw json.RawMessage) time.Time {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' {
		return time.Time{}
	}
	text := string(raw)
	if raw[0] == '"' {
		if json.Unmarshal(raw, &text) != nil {
			return time.Time{}
		}
	}
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return fromNumber(n)
	}
	for _, form := range dateForms {
		if t, err := time.Parse(form, text); err == nil {
			return plausible(t)
		}
	}
	return time.Time{}
}

// fromNumber reads a count since 1970 by its size: seconds until the year 5138.
func fromNumber(n float64) time.Time {
	if math.IsNaN(n) || n <= 0 || n > 1e20 {
		return time.Time{}
	}
	for n >= 1e11 {
		n /= 1000
	}
	return plausible(time.UnixMilli(int64(math.Round(n * 1000))))
}

// plausible keeps a time that a conversation can have had, to the millisecond.
func plausible(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Millisecond)
	if t.Year() < 1970 || t.Year() > 2200 {
		return time.Time{}
	}
	return t
}
