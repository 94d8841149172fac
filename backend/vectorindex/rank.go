package vectorindex

import (
	"cmp"
	"math"
	"slices"

	"contextinfinity/backend/chat"
)

// nearest sorts by cosine, then by n: the order of every result.
func nearest(a, b chat.VectorHit) int {
	return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.N, b.N))
}

// best sorts hits and cuts them to limit.
func best(hits []chat.VectorHit, limit int) []chat.VectorHit {
	slices.SortFunc(hits, nearest)
	return hits[:min(limit, len(hits))]
}

// cosine is the cosine of a query of length 1 with a vector of any length except 0.
func cosine(q, v []float32) float64 {
	var dot, square float64
	for i, x := range v {
		dot += float64(q[i]) * float64(x)
		square += float64(x) * float64(x)
	}
	return dot / math.Sqrt(square)
}

// hasDirection reports whether v is a vector of this dimension that is not zero.
func hasDirection[T float32 | int8](v []T, dimension int) bool {
	if len(v) != dimension {
		return false
	}
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	return square > 1e-12 && !math.IsInf(square, 0) && !math.IsNaN(square)
}

// normalized is the vector of length 1 represented by codes.
func normalized(codes []int8) []float32 {
	square := 0
	for _, c := range codes {
		square += int(c) * int(c)
	}
	scale := float32(1 / math.Sqrt(float64(square)))
	v := make([]float32, len(codes))
	for i, c := range codes {
		v[i] = float32(c) * scale
	}
	return v
}

// scored is a row with its score from a scan.
type scored struct {
	row   int32
	score float32
}

// topScores keeps the highest scores of a scan, and the threshold from which a row could still be among the best limit
// rows. The threshold is lowered by slack, because the scan's scores are inexact by that much.
type topScores struct {
	limit     int
	slack     float32
	kept      []scored
	pruneAt   int // length of kept at which it is pruned
	threshold float32
}

func newTopScores(limit int, slack float32) *topScores {
	return &topScores{limit: limit, slack: slack, pruneAt: 4*limit + 256, threshold: float32(math.Inf(-1))}
}

// add adds a row with a score of at least f.threshold; callers compare first.
func (f *topScores) add(row int, score float32) {
	f.kept = append(f.kept, scored{int32(row), score}) // a shard has fewer than 2^31 rows
	if len(f.kept) >= f.pruneAt {
		f.prune()
	}
}

// prune drops the rows whose score is below the limit-th best by more than the slack.
func (f *topScores) prune() {
	if len(f.kept) <= f.limit {
		return
	}
	slices.SortFunc(f.kept, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.row, b.row))
	})
	threshold := f.kept[f.limit-1].score - f.slack
	end := f.limit
	for end < len(f.kept) && f.kept[end].score >= threshold {
		end++
	}
	f.kept = f.kept[:end]
	f.threshold = threshold
	f.pruneAt = max(f.pruneAt, 2*end) // many equal scores cannot be dropped
}
