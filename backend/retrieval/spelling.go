package retrieval

import (
	"cmp"
	"context"
	"slices"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/lists"
)

const (
	// maxRespelled limits the terms of a query for which similar words are looked up, and maxSpellings the number of
	// similar words for each.
	maxRespelled = 6
	maxSpellings = 2
	// spellingShare is the weight of a similar word relative to the term.
	spellingShare = 0.7
	// minSpelled is the minimum length of a term that is compared with others: too many words are similar to a short
	// one.
	minSpelled = 4
	// twoEditsFrom is the length in letters from which two of them may differ.
	twoEditsFrom = 6
	// rareUnits is the maximum number of units in which a misspelt word may occur: people repeat the misspelling of a
	// name in later questions. The intended word must then be frequencyRatio times as frequent.
	rareUnits      = 2
	frequencyRatio = 5
	// largeMemory is the number of units from which words must share their first two letters, not just one: the cost of
	// a lookup depends on how common words with that beginning are.
	largeMemory = 50_000
	// maxEnding is the maximum length of an ending, and minStem the minimum length before it.
	maxEnding = 3
	minStem   = 5
)

// similarWords returns words of the index similar to terms that occur in almost no unit: misspelt and alternative
// names, words that are written as two, and inflected forms in languages that the index does not stem.
func (e *Engine) similarWords(ctx context.Context, terms []string, freq map[string]int, all int) ([]chat.TermCount, error) {
	var out []chat.TermCount
	lookups, letters := 0, 1
	if all > largeMemory {
		letters = 2
	}
	for _, t := range terms {
		if freq[t] > rareUnits || !isSpelled(t) {
			continue
		}
		if lookups++; lookups > maxRespelled {
			break
		}
		apart, err := e.Store.Apart(ctx, t)
		if err != nil {
			return nil, err
		}
		form, known, err := e.Store.Vocabulary(ctx, t, letters, maxEnding)
		if err != nil {
			return nil, err
		}
		matches := append(apart[:min(len(apart), maxSpellings)], closest(form, known, freq[t], all)...)
		if len(matches) == 0 && freq[t] == 0 {
			if matches, err = e.compounds(ctx, t, all); err != nil {
				return nil, err
			}
		}
		for _, k := range matches {
			if !slices.Contains(terms, k.Term) {
				out = append(out, k)
			}
		}
	}
	return out, nil
}

// guesses returns the words that are searched in addition to terms that memory lacks.
func (e *Engine) guesses(ctx context.Context, terms []string, freq map[string]int, all int) ([]chat.TermCount, error) {
	out, err := e.similarWords(ctx, terms, freq, all)
	if err != nil {
		return nil, err
	}
	characters, err := e.singleCharacters(ctx, terms, freq, all)
	return append(out, characters...), err
}

// isSpelled reports whether a term is a word of letters only, and long enough: numbers and identifiers that are nearly
// equal mean something else.
func isSpelled(term string) bool {
	for _, r := range term {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return utf8.RuneCountInString(term) >= minSpelled
}

// closest returns the words most similar to a form that occurs in this many units: fewest edits first, then the most
// common. Words that are common in memory are not distinctive enough to be worth a guess.
func closest(form string, known []chat.TermCount, units, all int) []chat.TermCount {
	type candidate struct {
		chat.TermCount
		distance int
	}
	var list []candidate
	for _, k := range known {
		if k.Units > max(smallScope, all)/20 || k.Units < frequencyRatio*units || lexical.IsStopWord(k.Term) || !isSpelled(k.Term) || k.Term == form {
			continue
		}
		if d, ok := editDistance([]rune(form), []rune(k.Term)); ok {
			list = append(list, candidate{k, d})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(b.Units, a.Units), cmp.Compare(a.Term, b.Term))
	})
	return lists.Map(list[:min(len(list), maxSpellings)], func(c candidate) chat.TermCount { return c.TermCount })
}

// editDistance returns the number of edits between two words if they may be the same: few edits for their length, or
// different endings of one stem.
func editDistance(a, b []rune) (distance int, ok bool) {
	allowed := 1
	if min(len(a), len(b)) >= twoEditsFrom-1 && max(len(a), len(b)) >= twoEditsFrom {
		allowed = 2
	}
	if d := lexical.Edits(a, b); d <= allowed {
		return d, true
	}
	stem := 0
	for stem < min(len(a), len(b)) && a[stem] == b[stem] {
		stem++
	}
	rest := max(len(a), len(b)) - stem
	return rest, stem >= minStem && rest <= maxEnding
}
