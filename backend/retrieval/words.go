package retrieval

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"contextinfinity/backend/chat"
)

// maxWords limits how many words of a query are used: a pasted document is not a better query than its beginning.
const maxWords = 400

// words is the result of the keyword half.
type words struct {
	terms  []string
	weight []float64           // of each term: how rare it is, overall and in the scope
	tf     map[int64][]float64 // unit -> of each term, how well it matches there (0 to 2.2)
	bm25   map[int64]float64   // unit -> sum over the terms
	total  float64             // weight of all terms, including those that occur nowhere
}

const (
	// perTerm limits the units found by one term.
	perTerm = 2000
	// manyUnits limits the work: after the fewTerms rarest, terms are searched only until they occur in this many
	// units together.
	manyUnits = 30_000
	fewTerms  = 3
	// newestUnits is the number of newest units that are searched, over all sessions, for a term that occurs in
	// manyUnits.
	newestUnits = 10_000
	// workers is how many terms are searched at a time: each has its own connection and page cache.
	workers = 3
	// saturation is the maximum factor of BM25 besides rarity: k1 + 1.
	saturation = 2.2
	// smallScope is the minimum size against which rarity within a scope is computed.
	smallScope = 1000
)

// byWords searches for each of the rarest terms separately: ranking needs to know which terms a unit contains, so
// that a neighbour only adds missing ones.
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
	w.terms = affordable(Rarest(list, freq, s.maxTerms), freq, all)
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
	for _, weight := range w.weight {
		w.total += weight
	}
	for _, t := range list {
		if freq[t] == 0 {
			w.total += (math.Log(1+(smallScope+0.5)/0.5) + rarity(all, 0)) / 2
		}
	}
	w.collect(found, freq, all)
	w.dropNumbersAlone(list)
	return w, nil
}

// affordable drops the most common of many terms: they cost most and distinguish least. At most one term that occurs
// everywhere is searched, and only if there is no other term.
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

// isCommon reports whether a term occurs in more than two of five units: BM25 gives it almost no weight.
func isCommon(freq, all int) bool { return 5*freq > 2*all }

// eachTerm returns the search results of each term, in the terms' order.
func (e *Engine) eachTerm(ctx context.Context, terms []string, freq map[string]int, in chat.Within) ([][]chat.UnitScore, error) {
	found, errs := make([][]chat.UnitScore, len(terms)), make([]error, len(terms))
	var work sync.WaitGroup
	slots := make(chan struct{}, workers)
	for i, t := range terms {
		in := in
		if freq[t] >= manyUnits {
			in.Newest = newestUnits
		}
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
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

// weigh gives each term the mean of its rarity overall and within the scope: the name of a session's subject is rare
// overall but common inside the session.
func (w *words) weigh(found [][]chat.UnitScore, freq map[string]int, all int) {
	scopeSize := smallScope
	for _, hits := range found {
		scopeSize = max(scopeSize, 2*len(hits))
	}
	w.weight = make([]float64, len(found))
	for i, t := range w.terms {
		inScope := float64(len(found[i]))
		scope := math.Log(1 + (float64(scopeSize)-inScope+0.5)/(inScope+0.5))
		w.weight[i] = (scope + max(rarity(all, freq[t]), 0)) / 2
	}
}

// discountForm reduces the weight of words in an overview that describe the form of the answer.
func (w *words) discountForm() {
	for i, t := range w.terms {
		if formWords[t] {
			w.weight[i] *= formShare
		}
	}
}

// rarity is the idf of BM25 as SQLite computes it. Both counts are approximate, so a term may seem to occur in more
// units than exist.
func rarity(all, in int) float64 {
	in = min(in, all)
	return math.Log((float64(all-in) + 0.5) / (float64(in) + 0.5))
}

// collect converts the scores of each term to how well it matches, without its rarity. The rarity of very common terms
// is close to zero and cannot be divided out, so their scores count relative to the best one.
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

// dropNumbersAlone drops the units in which only numbers of one or two digits match, unless the query consists of such
// numbers: they occur in the date of every unit of a day, and in lists and tables about anything.
func (w *words) dropNumbersAlone(query []string) {
	if !slices.ContainsFunc(query, func(t string) bool { return !isSmallNumber(t) }) {
		return
	}
	for n, tf := range w.tf {
		alone := true
		for i, x := range tf {
			alone = alone && (x == 0 || isSmallNumber(w.terms[i]))
		}
		if alone {
			delete(w.tf, n)
			delete(w.bm25, n)
		}
	}
}

func isSmallNumber(t string) bool { return len(t) <= 2 && strings.Trim(t, "0123456789") == "" }

// coverage is the share of the query that a score by words makes up.
func (w *words) coverage(own float64) float64 { return ratio(own, w.total) }

// own is the score of a unit by its own words.
func (w *words) own(n int64) float64 {
	sum := 0.0
	for i, tf := range w.tf[n] {
		sum += w.weight[i] * tf
	}
	return sum
}
