package cli

import (
	"strings"

	"contextinfinity/backend/internal/highlight"
	"contextinfinity/backend/retrieval"
)

// explain adds why a result was found.
func (r *resultRow) explain(m retrieval.Match) {
	r.Matched, r.Why = append([]string{}, m.Words...), m.String()
	r.excerpt = excerpt(r.Text, m.Words)
}

// excerpt returns the part of a text around the matching words, or its beginning.
func excerpt(text string, words []string) string {
	// The space makes the last word a complete one instead of the beginning of one.
	spans, _, _ := highlight.All(text, highlight.Parse(strings.Join(words, " ")+" "))
	if len(spans) == 0 || spans[0].Start <= shownText/2 {
		return text
	}
	out, _ := highlight.Snippet(text, spans)
	return out
}
