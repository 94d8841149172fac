package chat

import (
	"strings"
	"unicode"
)

// TitleRunes is the most a title made from a message holds, in runes.
const TitleRunes = 60

// TitleFrom is the title of a new session: the first words of its first message
// on one line, at most TitleRunes long, cut between words where there are any.
// It is empty for a text without a visible character.
func TitleFrom(text string) string {
	var title []rune
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = len(title) > 0
			continue
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			continue // control and direction characters would garble a list
		}
		if space {
			title = append(title, ' ')
			space = false
		}
		title = append(title, r)
		if len(title) > TitleRunes {
			return cutTitle(title[:TitleRunes-1])
		}
	}
	return string(title)
}

// cutTitle ends a title that goes on, at a word if that keeps most of it.
func cutTitle(title []rune) string {
	s := string(title)
	if i := strings.LastIndexByte(s, ' '); i > len(s)/2 {
		s = s[:i]
	}
	return strings.TrimRight(s, " ,;:") + "…"
}
