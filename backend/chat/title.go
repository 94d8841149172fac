package chat

import (
	"strings"
	"unicode"
)

// TitleRunes is the maximum length of a title derived from a message, in characters.
const TitleRunes = 60

// MaxTitleRunes is the maximum length of a session's title, a branch's label and a folder's name, in characters.
// Lists, menus and file names show less.
const MaxTitleRunes = 1_000

// BoundTitle cuts a title to MaxTitleRunes.
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

// TitleFrom is the title of a new session: the first words of its first message on one line, at most TitleRunes long,
// cut between words if possible. It is empty for a text without a visible character.
func TitleFrom(text string) string { return firstWords(text, TitleRunes) }

// firstWords are the first words of a text, on one line and at most this many characters.
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

// cutTitle shortens a title, between words if that keeps most of it. It adds no ellipsis, because a title is a name
// that people type and search for.
func cutTitle(title []rune) string {
	s := string(title)
	if i := strings.LastIndexByte(s, ' '); i > len(s)/2 {
		s = s[:i]
	}
	return strings.TrimRight(s, " ,;:")
}
