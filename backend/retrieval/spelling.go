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
	// respelled limits the terms of a query for which similar words are looked up, and spellings the number of
	// similar words for each.
	respelled = 6
	spellings = 2
	// spellingShare is the weight of a similar word relative to the term.
	spellingShare = 0.7
	// leastSpelled is the minimum length of a term that is compared with others: short words have too many
	// neighbours.
	leastSpelled = 4
	// sureSpelled is the length in letters from which two may differ.
	sureSpelled = 6
	// rarelyHeld is the maximum number of units in which a misspelt word may occur: people repeat the misspelling of
	// a name in later questions. The intended word is then much more frequent.
	rarelyHeld   = 2
	muchMoreHeld = 5
	// vastMemory is the number of units from which words must share their first two letters, not just one: the lookup
	// cost depends on how common words with that beginning are.
	vastMemory = 50_000
	// ending is the maximum length of an ending, and leastStem the minimum length before it.
	ending    = 3
	leastStem = 5
)

// spelled returns words of the index similar to terms that occur in almost no unit: misspelt and alternative names,
// and inflected forms in languages that the index does not stem.
func (e *Engine) spelled(ctx context.Context, terms []string, freq map[string]int, all int) ([]chat.TermCount, error) {
	var out []chat.TermCount
	looked, letters := 0, 1
	if all > vastMemory {
		letters = 2
	}
	for _, t := range terms {
		if freq[t] > rarelyHeld || !isSpelled(t) {
			continue
		}
		if looked++; looked > respelled {
			break
		}
		form, known, err := e.Store.Vocabulary(ctx, t, letters, ending)
		if err != nil {
			return nil, err
		}
		like := closest(form, known, freq[t], all)
		if len(like) == 0 && freq[t] == 0 {
			if like, err = e.compounded(ctx, t, all); err != nil {
				return nil, err
			}
		}
		for _, k := range like {
			if !slices.Contains(terms, k.Term) {
				out = append(out, k)
			}
		}
	}
	return out, nil
}

// guesses are the words that replace terms missing in memory.
func (e *Engine) guesses(ctx context.Context, terms []string, freq map[string]int, all int) ([]chat.TermCount, error) {
	out, err := e.spelled(ctx, terms, freq, all)
	if err != nil {
		return nil, err
	}
	single, err := e.single(ctx, terms, freq, all)
	return append(out, single...), err
}

// isSpelled reports a word of letters only: numbers and identifiers that are nearly equal mean something else.
func isSpelled(term string) bool {
	for _, r := range term {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return utf8.RuneCountInString(term) >= leastSpelled
}

// closest are the words most similar to a form that occurs in this many units: fewest edits first, then the most
// common. Words that are common in memory are not distinctive enough to be worth a guess.
func closest(form string, known []chat.TermCount, units, all int) []chat.TermCount {
	type candidate struct {
		chat.TermCount
		distance int
	}
	var list []candidate
	for _, k := range known {
		if k.Units > max(smallScope, all)/20 || k.Units < muchMoreHeld*units || lexical.IsStopWord(k.Term) || !isSpelled(k.Term) || k.Term == form {
			continue
		}
		if d, ok := editDistance([]rune(form), []rune(k.Term)); ok {
			list = append(list, candidate{k, d})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(b.Units, a.Units), cmp.Compare(a.Term, b.Term))
	})
	return lists.Map(list[:min(len(list), spellings)], func(c candidate) chat.TermCount { return c.TermCount })
}

// editDistance returns the number of edits between two words if they may be the same: few edits for their length, or
// different endings of one stem.
func editDistance(a, b []rune) (distance int, ok bool) {
	allowed := 1
	if min(len(a), len(b)) >= sureSpelled-1 && max(len(a), len(b)) >= sureSpelled {
		allowed = 2
	}
	if d := edits(a, b); d <= allowed {
		return d, true
	}
	stem := 0
	for stem < min(len(a), len(b)) && a[stem] == b[stem] {
		stem++
	}
	rest := max(len(a), len(b)) - stem
	return rest, stem >= leastStem && rest <= ending
}

// edits is the minimum number of letters inserted, removed, replaced or swapped with the next to turn a into b.
func edits(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
