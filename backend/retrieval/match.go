package retrieval

import (
	"strings"

	"contextinfinity/backend/internal/lexical"
)

// matcher finds the terms of a query in a text by their stems, as the index does.
type matcher struct {
	terms  map[string]int  // stem -> number of the term
	starts map[string]bool // first two bytes of the stems, to skip other words quickly
	known  map[string]int  // cache: word -> number of the term, -1: none
	single map[string]int  // single character of a script without spaces -> number of the term
	hashes map[string]int  // beginning of a hash -> number of the term
}

func newMatcher(terms []string) *matcher {
	m := &matcher{terms: map[string]int{}, starts: map[string]bool{}, known: map[string]int{}, single: map[string]int{}, hashes: map[string]int{}}
	for i, t := range terms {
		if _, isBeginning := lexical.Phrase(t); isBeginning {
			m.single[t] = i
			continue
		}
		if lexical.IsHash(t) {
			m.hashes[t] = i
			continue
		}
		stem := lexical.Stem(t)
		if _, ok := m.terms[stem]; !ok {
			m.terms[stem] = i
		}
		m.starts[start2(stem)] = true
	}
	return m
}

func start2(s string) string { return s[:min(2, len(s))] }

// term is the number of the term for a lower-case word, or -1.
func (m *matcher) term(word string) int {
	if !m.starts[start2(word)] {
		return -1
	}
	if t, ok := m.known[word]; ok {
		return t
	}
	t, ok := m.terms[lexical.Stem(word)]
	if !ok {
		t = -1
	}
	m.known[strings.Clone(word)] = t
	return t
}

// count adds the terms of a text to counts and returns its number of words.
func (m *matcher) count(text string, counts []int) int {
	n := 0
	lexical.EachWord(text, func(word string) {
		n++
		for character, t := range m.single { // single characters occur inside pairs
			counts[t] += strings.Count(word, character)
		}
		for hash, t := range m.hashes {
			if strings.HasPrefix(word, hash) {
				counts[t]++
			}
		}
		for _, part := range lexical.Pairs(word) {
			if t := m.term(part); t >= 0 {
				counts[t]++
			}
		}
	})
	return n
}
