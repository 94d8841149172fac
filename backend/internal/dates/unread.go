package dates

import (
	"slices"
	"strconv"
	"strings"

	"contextinfinity/backend/internal/lists"
)

// Unread counts the dates of a file that could not be read, and names some.
type Unread struct {
	Count    int      `json:"count"`
	Examples []string `json:"examples"` // the first that differ, shortened
}

const (
	maxExamples = 5
	maxExample  = 40 // bytes
)

// Add counts a date that could not be read; an empty one was none.
func (u *Unread) Add(text string) {
	if text != "" {
		u.Merge(Unread{1, []string{strings.ToValidUTF8(text[:min(len(text), maxExample)], "")}})
	}
}

// Merge adds what was counted elsewhere.
func (u *Unread) Merge(other Unread) {
	u.Count += other.Count
	for _, text := range other.Examples {
		if len(u.Examples) < maxExamples && !slices.Contains(u.Examples, text) {
			u.Examples = append(u.Examples, text)
		}
	}
}

// Named are the examples, quoted.
func (u Unread) Named() string {
	quoted := lists.Map(u.Examples, strconv.Quote)
	return strings.Join(quoted, ", ")
}
