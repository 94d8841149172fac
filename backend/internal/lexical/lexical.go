// Package lexical divides texts into the words by which they are searched and compared, in
// scripts with spaces between words and in scripts without. The text index and the queries
// divide a text with the same functions, so that a word of a text finds it. It is pure.
package lexical

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/numerals"
)

// unspaced are the scripts that are written without spaces between words, and Korean, whose
// particles are joined to a word.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// IsUnspaced reports a letter, mark or digit of a script that is written without spaces
// between words. Signs that several scripts share, as the long vowel mark, belong to no
// script in Unicode; they are inside words anyway.
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

// IsEastAsian reports a character of the scripts of China, Japan and Korea. The sizes of
// stored chunks and the vectors of the embedded embedder depend on it: another set needs
// another version of both, even where IsUnspaced knows better.
func IsEastAsian(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// runs are the parts of a folded text that are unspaced as a whole or not at all, in order.
func runs(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for text != "" {
			first, _ := utf8.DecodeRuneInString(text)
			is := IsUnspaced(first)
			end := strings.IndexFunc(text, func(r rune) bool { return IsUnspaced(r) != is })
			if end < 0 {
				end = len(text)
			}
			if !yield(text[:end], is) {
				return
			}
			text = text[end:]
		}
	}
}

// Words are the words of a text in lower case and folded, in order: runs of letters, digits
// and marks. A change between a script with spaces and one without is a border too. A
// number in groups is one word: 1,000 is 1000.
func Words(text string) []string {
	var out []string
	EachWord(text, func(word string) { out = append(out, word) })
	return out
}

// EachWord calls yield with each of a text's Words. It reads ASCII, of which most texts
// are, without a detour.
func EachWord(text string, yield func(string)) {
	text = numerals.Plain(Fold(text))
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
		for word := range strings.FieldsFuncSeq(run, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }) {
			yield(word)
		}
	}
}

func isASCIIWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// Pairs are the overlapping pairs of characters of one of a text's Words, as the index holds
// them, if it is of a script without spaces; a word of up to two characters, and any other
// word, is returned as it is.
func Pairs(word string) []string {
	if first, _ := utf8.DecodeRuneInString(word); !IsUnspaced(first) {
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

// eachPair calls yield with each pair of characters of an unspaced run, and at its end with
// its last character alone.
func eachPair(run string, yield func(pair string, isLast bool)) {
	for run != "" {
		one := character(run)
		two := one + character(run[one:])
		yield(run[:two], one == two)
		run = run[one:]
	}
}

// character is the size of the first character of a run with the marks on it: in Thai and the
// scripts of its neighbours most vowels are marks.
func character(run string) int {
	for i, r := range run {
		if i > 0 && !unicode.IsMark(r) {
			return i
		}
	}
	return len(run)
}

// IndexText is a text as the text index holds it. The tokenizer does not split scripts
// without spaces, so a run of their characters becomes its overlapping pairs and its last
// character alone. 我爱猫 is indexed as 我爱 爱猫 猫: a longer term is found as a phrase of
// pairs, a single character as the beginning of a token. Text without such runs, and
// without letters of another width, is returned as it is.
func IndexText(text string) string {
	text = Fold(text)
	if !strings.ContainsFunc(text, IsUnspaced) {
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

// privateUse is the beginning of the characters that Unicode gives no meaning.
const privateUse = 0xE000

// indexed is a character as a token may hold it. For the tokenizer marks divide words, and
// characters for private use belong to them.
func indexed(r rune) rune {
	if unicode.IsMark(r) {
		return privateUse + r&0xFFF
	}
	return r
}

// Phrase is a term as the phrase of tokens by which IndexText holds it. isBeginning reports that
// the last of them is a single character of a script without spaces: in the index it is the
// beginning of pairs.
func Phrase(term string) (phrase string, isBeginning bool) {
	tokens := strings.Fields(IndexText(term))
	characters := 0
	for run, isUnspaced := range runs(Fold(term)) {
		if characters = 0; isUnspaced {
			eachPair(run, func(string, bool) { characters++ })
		}
	}
	if characters > 1 { // the last one alone is at the ends of runs, not inside
		tokens = tokens[:len(tokens)-1]
	}
	return strings.Join(tokens, " "), characters == 1
}

// Trim is a term without the signs before and after it. The marks of a script without spaces
// are part of its last character.
func Trim(term string) string {
	return strings.TrimFunc(term, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !IsUnspaced(r) })
}
