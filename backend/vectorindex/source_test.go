package vectorindex

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"contextinfinity/backend/chat"
)

// memorySource is a store of vectors in memory, in the database's format: bytes with a scale that makes their length
// 1.
type memorySource struct {
	mu         sync.RWMutex
	rows       []chat.VectorRow // by n
	generation int64
	reads      int            // rows yielded
	fail       error          // of VectorRows
	cached     int            // rows that CachedVectors yields
	failCached error          // of CachedVectors, at its end
	deleted    map[int64]bool // no longer found by VectorsOf
}

func (s *memorySource) VectorGeneration(context.Context) (int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.generation, nil
}

func (s *memorySource) VectorRows(_ context.Context, ns int64, session chat.SessionID, after int64, yield func(chat.VectorRow) error) error {
	s.mu.Lock()
	rows, fail := slices.Clone(s.rows), s.fail
	s.mu.Unlock()
	for _, r := range rows {
		if r.N <= after || session != "" && r.Session != session || namespaceOf(r.N) != ns {
			continue
		}
		s.mu.Lock()
		s.reads++
		s.mu.Unlock()
		if err := yield(r); err != nil {
			return err
		}
	}
	return fail
}

// CachedVectors yields the first rows in blocks of three.
func (s *memorySource) CachedVectors(_ context.Context, ns, generation int64, yield func(chat.VectorBlock) error) error {
	s.mu.RLock()
	rows, fail := slices.Clone(s.rows[:min(s.cached, len(s.rows))]), s.failCached
	current := generation == s.generation
	s.mu.RUnlock()
	if !current {
		return nil
	}
	for rows := range slices.Chunk(rows, 3) {
		b := block(rows, ns)
		if len(b.N) == 0 {
			continue
		}
		if err := yield(b); err != nil {
			return err
		}
		clear(b.Codes) // the index may use them only during the call
	}
	return fail
}

// block returns rows of a namespace by column.
func block(rows []chat.VectorRow, ns int64) (b chat.VectorBlock) {
	for _, r := range rows {
		if namespaceOf(r.N) != ns || r.Codes == nil {
			continue
		}
		square := 0
		for _, c := range r.Codes {
			square += int(c) * int(c)
			b.Codes = append(b.Codes, byte(c))
		}
		b.N, b.Seq, b.Place = append(b.N, r.N), append(b.Seq, r.Seq), append(b.Place, uint32(len(b.Places)))
		b.Places = append(b.Places, chat.VectorPlace{Session: r.Session, Branch: r.Branch})
		b.Scale = append(b.Scale, float32(1/math.Sqrt(float64(square))))
	}
	return b
}

func (s *memorySource) VectorsOf(_ context.Context, _ int64, units []int64) (map[int64][]float32, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := map[int64][]float32{}
	for _, n := range units {
		i, ok := slices.BinarySearchFunc(s.rows, n, func(r chat.VectorRow, n int64) int { return int(r.N - n) })
		if ok && !s.deleted[n] && s.rows[i].Codes != nil {
			out[n] = normalized(s.rows[i].Codes)
		}
	}
	return out, nil
}

// namespaceOf distinguishes the two namespaces of a test by n: the second begins at a million.
func namespaceOf(n int64) int64 { return 1 + n/1_000_000 }

func (s *memorySource) put(rows ...chat.VectorRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(s.rows, rows...)
}

func (s *memorySource) remove(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = slices.DeleteFunc(s.rows, func(r chat.VectorRow) bool { return r.N == n })
	s.generation++
}

// stored returns v in the database's format.
func stored(v []float32) []int8 {
	var largest float64
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	out := make([]int8, len(v))
	for i, x := range v {
		out[i] = int8(math.Round(float64(x) / largest * math.MaxInt8))
	}
	return out
}

func unit(v []float32) []float32 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / math.Sqrt(square))
	}
	return out
}

func randomVector(r *rand.Rand, dimension int) []float32 {
	v := make([]float32, dimension)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return unit(v)
}

// spans is a scope by branch.
type spans map[chat.BranchID]window

func (s spans) Span(_ chat.SessionID, b chat.BranchID) (after, upTo int64, ok bool) {
	w, ok := s[b]
	return w.after, w.upTo, ok
}

// exact returns what every engine must find.
func exact(rows []chat.VectorRow, ns int64, session chat.SessionID, q []float32, scope chat.ScopeFilter, limit int) []chat.VectorHit {
	var hits []chat.VectorHit
	for _, r := range rows {
		if r.Codes == nil || namespaceOf(r.N) != ns || session != "" && r.Session != session {
			continue
		}
		if scope != nil {
			after, upTo, ok := scope.Span(r.Session, r.Branch)
			if !ok || r.Seq <= after || r.Seq > upTo {
				continue
			}
		}
		hits = append(hits, chat.VectorHit{N: r.N, Cosine: cosine(q, normalized(r.Codes))})
	}
	slices.SortStableFunc(hits, func(a, b chat.VectorHit) int {
		switch {
		case a.Cosine > b.Cosine:
			return -1
		case a.Cosine < b.Cosine:
			return 1
		}
		return int(a.N - b.N)
	})
	return hits[:min(limit, len(hits))]
}
