package lexical

import (
	"strings"
	"sync"
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

// nothing is the folded form of characters that a search ignores, where no other character precedes them.
const nothing rune = -1

// Fold returns a text with one form for characters that people type in several ways and mean the same: letters and digits
// in two widths (ＡＰＩ), composed and decomposed letters, kana with a voiced sound mark, Arabic with and without vowel
// marks, hamza or article's ligatures, Persian and Arabic kaf and yeh, Hebrew with and without points, letters of Latin,
// Greek and Cyrillic that the tokenizer of the index does not reduce itself (đ, ễ, ı, ё, ς), small digits (m²), and
// apostrophes and spaces of every form. Characters that are not seen are removed: soft hyphens, zero-width characters,
// variation selectors, skin tones. Accents that the tokenizer removes itself are kept. Other texts are returned
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
		switch {
		case r == utf8.RuneError:
			b.WriteString(text[at : at+size])
		case r != nothing:
			b.WriteRune(r)
		}
		at += size
	}
	return b.String()
}

// FoldAt returns the folded character at a position of a text, and the number of bytes that it replaces. It is negative
// for ignored characters at the end of a text that consists of nothing else.
func FoldAt(text string, at int) (rune, int) {
	r, n := utf8.DecodeRuneInString(text[at:])
	for isIgnored(r) && r != zeroWidthNonJoiner { // at the beginning of a text: others belong to the character before them
		if at+n == len(text) {
			return nothing, n
		}
		next, size := utf8.DecodeRuneInString(text[at+n:])
		r, n = next, n+size
	}
	if r = oneWidth(r); r == utf8.RuneError {
		return r, n
	}
	for at+n < len(text) && text[at+n] >= utf8.RuneSelf {
		next, size := utf8.DecodeRuneInString(text[at+n:])
		switch mark := oneWidth(next); {
		case isIgnored(next) && !(next == zeroWidthNonJoiner && unicode.Is(unicode.Arabic, r)):
		case mark == voiced || mark == semiVoiced || isAccent(mark) && unicode.IsLetter(r):
			letters := []rune(norm.NFC.String(string([]rune{r, mark})))
			if len(letters) > 1 && !isAccent(mark) {
				return plain(r), n
			}
			r = letters[0] // without an accent that no letter of Unicode has
		default:
			return plain(r), n
		}
		n += size
	}
	return plain(r), n
}

// mayFold reports whether Fold may replace or remove a character.
func mayFold(r rune) bool {
	return r >= firstFolded && (plain(r) != r || r == voiced || r == semiVoiced || isAccent(r) || isIgnored(r) || oneWidth(r) != r)
}

// firstFolded is the first character that is folded: the no-break space.
const firstFolded = 0xA0

// IsFoldedAway reports whether a character belongs to the one before it, and is not searched for by itself.
func IsFoldedAway(r rune) bool { return isAccent(r) || isIgnored(r) && r != zeroWidthNonJoiner }

// isAccent reports whether r is a combining accent, as of decomposed letters.
func isAccent(r rune) bool { return r >= 0x300 && r <= 0x36F }

const zeroWidthNonJoiner = '\u200C' // between the parts of a Persian word, where it separates words

// isIgnored reports whether a character is not seen, or is a mark with which few people write.
func isIgnored(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case r == 0xAD, r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x2064, r >= 0x2066 && r <= 0x2069,
		r == 0xFEFF, isSelector(r), r >= 0x1F3FB && r <= 0x1F3FF:
		return true
	case r >= 0x591 && r <= 0x5C7: // Hebrew points and accents
		return unicode.IsMark(r)
	case r >= 0x610 && r <= 0x6ED: // Arabic vowel marks, and the line that stretches words
		return r == 0x640 || unicode.IsMark(r)
	}
	return r >= 0x8D3 && r <= 0x8FF && unicode.IsMark(r)
}

// plain returns the form in which a character is indexed.
func plain(r rune) rune {
	if r < firstFolded || r >= unspacedFrom {
		return r
	}
	if folded, ok := folds()[r]; ok {
		return folded
	}
	return r
}

// unspacedFrom is the first of the characters that have no other form than their width.
const unspacedFrom = 0x2E80

// folds are the characters with another form.
var folds = sync.OnceValue(func() map[rune]rune {
	out := map[rune]rune{}
	for from, to := range map[string]rune{
		"أإآٱ": 'ا', "ىیېےئ": 'ي', "ؤ": 'و', "ة": 'ه', "ۀہۂھە": 'ه', "ک": 'ك', "ۃ": 'ه',
		"đð": 'd', "Đ": 'D', "ł": 'l', "Ł": 'L', "ø": 'o', "Ø": 'O', "ħ": 'h', "Ħ": 'H', "ı": 'i', "ё": 'е', "Ё": 'Е', "ς": 'σ',
		"‘’‚‛ʼʹ′": '\'', "“”„‟″": '"', "‐‑": '-',
	} {
		for _, r := range from {
			out[r] = to
		}
	}
	for _, digits := range []string{"٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "⁰¹²³⁴⁵⁶⁷⁸⁹", "₀₁₂₃₄₅₆₇₈₉"} {
		value := '0'
		for _, r := range digits {
			out[r] = value
			value++
		}
	}
	for _, block := range [][2]rune{{0xC0, 0x24F}, {0x370, 0x3FF}, {0x1E00, 0x1FFF}} {
		for r := block[0]; r <= block[1]; r++ {
			if _, has := out[r]; !has && unicode.IsLetter(r) && !tokenizerFolds(r) {
				if base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r))); base != r {
					out[r] = base
				}
			}
		}
	}
	for _, r := range "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f" {
		out[r] = ' '
	}
	return out
})

// tokenizerFolds reports whether the tokenizer of the text index removes the accent of a letter itself, as unicode61 does
// for Latin letters with one accent.
func tokenizerFolds(r rune) bool { return r < 0x180 && r != 'İ' }

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

// article is the Arabic article, which is written together with its word, and joined the words of one letter that are
// written before it: and, then, with, like.
const (
	article = "ال"
	joined  = "وفبك"
)

// shortestAfterArticle is the minimum number of letters of a word after its article: otherwise it is part of the word.
const shortestAfterArticle = 3

// afterArticle returns the length of the article at the beginning of a folded word, or 0.
func afterArticle(word string) int {
	at := strings.Index(word, article)
	if at < 0 || at > 0 && !IsArticle(word[:at+len(article)]) {
		return 0
	}
	at += len(article)
	letters := 0
	for _, r := range word[at:] {
		if !unicode.Is(unicode.Arabic, r) || !unicode.IsLetter(r) {
			break
		}
		letters++
	}
	if letters < shortestAfterArticle {
		return 0
	}
	return at
}

// IsArticle reports whether a folded text is the Arabic article, as it is written before a word.
func IsArticle(text string) bool {
	before, has := strings.CutSuffix(text, article)
	return has && (before == "" || utf8.RuneCountInString(before) == 1 && strings.Contains(joined, before))
}

// WithoutArticles returns a folded text without the Arabic articles of its words, which few people type when they search.
func WithoutArticles(text string) string {
	if !strings.Contains(text, article) {
		return text
	}
	var b strings.Builder
	for inWord, at := false, 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		if !inWord && unicode.Is(unicode.Arabic, r) {
			at += afterArticle(text[at:])
			_, n = utf8.DecodeRuneInString(text[at:])
		}
		inWord = isSpaced(r)
		b.WriteString(text[at : at+n])
		at += n
	}
	return b.String()
}
