package chat

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestATitleIsBounded(t *testing.T) {
	for _, c := range []string{"a", "é", "漢", "😀"} {
		longest := strings.Repeat(c, MaxTitleRunes)
		if got := BoundTitle(longest); got != longest {
			t.Errorf("%s: a title of the maximum length was cut to %d", c, utf8.RuneCountInString(got))
		}
		for _, more := range []int{1, 1 << 20} {
			got := BoundTitle(longest + strings.Repeat(c, more))
			if got != longest {
				t.Errorf("%s, %d more: %d characters", c, more, utf8.RuneCountInString(got))
			}
		}
	}
}
