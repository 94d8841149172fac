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
	// minPart is the minimum length of a part of a compound in letters, and minRest that of the rest: a shorter rest
	// is an ending.
	minPart, minRest = 5, 2
	// maxRest is the maximum number of letters of a word in memory after the term with which it begins.
	maxRest = 20
	// maxCharacters limits the single characters that are searched instead of pairs.
	maxCharacters = 6
)

// compounds returns words of the index that are compounds with a term that memory does not contain, or parts of such a
// term, for languages that write compounds as one word: "Keller" finds "Kellerdecke", and "Ölheizung" finds "Heizung".
func (e *Engine) compounds(ctx context.Context, term string, all int) ([]chat.TermCount, error) {
	letters := []rune(term)
	if len(letters) < minPart {
		return nil, nil
	}
	form, known, err := e.Store.Vocabulary(ctx, term, len(letters), maxRest)
	if err != nil {
		return nil, err
	}
	known = slices.DeleteFunc(known, func(k chat.TermCount) bool {
		return utf8.RuneCountInString(k.Term)-utf8.RuneCountInString(form) < minRest
	})
	parts, err := e.parts(ctx, letters)
	if err != nil {
		return nil, err
	}
	known = slices.DeleteFunc(append(known, parts...), func(k chat.TermCount) bool {
		return k.Units == 0 || k.Units > max(smallScope, all)/20 || lexical.IsStopWord(k.Term) || !isSpelled(k.Term)
	})
	slices.SortStableFunc(known, func(a, b chat.TermCount) int {
		return cmp.Or(cmp.Compare(lengthDifference(letters, a.Term), lengthDifference(letters, b.Term)), cmp.Compare(b.Units, a.Units), cmp.Compare(a.Term, b.Term))
	})
	return known[:min(len(known), maxSpellings)], nil
}

// lengthDifference is the difference in length between a word and a compound that contains it.
func lengthDifference(letters []rune, word string) int {
	n := utf8.RuneCountInString(word) - len(letters)
	return max(n, -n)
}

// parts returns the beginnings and endings of a word, each with the number of units in which it occurs.
func (e *Engine) parts(ctx context.Context, letters []rune) ([]chat.TermCount, error) {
	var list []string
	for n := minPart; n <= len(letters)-minRest; n++ {
		list = append(list, string(letters[:n]), string(letters[len(letters)-n:]))
	}
	if len(list) == 0 {
		return nil, nil
	}
	freq, err := e.Store.TermFrequencies(ctx, list)
	return lists.Map(list, func(t string) chat.TermCount { return chat.TermCount{Term: t, Units: freq[t]} }), err
}

// singleCharacters returns Chinese characters of pairs that occur in no unit: "赶集" is found by "集市". The characters
// of pairs that do occur are left out, and so are common ones, which are not distinctive.
func (e *Engine) singleCharacters(ctx context.Context, terms []string, freq map[string]int, all int) ([]chat.TermCount, error) {
	known, list := map[rune]bool{}, []string(nil)
	for _, t := range terms {
		for _, r := range t {
			known[r] = known[r] || freq[t] > 0
		}
	}
	for _, t := range terms {
		for _, r := range t {
			if unicode.Is(unicode.Han, r) && !known[r] && !lexical.IsFunctionCharacter(r) && utf8.RuneCountInString(t) == 2 {
				known[r] = true // once each
				list = append(list, string(r))
			}
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	counts, err := e.Store.TermFrequencies(ctx, list)
	if err != nil {
		return nil, err
	}
	var out []chat.TermCount
	for _, t := range list {
		if n := counts[t]; n > 0 && n <= max(smallScope, all)/20 {
			out = append(out, chat.TermCount{Term: t, Units: n})
		}
	}
	slices.SortStableFunc(out, func(a, b chat.TermCount) int { return cmp.Compare(a.Units, b.Units) })
	return out[:min(len(out), maxCharacters)], nil
}
