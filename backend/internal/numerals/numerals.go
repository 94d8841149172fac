// Package numerals compares numbers in any notation: 1,000, 1.000, 1 000 and 1000 are equal, and so are 09:00 and 9 AM.
// The package is pure.
package numerals

import (
	"cmp"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Span is a whole number in a text with digit grouping.
type Span struct {
	Start, End int    // bytes
	Digits     string // without the separators
}

// longestGrouped is the maximum number of digits of a grouped number: longer runs are not amounts.
const longestGrouped = 15

// Grouped yields the numbers of a text with digit grouping: one to three digits, then groups of three, with the same
// separator throughout. A number that begins with 0, such as "0.500", is a decimal and not grouped.
func Grouped(text string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for i := 0; i < len(text); {
			if !isDigit(text[i]) {
				i++
				continue
			}
			end := digitsEnd(text, i)
			grouped := end
			if end-i <= 3 && text[i] != '0' {
				grouped = groupsEnd(text, end)
			}
			if grouped > end {
				digits := onlyDigits(text[i:grouped])
				if len(digits) <= longestGrouped && !yield(Span{i, grouped, digits}) {
					return
				}
			}
			i = grouped
		}
	}
}

// groupsEnd returns the end of the groups of three digits after a position.
func groupsEnd(text string, at int) int {
	first, from := "", at
	for {
		size := separator(text[at:])
		if size == 0 || first != "" && text[at:at+size] != first || digitsEnd(text, at+size) != at+size+3 {
			if first == "." && size > 0 && text[at:at+size] == first && digitsEnd(text, at+size) > at+size {
				return from // an address such as 192.168.178.42, or a version
			}
			return at
		}
		first = text[at : at+size]
		at += size + 3
	}
}

// separator is the length of the group separator at the beginning of a text, or 0.
func separator(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	switch r {
	case ',', '.', '\'', '’', ' ', '\u00a0', '\u2009', '\u202f':
		return size
	}
	return 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// digitsEnd is the end of the digits at a position.
func digitsEnd(text string, at int) int {
	for at < len(text) && isDigit(text[at]) {
		at++
	}
	return at
}

func onlyDigits(s string) string {
	digits := make([]byte, 0, longestGrouped)
	for i := range len(s) {
		if isDigit(s[i]) {
			digits = append(digits, s[i])
		}
	}
	return string(digits)
}

// Plain removes the separators of a text's grouped numbers: "1,000 rows" becomes "1000 rows". A text without any is
// returned unchanged.
func Plain(text string) string {
	var b strings.Builder
	last := 0
	for s := range Grouped(text) {
		b.WriteString(text[last:s.Start])
		b.WriteString(s.Digits)
		last = s.End
	}
	if last == 0 {
		return text
	}
	b.WriteString(text[last:])
	return b.String()
}

// Forms returns the two forms in which an index that splits words at signs may contain a whole number of four digits or
// more: for 1,000 and for 1000 they are "1000" and "1 000". ok is false for any other text.
func Forms(term string) (whole, groups string, ok bool) {
	whole = Plain(term)
	if len(whole) <= 3 || len(whole) > longestGrouped || whole[0] == '0' || digitsEnd(whole, 0) != len(whole) {
		return "", "", false
	}
	first := (len(whole)-1)%3 + 1
	var b strings.Builder
	b.WriteString(whole[:first])
	for at := first; at < len(whole); at += 3 {
		b.WriteString(" " + whole[at:at+3])
	}
	return whole, b.String(), true
}

// number matches digits with decimals, a time, or a following am or pm.
var number = regexp.MustCompile(`\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b)?|\d{1,2}\s?[ap]\.?m\b|\d+(?:[.,]\d+)?`)

// maxNumbers limits how many numbers of a text are compared.
const maxNumbers = 4000

// In returns a text's numbers in normal form.
func In(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range number.FindAllString(strings.ToLower(Plain(text)), maxNumbers) {
		out[normal(m)] = true
	}
	return out
}

// normal is the normal form of a number: hour and minute of a time; otherwise the digits without redundant zeros.
func normal(s string) string {
	digits := strings.TrimRight(s, "apm. \u00a0")
	afternoon, half := strings.Contains(s, "p"), strings.ContainsAny(s, "ap")
	if hour, minute, ok := strings.Cut(digits, ":"); ok || half {
		h, _ := strconv.Atoi(hour)
		if half {
			if h %= 12; afternoon {
				h += 12
			}
		}
		if !ok {
			minute = "00"
		}
		return strconv.Itoa(h) + ":" + strings.TrimSuffix(minute, ":00")
	}
	whole, decimals, _ := strings.Cut(strings.ReplaceAll(digits, ",", "."), ".")
	whole = strings.TrimLeft(whole, "0")
	whole = cmp.Or(whole, "0")
	if decimals = strings.TrimRight(decimals, "0"); decimals != "" {
		return whole + "." + decimals
	}
	return whole
}
