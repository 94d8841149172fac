package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// Japanese characters that belong to more than one script.
const (
	longVowel      = 'ー'
	halfLongVowel  = 'ｰ'
	voiced         = '\u3099' // combining, as in か + ゙ = が
	semiVoiced     = '\u309A'
	halfVoiced     = 'ﾞ'
	halfSemiVoiced = 'ﾟ'
)

// Fold returns a text with one form for letters and digits that exist in two widths, and for kana with a voiced sound
// mark: ｻｰﾊﾞｰ becomes サーバー, ＡＰＩ becomes API. Variation selectors for ideographs are removed. Other texts are returned
// unchanged.
func Fold(text string) string {
	start := strings.IndexFunc(text, mayFold)
	if start < 0 {
		return text
	}
	_, before := utf8.DecodeLastRuneInString(text[:start]) // a mark changes the preceding letter
	start -= before
	var b strings.Builder
	b.Grow(len(text))
	b.WriteString(text[:start])
	for at := start; at < len(text); {
		r, size := FoldAt(text, at)
		if r == utf8.RuneError {
			b.WriteString(text[at : at+size])
		} else {
			b.WriteRune(r)
		}
		at += size
	}
	return b.String()
}

// FoldAt returns the folded character at a position of a text, and the number of bytes that it replaces.
func FoldAt(text string, at int) (rune, int) {
	r, n := utf8.DecodeRuneInString(text[at:])
	if r = oneWidth(r); !IsUnspaced(r) {
		return r, n
	}
	for {
		next, size := utf8.DecodeRuneInString(text[at+n:])
		if mark := oneWidth(next); mark == voiced || mark == semiVoiced {
			composed := []rune(norm.NFC.String(string([]rune{r, mark})))
			if len(composed) > 1 {
				return r, n
			}
			r = composed[0]
		} else if !isSelector(next) {
			return r, n
		}
		n += size
	}
}

// mayFold reports whether Fold may replace or remove a character.
func mayFold(r rune) bool {
	return r == voiced || r == semiVoiced || isSelector(r) || oneWidth(r) != r
}

// oneWidth is a letter, digit or mark in its usual width.
func oneWidth(r rune) rune {
	if r < 0xFF10 || r > 0xFFDC || !unicode.IsLetter(r) && !unicode.IsNumber(r) {
		return r
	}
	if folded := width.LookupRune(r).Folded(); folded != 0 {
		return folded
	}
	return r
}

// isSelector reports whether a character is a variation selector.
func isSelector(r rune) bool { return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF }
