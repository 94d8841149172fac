package retrieval

import (
	"cmp"
	"context"
	"slices"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lexical"
)

const (
	// respelled bounds the terms of a query for which words like them are looked up, and
	// spellings how many words are in for each.
	respelled = 6
	spellings = 2
	// spellingShare is what a word that is in for a term counts, of what the term would.
	spellingShare = 0.7
	// leastSpelled is the fewest letters of a term that others are compared with: short words
	// have too many neighbours.
	leastSpelled = 4
	// sureSpelled is from how many letters on two may differ.
	sureSpelled = 6
	// rarelyHeld is in how many units a misspelt word may stand: whoever misspells a name in
	// a question does so again in the next. The word meant is much more frequent then.
	rarelyHeld   = 2
	muchMoreHeld = 5
	// vastMemory is from how many units on words must agree in two letters, not one: what the
	// index knows of a word costs by how often words with its beginning were said.
	vastMemory = 50_000
	// ending is the most letters of an ending, and leastStem the fewest before it.
	ending    = 3
	leastStem = 5
)

// spelled returns words of the index for the terms that none or next to no unit holds:
// misspelt and alternative names, and inflected forms in languages that the index does not
// stem.
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

// guesses are the words that are in for terms which memory does not hold.
func (e *Engine) guesses(ctx context.Context, terms []string, freq map[string]int, all int) ([]chat.TermCount, error) {
	out, err := e.spelled(ctx, terms, freq, all)
	if err != nil {
		return nil, err
	}
	single, err := e.single(ctx, terms, freq, all)
	return append(out, single...), err
}

// isSpelled reports a word of letters alone: numbers and identifiers that are nearly equal
// mean something else.
func isSpelled(term string) bool {
	for _, r := range term {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return utf8.RuneCountInString(term) >= leastSpelled
}

// closest are the words most like a form that is in so many units: fewest changes
// first, then the commonest. Words that are common in memory say too little to be worth a
// guess.
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
		if d, ok := likeness([]rune(form), []rune(k.Term)); ok {
			list = append(list, candidate{k, d})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(b.Units, a.Units), cmp.Compare(a.Term, b.Term))
	})
	var out []chat.TermCount
	for _, c := range list[:min(len(list), spellings)] {
		out = append(out, c.TermCount)
	}
	return out
}

// likeness returns how many changes lie between two words, if they may be the same: few
// changes for their length, or different endings of one stem.
func likeness(a, b []rune) (distance int, ok bool) {
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

// edits is the least number of letters inserted, removed, replaced or exchanged with the
// next that makes b of a.
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
