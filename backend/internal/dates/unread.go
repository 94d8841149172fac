package dates

import (
	"slices"
	"strconv"
	"strings"

	"contextinfinity/backend/internal/lists"
)

// Unread counts the dates of a file that could not be parsed, with examples.
type Unread struct {
	Count    int      `json:"count"`
	Examples []string `json:"examples"` // the first different ones, shortened
}

const (
	maxExamples = 5
	maxExample  = 40 // bytes
)

// Add counts an unparsed date; an empty one does not count.
func (u *Unread) Add(text string) {
	if text != "" {
		u.Merge(Unread{1, []string{strings.ToValidUTF8(text[:min(len(text), maxExample)], "")}})
	}
}

// Merge adds another count.
func (u *Unread) Merge(other Unread) {
	u.Count += other.Count
	for _, text := range other.Examples {
		if len(u.Examples) < maxExamples && !slices.Contains(u.Examples, text) {
			u.Examples = append(u.Examples, text)
		}
	}
}

// Named lists the examples, quoted.
func (u Unread) Named() string {
	quoted := lists.Map(u.Examples, strconv.Quote)
	return strings.Join(quoted, ", ")
}
