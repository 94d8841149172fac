package dates

import (
	"strings"
	"time"

	"contextinfinity/backend/internal/pattern"
)

// clock is a time of day with an optional zone: "15:04", "3:04:05.678 pm gmt+01:00", "3 pm".
var clock = pattern.New(`(?:^|[\st,])(\d{1,2})(?:(?::|h)(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d*)?)?\s?([ap]\.?m\b\.?)?|\s?([ap]\.?m\b\.?))` +
	`(?:\s?((?:gmt|utc)?[+-]\d\d?(?::?\d\d)?|[a-z]+)\b)?`)

// clockOf removes the time of day from a text. A text without one is at midnight.
func clockOf(text string) (m moment, rest string, ok bool) {
	at := clock().FindStringSubmatchIndex(text)
	if at == nil {
		return m, text, true
	}
	group := func(i int) string {
		if at[2*i] < 0 {
			return ""
		}
		return text[at[2*i]:at[2*i+1]]
	}
	m.hour, m.minute, m.second = number(group(1)), number(group(2)), number(group(3))
	if fraction := group(4); fraction != "" {
		m.nanos = number((fraction + "00000000")[:9])
	}
	end := at[1]
	if zone := group(7); zone != "" {
		if m.zone, ok = zoneOf(zone); !ok {
			if _, word := words[zone]; !word {
				return m, "", false // an unknown zone, or not part of a date
			}
			end = at[14]
		}
	}
	if m.hour, ok = hourOf(m.hour, group(5)+group(6)); !ok {
		return m, "", false
	}
	return m, text[:at[0]] + " " + text[end:], true
}

// hourOf converts an hour followed by am or pm, if there is one.
func hourOf(hour int, half string) (int, bool) {
	switch {
	case half == "":
		return hour, true
	case hour < 1 || hour > 12:
		return hour, false
	case strings.HasPrefix(half, "p"):
		return hour%12 + 12, true
	}
	return hour % 12, true
}

// zones are the abbreviations of RFC 822 and of Europe and East Asia. CST, IST and BST are ambiguous and not
// accepted.
var zones = map[string]float64{
	"": 0, "z": 0, "utc": 0, "gmt": 0, "ut": 0, "wet": 0, "west": 1, "cet": 1, "cest": 2, "mez": 1, "mesz": 2, "met": 1, "mest": 2,
	"eet": 2, "eest": 3, "msk": 3, "jst": 9, "kst": 9, "est": -5, "edt": -4, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "aedt": 11, "nzst": 12, "nzdt": 13,
}

var offset = pattern.New(`^(?:gmt|utc)?([+-])(\d\d?)(?::?(\d\d))?$`)

// zoneOf is the offset of a zone, east of UTC.
func zoneOf(name string) (time.Duration, bool) {
	if hours, ok := zones[name]; ok {
		return time.Duration(hours * float64(time.Hour)), true
	}
	m := offset().FindStringSubmatch(name)
	if m == nil || number(m[2]) > 14 || number(m[3]) > 59 {
		return 0, false
	}
	d := time.Duration(number(m[2]))*time.Hour + time.Duration(number(m[3]))*time.Minute
	if m[1] == "-" {
		d = -d
	}
	return d, true
}
