package retrieval

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/chat"
)

// smallShare is the share of vectors in a score below which they hardly change the order of the keyword results: a unit
// found only by vectors would rank below nearly all of them.
const smallShare = 0.1

// wordsFirst reports whether an embedder's vectors are only used to rank the keyword results. All vectors in the scope
// are then searched only if there are no keyword results, so an ordinary search does not wait for their index.
func (s Settings) wordsFirst(embedder string) bool { return s.share(embedder) < smallShare }

// afterWords completes the vector half if words are searched first: with the cosines of the best keyword results or, if
// there are none, with the nearest units in the scope.
func (e *Engine) afterWords(ctx context.Context, q Query, s Settings, w words, v *similar) error {
	if v.query.Vector == nil || !s.wordsFirst(v.name) {
		return nil
	}
	start := time.Now()
	defer func() { v.searchMs += since(start) }()
	if len(w.tf) == 0 {
		return e.nearest(ctx, q, v)
	}
	best := w.bestUnits(s.candidates)
	var wg sync.WaitGroup
	wg.Go(func() { v.ahead = e.readUnitsAhead(ctx, q.Within, best) })
	vectors, err := e.Store.VectorsOf(ctx, v.query.Namespace.ID, best)
	wg.Wait()
	for n, vector := range vectors {
		v.cosine[n] = dot(v.query.Vector, vector)
	}
	return err
}

// unitsAhead are units that were read while the vectors of the same units were read, before it is known which of them
// become candidates: nearly all do.
type unitsAhead struct {
	requested map[int64]bool // by number of the unit
	units     []chat.UnitRef // the requested units that are in the scope
}

func (e *Engine) readUnitsAhead(ctx context.Context, in chat.Within, numbers []int64) unitsAhead {
	units, err := e.Store.Units(ctx, in, numbers)
	if err != nil {
		return unitsAhead{} // candidates reads them again, and reports the error
	}
	requested := make(map[int64]bool, len(numbers))
	for _, n := range numbers {
		requested[n] = true
	}
	return unitsAhead{requested, units}
}

// bestUnits returns the numbers of the units with the best scores by words, best first, at most limit of them.
func (w *words) bestUnits(limit int) []int64 {
	numbers, score := make([]int64, 0, len(w.tf)), make(map[int64]float64, len(w.tf))
	for n := range w.tf {
		numbers = append(numbers, n)
		score[n] = w.own(n)
	}
	slices.SortFunc(numbers, func(a, b int64) int { return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(b, a)) })
	return numbers[:min(len(numbers), limit)]
}

// dot returns the dot product of two vectors, which is their cosine if their length is 1.
func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
