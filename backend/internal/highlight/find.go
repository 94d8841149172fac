// Package highlight finds texts in texts as people look for them, whatever their
// case, and cuts out the words around them.
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

// Finder looks for one text.
type Finder struct {
	needle    []rune
	matchCase bool
	plain     bool // letters count without their accents, as in the text index
	escaped   bool // stored JSON writes some of it in another way
}

// NewFinder looks for a text as it is written, or in any case.
func NewFinder(text string, matchCase bool) Finder {
	return newFinder(text, Finder{matchCase: matchCase})
}

func newFinder(text string, f Finder) Finder {
	for _, r := range text {
		f.escaped = f.escaped || r < ' ' || r == '"' || r == '\\' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
	}
	if f.matchCase {
		f.needle = []rune(text)
		return f
	}
	for at := 0; at < len(text); {
		r, n := f.foldAt(text, at)
		f.needle = append(f.needle, r)
		at += n
	}
	return f
}

// Spans are the places of the text, none over another; of all of them at most limit
// (0: none is listed), and how many there are.
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

// In reports that a text holds what is looked for.
func (f Finder) In(text string) bool {
	start, _ := f.next(text, 0)
	return start >= 0
}

// InJSON reports that stored JSON may hold it in one of its strings: what it denies
// need not be decoded.
func (f Finder) InJSON(raw string) bool { return f.escaped || f.In(raw) }

// next is the first place at or after a byte; -1: none.
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
		r, n := f.foldAt(text, at)
		if r == first {
			if end, ok := f.matches(text, at+n); ok {
				return at, end
			}
		}
		at += n
	}
	return -1, -1
}

// matches reports that the rest of the needle is at a byte, and where it ends.
func (f Finder) matches(text string, at int) (int, bool) {
	for _, want := range f.needle[1:] {
		if at >= len(text) {
			return 0, false
		}
		r, n := f.foldAt(text, at)
		if r != want {
			return 0, false
		}
		at += n
	}
	return at, true
}

func (f Finder) fold(r rune) rune {
	if f.plain {
		return fold(unaccented(r))
	}
	return fold(r)
}

func (f Finder) foldAt(text string, at int) (rune, int) {
	if b := text[at]; b < utf8.RuneSelf {
		return lower[b], 1
	}
	r, n := lexical.FoldAt(text, at)
	return f.fold(r), n
}

// latinEnd is the first character after those of Latin scripts with accents.
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

// unaccented is a Latin letter without its accents.
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

// caseless is the first character of scripts without case that are common: they fold
// to themselves.
const caseless = 0x2E80

// fold is one character for all that differ in case alone: the smallest, if it is a
// letter of ASCII in lower case.
func fold(r rune) rune {
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

// Fold is a text with what differs in case alone made the same, for comparing.
func Fold(s string) string { return strings.Map(fold, s) }
