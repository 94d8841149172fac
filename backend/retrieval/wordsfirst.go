package retrieval

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/chat"
)

// smallShare is the share of a score below which vectors hardly change the order of keyword results: a unit found
// only by vectors would rank below all of them.
const smallShare = 0.1

// wordsFirst reports whether an embedder's vectors are only compared with keyword results. The index of all vectors in
// the scope is then needed only if the keywords find nothing, so an ordinary search does not wait for it.
func (s Settings) wordsFirst(embedder string) bool { return s.share(embedder) < smallShare }

// afterWords completes the vector half of a search that began with words: with the cosines of the keyword results or,
// if there are none, with the nearest in the scope.
func (e *Engine) afterWords(ctx context.Context, q Query, s Settings, w words, v *similar) error {
	if v.query.Vector == nil || !s.wordsFirst(v.name) {
		return nil
	}
	begun := time.Now()
	defer func() { v.searchMs += since(begun) }()
	if len(w.tf) == 0 {
		return e.nearest(ctx, q, v)
	}
	best := w.bestUnits(s.Candidates)
	var wg sync.WaitGroup
	wg.Go(func() { v.ahead = e.readAhead(ctx, q.Within, best) })
	vectors, err := e.Store.VectorsOf(ctx, v.query.Namespace.ID, best)
	wg.Wait()
	for n, vector := range vectors {
		v.cosine[n] = dot(v.query.Vector, vector)
	}
	return err
}

// readAhead is what was read of units while their vectors were compared: nearly all of them remain candidates.
type readAhead struct {
	requested map[int64]bool // by number of the unit
	units     []chat.UnitRef // without those outside the scope
}

func (e *Engine) readAhead(ctx context.Context, in chat.Within, ns []int64) readAhead {
	units, err := e.Store.Units(ctx, in, ns)
	if err != nil {
		return readAhead{} // they are read again when needed
	}
	requested := make(map[int64]bool, len(ns))
	for _, n := range ns {
		requested[n] = true
	}
	return readAhead{requested, units}
}

// bestUnits returns up to limit units with the best scores by words.
func (w *words) bestUnits(limit int) []int64 {
	units, score := make([]int64, 0, len(w.tf)), make(map[int64]float64, len(w.tf))
	for n := range w.tf {
		units = append(units, n)
		score[n] = w.own(n)
	}
	slices.SortFunc(units, func(a, b int64) int { return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(b, a)) })
	return units[:min(len(units), limit)]
}

// dot is the cosine of two vectors of length 1.
func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
