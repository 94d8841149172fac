package untrusted

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible removes what a reader would not see. Line ends of every kind become line feeds; other control characters,
// and invalid code points, become U+FFFD. Zero-width characters, those that change the text direction and those that
// can carry a hidden text are removed, except where a script or an emoji needs them: see keepsJoiner and
// keepsSelector. Visible(Visible(s)) is Visible(s).
func Visible(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	last := rune(-1) // the last character written
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case r == '\r' && i < len(s) && s[i] == '\n':
			continue
		case isLineEnd(r):
			r = '\n'
		case r == '\t':
		case r == brailleBlank:
			r = ' '
		case unicode.IsControl(r) || isNonCharacter(r):
			r = utf8.RuneError
		case isJoiner(r):
			if !keepsJoiner(r, last, firstVisible(s[i:])) {
				continue
			}
		case unicode.Is(unicode.Variation_Selector, r):
			if !keepsSelector(r, last, firstVisible(s[i:])) {
				continue
			}
		case isHidden(r):
			continue
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// isPlain reports whether a text consists of printable ASCII, tabs and line feeds.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7F || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

func isLineEnd(r rune) bool {
	return r >= '\n' && r <= '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// brailleBlank is a space in Braille, and invisible elsewhere.
const brailleBlank = 0x2800

func isNonCharacter(r rune) bool { return r >= 0xFDD0 && r <= 0xFDEF || r&0xFFFE == 0xFFFE }

const (
	nonJoiner = 0x200C
	joiner    = 0x200D
)

func isJoiner(r rune) bool { return r == nonJoiner || r == joiner }

// isHidden reports whether a character is invisible: Default_Ignorable_Code_Point and the other format characters,
// except signs of Arabic and other scripts that are drawn although they are format characters.
func isHidden(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r >= 0xE0000 && r <= 0xE0FFF
}

// firstVisible returns the first character of s that Visible may keep; -1 at the end.
func firstVisible(s string) rune {
	for _, r := range s {
		if !isHidden(r) {
			return r
		}
	}
	return -1
}

// keepsJoiner reports whether a joiner or non-joiner changes how its neighbours are drawn: next to a virama in the
// scripts of India, between two letters of Arabic and similar scripts (only a non-joiner, because letters join by
// default), or between two pictures of an emoji. Anywhere else it is invisible and can only carry hidden data.
func keepsJoiner(r, last, next rune) bool {
	switch {
	case unicode.Is(viramas, last):
		return true
	case unicode.Is(viramas, next):
		return unicode.IsLetter(last)
	case r == nonJoiner:
		return isCursive(last) && isCursive(next)
	}
	return (isPictographic(last) || last == emojiSelector || isSkinTone(last)) && isPictographic(next)
}

func isCursive(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Adlam, unicode.Hanifi_Rohingya) &&
		unicode.In(r, unicode.L, unicode.M)
}

const (
	textSelector  = 0xFE0E
	emojiSelector = 0xFE0F
	keycap        = 0x20E3
)

// keepsSelector reports whether a variation selector applies to the character before it: the text and emoji selectors
// after a picture or in a keycap, Mongolian ones after a Mongolian letter. The others choose between forms of a
// character with the same meaning.
func keepsSelector(r, last, next rune) bool {
	switch {
	case r == textSelector || r == emojiSelector:
		return isPictographic(last) || isKeycapBase(last) && next == keycap
	case r >= 0x180B && r <= 0x180F:
		return unicode.Is(unicode.Mongolian, last) && unicode.IsLetter(last)
	}
	return false
}

func isKeycapBase(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

func isSkinTone(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

func isPictographic(r rune) bool { return unicode.Is(pictographic, r) }
