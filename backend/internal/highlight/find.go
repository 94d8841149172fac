// Package highlight finds texts the way people search, ignoring case, and extracts the text around matches.
package highlight

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"contextinfinity/backend/internal/lexical"
)

// Span is a half-open range of bytes.
type Span struct{ Start, End int }

// Finder searches for one text.
type Finder struct {
	needle    []rune
	matchCase bool
	escaped   bool // stored JSON may encode parts of it differently
}

// NewFinder searches for a text exactly as it is written, or as the text index does: ignoring case, accents, and forms of
// letters that people do not tell apart (lexical.Fold).
func NewFinder(text string, matchCase bool) Finder {
	f := Finder{matchCase: matchCase}
	for _, r := range text {
		f.escaped = f.escaped || r < ' ' || r == '"' || r == '\\' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
	}
	if f.matchCase {
		f.needle = []rune(text)
		return f
	}
	for at := 0; at < len(text); {
		r, n := foldAt(text, at)
		if r >= 0 {
			f.needle = append(f.needle, r)
		}
		at += n
	}
	return f
}

// Spans returns the non-overlapping matches, at most limit of them (0: none), and how many there are.
func (f Finder) Spans(text string, limit int) (spans []Span, total int) {
	for at := 0; ; {
		start, end := f.next(text, at)
		if start < 0 {
			return spans, total
		}
		if total++; len(spans) < limit {
			spans = append(spans, Span{start, end})
		}
		at = end
	}
}

// In reports whether a text contains a match.
func (f Finder) In(text string) bool {
	start, _ := f.next(text, 0)
	return start >= 0
}

// InJSON reports whether a string in stored JSON may contain a match. If not, it need not be decoded.
func (f Finder) InJSON(raw string) bool { return f.escaped || f.In(raw) }

// next returns the first match at or after a byte; -1: none.
func (f Finder) next(text string, at int) (start, end int) {
	if len(f.needle) == 0 {
		return -1, -1
	}
	if f.matchCase {
		needle := string(f.needle)
		if i := strings.Index(text[at:], needle); i >= 0 {
			return at + i, at + i + len(needle)
		}
		return -1, -1
	}
	first := f.needle[0]
	for at < len(text) {
		r, n := foldAt(text, at)
		if r == first {
			if end, ok := f.matches(text, at+n); ok {
				return at, end
			}
		}
		at += n
	}
	return -1, -1
}

// matches reports whether the rest of the needle matches at a byte, and where the match ends.
func (f Finder) matches(text string, at int) (int, bool) {
	for _, want := range f.needle[1:] {
		if at >= len(text) {
			return 0, false
		}
		r, n := foldAt(text, at)
		if r != want {
			return 0, false
		}
		at += n
	}
	return at, true
}

func foldAt(text string, at int) (rune, int) {
	if b := text[at]; b < utf8.RuneSelf && (at+1 == len(text) || text[at+1] < utf8.RuneSelf) {
		return lower[b], 1
	}
	r, n := lexical.FoldAt(text, at)
	return fold(unaccented(r)), n
}

// latinEnd is the first character after the Latin letters with accents.
const latinEnd = 0x250

var bases = func() (table [latinEnd]rune) {
	for i := range table {
		table[i] = rune(i)
		if letters := norm.NFD.String(string(rune(i))); i >= utf8.RuneSelf {
			table[i], _ = utf8.DecodeRuneInString(letters)
		}
	}
	return table
}()

// unaccented returns a Latin letter without its accents.
func unaccented(r rune) rune {
	if r >= 0 && r < latinEnd {
		return bases[r]
	}
	return r
}

var lower = func() (table [utf8.RuneSelf]rune) {
	for i := range table {
		table[i] = unicode.ToLower(rune(i))
	}
	return table
}()

// caseless is the first character of the common scripts without case, which fold to themselves.
const caseless = 0x2E80

// fold returns one character for all that differ only in case: the smallest, or a lower-case ASCII letter.
func fold(r rune) rune {
	if r < 0 {
		return r
	}
	if r < utf8.RuneSelf {
		return lower[r]
	}
	if r >= caseless && r < 0xA640 {
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least < utf8.RuneSelf {
		return lower[least]
	}
	return least
}

// Fold folds the case of a text for comparison.
func Fold(s string) string { return strings.Map(fold, s) }
