package retrieval

import (
	"strings"

	"contextinfinity/backend/chat"
)

// between stands between slices of one text that do not touch.
const between = " … "

// Render is a chunk as it stands in a prompt: when and by whom it was said, then its
// words, whole, or the given slices of its source, or its summary. It is pure: a
// manifest that holds form and slices gives the same bytes again. Slices outside the
// source are left out.
func Render(c chat.ChunkText, form chat.PackedAs, slices []chat.Span) string {
	words := c.Text
	switch form {
	case chat.PackedSummary:
		words = c.Summary
	case chat.PackedSlice:
		var parts []string
		for _, s := range slices {
			if s.Start >= 0 && s.Start < s.End && s.End <= len(c.Source) {
				parts = append(parts, strings.TrimSpace(c.Source[s.Start:s.End]))
			}
		}
		words = strings.Join(parts, between)
	}
	who := string(c.Role)
	switch {
	case c.File != nil:
		who = c.File.Name
	case c.Speaker != "":
		who = c.Speaker
	}
	return "[" + c.At.UTC().Format("2 January 2006") + "] " + who + ": " + strings.TrimSpace(words)
}
