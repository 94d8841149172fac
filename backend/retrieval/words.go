package retrieval

import (
	"context"
	"math"
	"slices"
	"sync"

	"contextinfinity/backend/chat"
)

// maxWords bounds how much of a query is looked at: a pasted document is no
// better a question than its beginning.
const maxWords = 400

// words is what the keyword half found.
type words struct {
	terms  []string
	weight []float64           // of each term: how rare it is, in all and in the scope
	tf     map[int64][]float64 // unit -> of each term, how well it is said there (0 to 2.2)
	bm25   map[int64]float64   // unit -> sum over the terms
}

const (
	// perTerm bounds the units that one term brings.
	perTerm = 2000
	// manyUnits bounds the work: after the fewTerms rarest, terms are searched for only
	// until together they occur in so many units.
	manyUnits = 30_000
	fewTerms  = 3
	// newestUnits is among how many a term is searched for, over all sessions, that occurs in
	// manyUnits.
	newestUnits = 10_000
	// workers is how many terms are searched for at a time: each has a connection, and
	// pages in its cache, of its own.
	workers = 2
	// saturation is the most that BM25 gives a term besides its rarity: k1 + 1.
	saturation = 2.2
	// smallScope is the fewest units that rarity within a scope is computed against.
	smallScope = 1000
)

// byWords searches for each of the rarest terms by itself: ranking needs to know
// which term is where, so that what a neighbour adds is what the unit lacks.
func (e *Engine) byWords(ctx context.Context, q Query, s Settings) (words, error) {
	w := words{tf: map[int64][]float64{}, bm25: map[int64]float64{}}
	list := Terms(q.Text)
	list = list[:min(len(list), maxWords)]
	if len(list) == 0 {
		return w, nil
	}
	freq, err := e.Store.TermFrequencies(ctx, list)
	if err != nil {
		return w, err
	}
	all, err := e.Store.UnitCount(ctx)
	if err != nil {
		return w, err
	}
	guessed, err := e.guesses(ctx, list, freq, all)
	if err != nil {
		return w, err
	}
	share := map[string]float64{}
	for _, g := range guessed {
		list, freq[g.Term], share[g.Term] = append(list, g.Term), g.Units, spellingShare
	}
	w.terms = affordable(Rarest(list, freq, s.MaxTerms), freq, all)
	found, err := e.eachTerm(ctx, w.terms, freq, q.Within)
	if err != nil {
		return w, err
	}
	w.weigh(found, freq, all)
	for i, t := range w.terms {
		if part, ok := share[t]; ok {
			w.weight[i] *= part
		}
	}
	if intentOf(q.Text).overview {
		w.discountForm()
	}
	w.collect(found, freq, all)
	return w, nil
}

// affordable leaves out the commonest of many terms: they cost most and tell least.
// Those that most units hold do not tell units apart: of these only one is ever searched
// for, and only where there is no other.
func affordable(terms []string, freq map[string]int, all int) []string {
	rare := slices.Clone(terms)
	slices.SortStableFunc(rare, func(a, b string) int { return freq[a] - freq[b] })
	sum, keep := 0, 0
	for _, t := range rare {
		everywhere := freq[t] >= manyUnits && isCommon(freq[t], all)
		if sum += freq[t]; keep >= fewTerms && sum > manyUnits || keep > 0 && everywhere {
			break
		}
		keep++
	}
	return Rarest(terms, freq, keep)
}

// isCommon reports that a term occurs in more than two of five units: BM25 gives it next
// to nothing.
func isCommon(freq, all int) bool { return 5*freq > 2*all }

// eachTerm is what is found for each term, in the terms' order.
func (e *Engine) eachTerm(ctx context.Context, terms []string, freq map[string]int, in chat.Within) ([][]chat.UnitScore, error) {
	found, errs := make([][]chat.UnitScore, len(terms)), make([]error, len(terms))
	var work sync.WaitGroup
	free := make(chan struct{}, workers)
	for i, t := range terms {
		in := in
		if freq[t] >= manyUnits {
			in.Newest = newestUnits
		}
		free <- struct{}{}
		work.Go(func() {
			defer func() { <-free }()
			found[i], errs[i] = e.Store.SearchUnits(ctx, []string{t}, in, perTerm)
		})
	}
	work.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// weigh gives each term the mean of how rare it is everywhere and within the scope:
// what names a session's subject is rare in all and says little inside it.
func (w *words) weigh(found [][]chat.UnitScore, freq map[string]int, all int) {
	most := smallScope
	for _, hits := range found {
		most = max(most, 2*len(hits))
	}
	w.weight = make([]float64, len(found))
	for i, t := range w.terms {
		here := float64(len(found[i]))
		scope := math.Log(1 + (float64(most)-here+0.5)/(here+0.5))
		w.weight[i] = (scope + max(rarity(all, freq[t]), 0)) / 2
	}
}

// discountForm gives less weight to words of an overview that ask for the form of the answer.
func (w *words) discountForm() {
	for i, t := range w.terms {
		if formWords[t] {
			w.weight[i] *= formShare
		}
	}
}

// rarity is the idf of BM25 as SQLite computes it. Both counts are approximate, so that a term
// may seem to occur in more units than there are.
func rarity(all, in int) float64 {
	in = min(in, all)
	return math.Log((float64(all-in) + 0.5) / (float64(in) + 0.5))
}

// collect turns scores into how well a term is said, without its rarity. That of very
// common terms is next to nothing and cannot be taken out again: they count as shares
// of their best.
func (w *words) collect(found [][]chat.UnitScore, freq map[string]int, all int) {
	for i, t := range w.terms {
		idf, best := rarity(all, freq[t]), 0.0
		for _, h := range found[i] {
			best = max(best, h.Score)
		}
		if isCommon(freq[t], all) {
			idf = best / (saturation / 2)
		}
		for _, h := range found[i] {
			row := w.tf[h.N]
			if row == nil {
				row = make([]float64, len(w.terms))
				w.tf[h.N] = row
			}
			if idf > 0 {
				row[i] = min(max(h.Score/idf, 0), saturation)
			}
			w.bm25[h.N] += h.Score
		}
	}
}

// own is the score of a unit by its words alone.
func (w *words) own(n int64) float64 {
	sum := 0.0
	for i, tf := range w.tf[n] {
		sum += w.weight[i] * tf
	}
	return sum
}
