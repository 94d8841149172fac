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
	begins map[string]int  // beginning of a hash or of a long number -> number of the term
	apart  map[string]int  // word that is written as two -> number of the term
}

func newMatcher(terms []string) *matcher {
	m := &matcher{
		terms:  map[string]int{},
		starts: map[string]bool{},
		known:  map[string]int{},
		single: map[string]int{},
		begins: map[string]int{},
		apart:  map[string]int{},
	}
	for i, t := range terms {
		if _, isBeginning := lexical.Phrase(t); isBeginning {
			m.single[t] = i
			continue
		}
		if lexical.IsBeginning(t) {
			m.begins[t] = i
			continue
		}
		if first, second, ok := strings.Cut(t, " "); ok {
			m.apart[first+second] = i
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
	n, last := 0, ""
	lexical.EachWord(text, func(word string) {
		n++
		for character, t := range m.single { // single characters occur inside pairs
			counts[t] += strings.Count(word, character)
		}
		m.addBeginnings(word, counts)
		for _, part := range lexical.Pairs(word) {
			m.add(part, last, counts)
		}
		last = word
	})
	for parts := range lexical.Names(text) {
		last = ""
		for _, part := range parts {
			part = strings.ToLower(part)
			m.add(part, last, counts)
			last = part
		}
	}
	if len(m.begins) > 0 {
		for number := range lexical.Numbers(text) {
			m.addBeginnings(number, counts)
		}
	}
	return n
}

// add counts a word, and the word that it forms with the one before it.
func (m *matcher) add(word, before string, counts []int) {
	if t := m.term(word); t >= 0 {
		counts[t]++
	}
	if len(m.apart) == 0 {
		return
	}
	if t, ok := m.apart[before+word]; ok && before != "" {
		counts[t]++
	}
}

func (m *matcher) addBeginnings(word string, counts []int) {
	for beginning, t := range m.begins {
		if strings.HasPrefix(word, beginning) {
			counts[t]++
		}
	}
}
