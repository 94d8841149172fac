// Package dates parses the dates in exports and corpora. A text has one reading or none: an ambiguous one
// ("03/04/2024", "30.12.23") is not parsed, so that a date is never misread.
//
// The formats, listed for users in docs/guide/import.md: seconds, milliseconds, microseconds or nanoseconds since
// 1970; digits only (20231230, 20231230T150405Z); year first (ISO 8601, 2023/12/30, 2023.12.30, 2023年12月30日); day,
// month and year with dots; slashes or hyphens if only one order is possible; a month name in any of several
// languages. Each may have a time, and a time may have a zone; without one it is UTC.
package dates

import (
	"math"
	"strconv"
	"strings"
	"time"

	"contextinfinity/backend/internal/pattern"
)

const (
	firstYear = 1970
	lastYear  = 2200
	// maxText is the maximum length of a date, in bytes.
	maxText = 100
)

// Parse parses a date as UTC, to the millisecond.
func Parse(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxText {
		return time.Time{}, false
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return plausible(t)
	}
	if t, ok := compact(text); ok {
		return plausible(t)
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return fromEpoch(n)
	}
	return written(strings.ToLower(text))
}

// fromEpoch reads a count since 1970, in a unit chosen by its size: seconds from 1973 to the year 5138, milliseconds
// and finer units from then on. A smaller number is a year, a spreadsheet's serial number, or not a date.
func fromEpoch(n float64) (time.Time, bool) {
	if math.IsNaN(n) || n < 1e8 || n > 1e20 {
		return time.Time{}, false
	}
	for n >= 1e11 {
		n /= 1000
	}
	return plausible(time.UnixMilli(int64(math.Round(n * 1000))))
}

// plausible refuses dates that no conversation can have.
func plausible(t time.Time) (time.Time, bool) {
	t = t.UTC().Truncate(time.Millisecond)
	if t.Year() < firstYear || t.Year() > lastYear {
		return time.Time{}, false
	}
	return t, true
}

// digits matches a date, optionally with a time, without separators.
var digits = pattern.New(`^(\d{4})(\d\d)(\d\d)(?:[Tt _]?(\d\d)(\d\d)(\d\d)?)?([Zz]|[+-]\d\d:?\d\d)?$`)

// compact parses a date of digits only. Read as seconds since 1970, it would be in the 1970s.
func compact(text string) (time.Time, bool) {
	m := digits().FindStringSubmatch(text)
	if m == nil || m[4] == "" && m[7] != "" {
		return time.Time{}, false
	}
	zone, ok := zoneOf(strings.ToLower(m[7]))
	if !ok {
		return time.Time{}, false
	}
	return moment{day: number(m[3]), month: number(m[2]), year: number(m[1]), hour: number(m[4]), minute: number(m[5]), second: number(m[6]), zone: zone}.time()
}

// moment is a date in parts.
type moment struct {
	year, month, day     int
	hour, minute, second int
	nanos                int
	zone                 time.Duration // east of UTC
}

// time returns the moment as a time in UTC; false if a part is outside of the calendar or the clock.
func (m moment) time() (time.Time, bool) {
	t := time.Date(m.year, time.Month(m.month), m.day, m.hour, m.minute, m.second, m.nanos, time.UTC)
	ok := m.year >= firstYear && m.year <= lastYear && t.Year() == m.year && int(t.Month()) == m.month && t.Day() == m.day &&
		m.hour < 24 && m.minute < 60 && m.second < 60
	return t.Add(-m.zone), ok
}

// remarks are texts in brackets: the day of the week, the name of the zone.
var remarks = pattern.New(`\([^()]*\)|\[[^\[\]]*\]`)

// written parses a text in lower case: its time, then the remaining date.
func written(text string) (time.Time, bool) {
	text = strings.Join(strings.Fields(remarks().ReplaceAllString(text, " ")), " ")
	m, date, ok := clockOf(text)
	if !ok {
		return time.Time{}, false
	}
	date = strings.Join(dateWords(date), " ")
	if m.year, m.month, m.day, ok = numericDate(date); !ok {
		m.year, m.month, m.day, ok = namedDate(date)
	}
	if !ok {
		return time.Time{}, false
	}
	t, ok := m.time()
	if !ok {
		return t, false
	}
	return plausible(t)
}

// number is the value of digits; 0 for none.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
