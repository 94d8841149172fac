// Package numerals compares numbers however they are written: 1,000, 1.000, 1 000 and
// 1000 are the same, and so are 09:00 and 9 AM. It is pure.
package numerals

import (
	"iter"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Span is a whole number of a text that is written in groups of three digits.
type Span struct {
	Start, End int    // bytes
	Digits     string // without the separators
}

// longestGrouped is how many digits a number in groups has at most: longer runs are no
// amounts.
const longestGrouped = 15

// Grouped are the numbers of a text that are written in groups: one to three digits, then
// groups of three, all after the same separator. A text of "0.500" has none, as a number
// that begins with 0 is a decimal.
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

// groupsEnd is where the groups of three digits after a place end.
func groupsEnd(text string, at int) int {
	first := ""
	for {
		size := separator(text[at:])
		if size == 0 || first != "" && text[at:at+size] != first || digitsEnd(text, at+size) != at+size+3 {
			return at
		}
		first = text[at : at+size]
		at += size + 3
	}
}

// separator is the length of the sign between groups that a text begins with, or 0.
func separator(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	switch r {
	case ',', '.', '\'', '’', ' ', '\u00a0', '\u2009', '\u202f':
		return size
	}
	return 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// digitsEnd is where the digits at a place end.
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

// Plain is a text with its grouped numbers written without separators: "1,000 rows" is
// "1000 rows". A text without any is returned as it is.
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

// Forms are the two ways in which an index that divides words at signs may hold a whole
// number of four digits or more: 1,000 and 1000 are "1000" and "1 000". ok is false for
// any other text.
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

// number is digits with decimals, a time, or a half of a day after it.
var number = regexp.MustCompile(`\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b)?|\d{1,2}\s?[ap]\.?m\b|\d+(?:[.,]\d+)?`)

// maxNumbers bounds how many numbers of a text are compared.
const maxNumbers = 4000

// In are a text's numbers, each in one form.
func In(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range number.FindAllString(strings.ToLower(Plain(text)), maxNumbers) {
		out[normal(m)] = true
	}
	return out
}

// normal is the one form of a number: of a time hour and minute, of others the digits
// without zeros that say nothing.
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
	if whole == "" {
		whole = "0"
	}
	if decimals = strings.TrimRight(decimals, "0"); decimals != "" {
		return whole + "." + decimals
	}
	return whole
}
