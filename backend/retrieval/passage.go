package retrieval

import (
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

// passage is the part of a span that contains most of the query, for a span that takes over half of the budget. It
// begins and ends between words.
func (k *packer) passage(source string, span chat.Span) chat.Span {
	text := source[span.Start:span.End]
	size := max(k.q.MaxTokens*2, 64) // bytes of about half of the budget
	if len(text) <= size {
		return span
	}
	at := densest(strings.ToLower(text), Terms(k.q.Text), size)
	from := boundaryBefore(text, at, size/4)
	to := from + size
	if to >= len(text) {
		to = len(text)
	} else if cut := strings.LastIndexAny(text[from:to], " \n\t"); cut > size/2 {
		to = from + cut
	} else {
		for to > from && !utf8.RuneStart(text[to]) {
			to--
		}
	}
	return chat.Span{Start: span.Start + from, End: span.Start + to}
}

// densest is the beginning of the window of size bytes with the most different terms; the first one of several.
func densest(lower string, terms []string, size int) int {
	best, mostTerms := 0, 0
	for at := 0; at < len(lower); at += max(size/4, 1) {
		part, n := lower[at:min(at+size, len(lower))], 0
		for _, t := range terms {
			if strings.Contains(part, t) {
				n++
			}
		}
		if n > mostTerms {
			best, mostTerms = at, n
		}
	}
	return min(best, max(len(lower)-size, 0))
}

// boundaryBefore is the end of a line, sentence or word at a position or up to back bytes before it.
func boundaryBefore(text string, at, back int) int {
	if at <= 0 || at >= len(text) {
		return 0
	}
	from := max(at-back, 0)
	for _, sep := range []string{"\n", ". ", " "} {
		if i := strings.LastIndex(text[from:at], sep); i >= 0 {
			return from + i + len(sep)
		}
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
