// Package lexical splits texts into the words by which they are searched and compared, in scripts with and without
// spaces between words. The text index and the queries use the same functions, so that a text is found by its words.
// The package is pure.
package lexical

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/numerals"
)

// unspaced are the scripts written without spaces between words, and Korean, where particles are joined to words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// IsUnspaced reports whether r is a letter, mark or digit of a script written without spaces between words. Characters
// shared by several scripts, such as the long vowel mark, belong to no script in Unicode, but only occur inside words.
func IsUnspaced(r rune) bool {
	switch {
	case r < 0x0E00, r >= 0x1E00 && r < 0x2E80:
		return false
	case r >= 0x4E00 && r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7A3:
		return true
	}
	switch r {
	case longVowel, halfLongVowel, voiced, semiVoiced, halfVoiced, halfSemiVoiced:
		return true
	}
	return unicode.In(r, unspaced...) && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r))
}

// IsEastAsian reports whether r is a character of Chinese, Japanese or Korean. The sizes of stored chunks and the vectors of the
// embedded embedder depend on it: changing the set requires a new version of both, even though IsUnspaced is more
// precise.
func IsEastAsian(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// IsEmoji reports whether r is a pictograph or another sign that means something by itself.
func IsEmoji(r rune) bool {
	return (r >= 0x2300 && r < 0x2400 || r >= 0x2600 && r < 0x27C0 || r >= 0x2B00 && r < 0x2C00 || r >= 0x1F000 && r < 0x20000) &&
		unicode.Is(unicode.So, r)
}

// IsSingle reports whether r is found without spaces around it: it is unspaced, or an emoji.
func IsSingle(r rune) bool { return IsUnspaced(r) || IsEmoji(r) }

// isSpaced reports whether r is a part of a word between spaces.
func isSpaced(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// runs yields the parts of a folded text in order, each with whether its characters stand alone.
func runs(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for text != "" {
			first, _ := utf8.DecodeRuneInString(text)
			alone := IsSingle(first)
			end := strings.IndexFunc(text, func(r rune) bool { return IsSingle(r) != alone })
			if end < 0 {
				end = len(text)
			}
			if !yield(text[:end], alone) {
				return
			}
			text = text[end:]
		}
	}
}

// Words returns the words of a text in lower case and folded, in order: runs of letters, digits and marks. A change
// between a script with spaces and one without is also a boundary. A number with digit grouping is one word: 1,000 is
// 1000.
func Words(text string) []string {
	var out []string
	EachWord(text, func(word string) { out = append(out, word) })
	return out
}

// EachWord calls yield with each of a text's Words. It has a fast path for ASCII.
func EachWord(text string, yield func(string)) {
	text = numerals.Plain(WithoutArticles(Fold(text)))
	for i := 0; i < len(text); {
		if text[i] >= utf8.RuneSelf {
			wordsOfAnyScript(text[i:], yield)
			return
		}
		if !isASCIIWord(text[i]) {
			i++
			continue
		}
		from := i
		for i < len(text) && isASCIIWord(text[i]) {
			i++
		}
		if i < len(text) && text[i] >= utf8.RuneSelf { // the word continues
			wordsOfAnyScript(text[from:], yield)
			return
		}
		yield(strings.ToLower(text[from:i]))
	}
}

func wordsOfAnyScript(text string, yield func(string)) {
	for run, isUnspaced := range runs(strings.ToLower(text)) {
		if isUnspaced {
			yield(run)
			continue
		}
		for word := range strings.FieldsFuncSeq(run, func(r rune) bool { return !isSpaced(r) }) {
			yield(word)
		}
	}
}

func isASCIIWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// Pairs returns the overlapping pairs of characters of one of a text's Words, as in the index, if the word is in a
// script without spaces. A word of up to two characters, or in another script, is returned unchanged.
func Pairs(word string) []string {
	if first, _ := utf8.DecodeRuneInString(word); !IsSingle(first) {
		return []string{word}
	}
	var out []string
	eachPair(word, func(pair string, isLast bool) {
		if !isLast || len(out) == 0 {
			out = append(out, pair)
		}
	})
	return out
}

// eachPair calls yield with each pair of characters of an unspaced run, and finally with its last character alone.
func eachPair(run string, yield func(pair string, isLast bool)) {
	for run != "" {
		size := character(run)
		pairSize := size + character(run[size:])
		yield(run[:pairSize], size == pairSize)
		run = run[size:]
	}
}

// character is the size of the first character of a run including its marks: in Thai and related scripts most vowels
// are marks.
func character(run string) int {
	for i, r := range run {
		if i > 0 && !unicode.IsMark(r) {
			return i
		}
	}
	return len(run)
}

// IndexText returns a text in the form stored in the text index. The tokenizer does not split scripts without spaces, so a
// run of their characters is replaced by its overlapping pairs and its last character alone. 我爱猫 is indexed as 我爱 爱猫
// 猫: a longer term is found as a phrase of pairs, a single character as a token prefix. The parts of names of program
// code follow the text, and the digits of numbers in groups. Text without any of these, and without letters of another
// width, is returned unchanged.
func IndexText(text string) string { return withPairs(withForms(WithoutArticles(Fold(text)))) }

func withPairs(text string) string {
	if !strings.ContainsFunc(text, IsSingle) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) * 3)
	for run, isUnspaced := range runs(text) {
		if !isUnspaced {
			b.WriteString(run)
			continue
		}
		b.WriteByte(' ')
		eachPair(run, func(pair string, _ bool) {
			for _, r := range pair {
				b.WriteRune(indexed(r))
			}
			b.WriteByte(' ')
		})
	}
	return b.String()
}

// The beginnings of Unicode's private use areas.
const (
	privateUse   = 0xE000
	privatePlane = 0xF0000
)

// indexed returns the character that represents r in a token. The tokenizer splits words at marks, but not at private
// use characters.
func indexed(r rune) rune {
	switch {
	case unicode.IsMark(r):
		return privateUse + r&0xFFF
	case IsEmoji(r):
		return privatePlane + r&0xFFFF
	}
	return r
}

// Phrase returns the phrase of tokens that IndexText creates for a term. isBeginning: the last token is a single
// character of a script without spaces, which in the index is the beginning of pairs.
func Phrase(term string) (phrase string, isBeginning bool) {
	term = WithoutArticles(Fold(term))
	tokens := strings.Fields(withPairs(term))
	characters := 0
	for run, isUnspaced := range runs(term) {
		if characters = 0; isUnspaced {
			eachPair(run, func(string, bool) { characters++ })
		}
	}
	if characters > 1 { // the single last character only occurs at the ends of runs
		tokens = tokens[:len(tokens)-1]
	}
	return strings.Join(tokens, " "), characters == 1
}

// The lengths of hashes of commits and files as people write them: git prints at least 7 digits.
const (
	shortestHash = 7
	longestHash  = 64
)

// IsHash reports whether a word looks like the hash of a commit or a file, which people write by its beginning.
func IsHash(word string) bool {
	if len(word) < shortestHash || len(word) > longestHash {
		return false
	}
	digits, letters := 0, 0
	for i := range len(word) {
		switch c := word[i] | 0x20; {
		case '0' <= word[i] && word[i] <= '9':
			digits++
		case 'a' <= c && c <= 'f':
			letters++
		default:
			return false
		}
	}
	return digits > 0 && letters > 0
}

// IsBeginning reports whether a term is found by what begins with it: a hash, a long number, or a single character of a
// script without spaces, which in the index is the beginning of pairs.
func IsBeginning(term string) bool {
	_, isBeginning := Phrase(term)
	return isBeginning || IsHash(term) || isNumber(term)
}

// Trim removes the signs before and after a term. The marks of a script without spaces are part of its last
// character.
func Trim(term string) string {
	return strings.TrimFunc(term, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !IsSingle(r) })
}
