package lexical_test

import (
	"testing"

	"contextinfinity/backend/internal/lexical"
)

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abcd", "badc", 2}, {"kitten", "sitting", 3},
		{"öl", "ol", 1},
	} {
		got := lexical.Edits([]rune(tt.a), []rune(tt.b))
		if got != tt.want || lexical.Edits([]rune(tt.b), []rune(tt.a)) != got {
			t.Errorf("%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
