package retrieval

import (
	"strings"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"

	"contextinfinity/backend/internal/numerals"
)

// matcher finds the terms of a query in a text, by their stems, as the index does.
type matcher struct {
	terms  map[string]int  // stem -> number of the term
	starts map[string]bool // first two bytes of the stems: what begins otherwise is no term
	known  map[string]int  // word -> number of the term, -1: none
}

func newMatcher(terms []string) *matcher {
	m := &matcher{terms: map[string]int{}, starts: map[string]bool{}, known: map[string]int{}}
	for i, t := range terms {
		stem := stemOf(t)
		if _, ok := m.terms[stem]; !ok {
			m.terms[stem] = i
		}
		m.starts[start2(stem)] = true
	}
	return m
}

func start2(s string) string { return s[:min(2, len(s))] }

// stemOf is a word without its English ending; other words stay as they are.
func stemOf(word string) string {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	return english.Stem(word, false)
}

// term is the number of the term that a word in lower case is a form of, or -1.
func (m *matcher) term(word string) int {
	if !m.starts[start2(word)] {
		return -1
	}
	if t, ok := m.known[word]; ok {
		return t
	}
	t, ok := m.terms[stemOf(word)]
	if !ok {
		t = -1
	}
	m.known[strings.Clone(word)] = t
	return t
}

// count adds the terms of a text to counts and returns how many words it has.
func (m *matcher) count(text string, counts []int) int {
	n := 0
	eachWord(text, func(word string) {
		n++
		for _, part := range pairs(word) {
			if t := m.term(part); t >= 0 {
				counts[t]++
			}
		}
	})
	return n
}

// eachWord calls yield with each word of a text, as split does. It reads ASCII, of
// which most texts are, without a detour.
func eachWord(text string, yield func(string)) {
	text = numerals.Plain(text)
	for i := 0; i < len(text); {
		if text[i] >= utf8.RuneSelf {
			for _, w := range split(text[i:]) {
				yield(w)
			}
			return
		}
		if !asciiWord(text[i]) {
			i++
			continue
		}
		from := i
		for i < len(text) && asciiWord(text[i]) {
			i++
		}
		if i < len(text) && text[i] >= utf8.RuneSelf { // the word goes on
			for _, w := range split(text[from:]) {
				yield(w)
			}
			return
		}
		yield(strings.ToLower(text[from:i]))
	}
}

func asciiWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
