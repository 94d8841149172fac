package chat

import (
	"strings"
	"unicode"
)

// TitleRunes is the most a title made from a message holds, in runes.
const TitleRunes = 60

// MaxTitleRunes is the most that the title of a session, the label of a branch and the
// name of a folder hold, in runes. Lists, menus and file names show less.
const MaxTitleRunes = 1_000

// BoundTitle is a title, cut where it is longer than MaxTitleRunes.
func BoundTitle(title string) string {
	if len(title) <= MaxTitleRunes {
		return title
	}
	n := 0
	for i := range title {
		if n++; n > MaxTitleRunes {
			return title[:i]
		}
	}
	return title
}

// TitleFrom is the title of a new session: the first words of its first message
// on one line, at most TitleRunes long, cut between words where there are any.
// It is empty for a text without a visible character.
func TitleFrom(text string) string { return firstWords(text, TitleRunes) }

// firstWords are the first words of a text, on one line and of at most this many runes.
func firstWords(text string, most int) string {
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
		if len(title) > most {
			return cutTitle(title[:most])
		}
	}
	return string(title)
}

// cutTitle ends a title that continues, at a word if that keeps most of it. It adds no sign that there was more: a title is
// a name, which people type and search for.
func cutTitle(title []rune) string {
	s := string(title)
	if i := strings.LastIndexByte(s, ' '); i > len(s)/2 {
		s = s[:i]
	}
	return strings.TrimRight(s, " ,;:")
}
