package highlight

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/display"
)

// Before is the approximate number of bytes of a snippet before its first match, and Length that of the entire snippet;
// cuts are at word boundaries.
const (
	Before = 48
	Length = 200
)

// Snippet returns the text around the first span on one line, and the positions of the spans that are in it. Without spans
// it is the beginning of the text.
func Snippet(text string, spans []Span) (string, []Span) { return snippet(text, spans, false) }

// MarkdownSnippet is Snippet for Markdown, without its markup.
func MarkdownSnippet(text string, spans []Span) (string, []Span) { return snippet(text, spans, true) }

func snippet(text string, spans []Span, markdown bool) (string, []Span) {
	from := 0
	if len(spans) > 0 {
		from = wordAt(text, spans[0].Start-Before, spans[0].Start)
	}
	to := min(len(text), from+Length)
	if len(spans) > 0 {
		to = max(to, min(spans[0].End, from+2*Length))
	}
	to = display.CharacterStart(text, to)
	head := ""
	if from > 0 {
		head = "…"
	}
	var inside []Span
	for _, s := range spans {
		if s.Start >= from && s.Start < to {
			inside = append(inside, Span{s.Start - from, min(s.End, to) - from})
		}
	}
	words := text[from:to]
	if markdown {
		var out []Span
		for _, m := range marks(text, from, to) {
			if m.End > from && m.Start < to {
				out = append(out, Span{max(m.Start, from) - from, min(m.End, to) - from})
			}
		}
		words, inside = without(words, out, inside)
	}
	tail := ""
	if to < len(text) {
		tail = "…"
		if strings.ContainsRune(".!?…", lastRune(words)) { // otherwise the sentence would seem to end in four dots
			tail = " …"
		}
	}
	for i := range inside {
		inside[i] = Span{inside[i].Start + len(head), inside[i].End + len(head)}
	}
	return head + blankControls(words) + tail, inside
}

// lastRune returns the last character that is not a space.
func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(s, unicode.IsSpace))
	return r
}

// wordAt returns the start of the first word at or after a byte and before last; if there is none, that byte.
func wordAt(text string, at, last int) int {
	if at <= 0 {
		return 0
	}
	at = display.CharacterStart(text, at)
	if i := strings.IndexAny(text[at:last], " \n\t"); i >= 0 {
		return at + i + 1
	}
	return at
}

// blankControls replaces each ASCII control character by a space, so that positions stay valid.
func blankControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// UTF16 converts spans to UTF-16 units, as the page counts.
func UTF16(text string, spans []Span) []Span {
	out := make([]Span, 0, len(spans))
	for _, s := range spans {
		from := utf16Length(text[:s.Start])
		out = append(out, Span{from, from + utf16Length(text[s.Start:s.End])})
	}
	return out
}

func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
