package chat

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTitleFrom(t *testing.T) {
	words := strings.Repeat("word ", 40)
	cases := map[string]struct{ text, want string }{
		"short":                   {"How do I fold a map?", "How do I fold a map?"},
		"lines become one":        {"  first\n\tsecond \r\n third  ", "first second third"},
		"empty":                   {" \n\t ", ""},
		"cut at a word":           {words, strings.TrimSpace(strings.Repeat("word ", 12))},
		"exactly sixty":           {strings.Repeat("x", 60), strings.Repeat("x", 60)},
		"one long word":           {strings.Repeat("a", 64<<10), strings.Repeat("a", 60)},
		"chinese":                 {strings.Repeat("中", 100), strings.Repeat("中", 60)},
		"controls go":             {"a\x1b[31mred\u202e b\x00", "a[31mred b"},
		"invalid bytes go":        {"ab\xff\xfecd", "abcd"},
		"no comma before the cut": {strings.Repeat("x", 40) + ", " + strings.Repeat("y", 40), strings.Repeat("x", 40)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := TitleFrom(c.text)
			if got != c.want {
				t.Errorf("TitleFrom = %q, want %q", got, c.want)
			}
			if n := utf8.RuneCountInString(got); n > TitleRunes {
				t.Errorf("%d runes", n)
			}
		})
	}
}
