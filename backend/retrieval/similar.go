package retrieval

import (
	"context"
	"math"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
)

// similar is the result of the vector half.
type similar struct {
	embedder string            // identity; empty if there are no vectors
	cosine   map[int64]float64 // with the query, less what all units have in common
	measured map[int64]float64 // the same of all nearest units, including those that are not near enough
	usual    distribution
	embedMs  float64
	searchMs float64
	// unusedReason says why existing vectors could not be used although nothing failed.
	unusedReason chat.Phrase
}

// byVectors embeds the query and searches for the nearest units of the scope. While no namespace is complete there are
// no results, which is not an error.
func (e *Engine) byVectors(ctx context.Context, q Query, s Settings) (similar, error) {
	v := similar{cosine: map[int64]float64{}, measured: map[int64]float64{}}
	ns, ok, err := e.Store.Serving(ctx)
	if err != nil || !ok || ns.Total == 0 {
		return v, err
	}
	begun := time.Now()
	vector, err := e.embed(ctx, ns, q.Text)
	v.embedMs = since(begun)
	if chat.CodeOf(err) == chat.CodeConfig {
		// The vectors belong to an embedder that is no longer configured, and new ones are being created.
		v.unusedReason = chat.AsError(err).Said()
		return v, nil
	}
	if err != nil {
		return v, err
	}
	begun = time.Now()
	v.embedder = ns.Embedder.String()
	known, err := e.backgroundOf(ctx, ns)
	if err != nil || vector == nil {
		return v, err
	}
	vector, v.usual = known.relative(vector)
	if vector == nil {
		return v, nil
	}
	err = e.nearest(ctx, q, s, VectorQuery{Namespace: ns, Vector: vector, Limit: s.candidates}, &v)
	v.searchMs = since(begun)
	return v, err
}

// nearest searches the index. If even the nearest unit is as near as any text happens to be, nothing is found.
func (e *Engine) nearest(ctx context.Context, q Query, s Settings, vq VectorQuery, v *similar) error {
	scope, err := e.Store.ScopeFilter(ctx, q.Within)
	if err != nil {
		return err
	}
	vq.Scope = scope
	if q.Within.Scope != chat.ScopeAll && q.Within.Scope != chat.ScopeProject {
		vq.Session = q.Within.Session
	}
	hits, err := e.Vectors.Search(ctx, vq)
	for _, h := range hits {
		v.measured[h.N] = h.Cosine
	}
	if err != nil || len(hits) == 0 || !s.SRD && v.usual.distance(hits[0].Cosine) < outstanding {
		return err
	}
	for _, h := range hits {
		if s.SRD || v.usual.similarity(h.Cosine) >= s.Threshold {
			v.cosine[h.N] = h.Cosine
		}
	}
	return nil
}

func (e *Engine) embed(ctx context.Context, ns chat.Namespace, text string) ([]float32, error) {
	embedder, err := e.Embedder(ctx, ns)
	if err != nil {
		return nil, err
	}
	vectors, err := embedder.Embed(ctx, embedding.Query, []string{text})
	if err != nil {
		return nil, err
	}
	if len(vectors) == 1 && vectors[0] == nil {
		return nil, nil // it knows nothing of this text
	}
	if len(vectors) != 1 || len(vectors[0]) != ns.Embedder.Dimension {
		return nil, chat.Errorf(chat.CodeProvider, "memory.embed", "The embedder %s gave no vector for the query.", ns.Embedder)
	}
	return vectors[0], nil
}

// meaning is the score of a unit by its vector: 0 if it is no nearer than the nearest of some unrelated units, 1 if it
// certainly means the same.
func (v *similar) meaning(n int64) float64 {
	c, ok := v.cosine[n]
	if !ok {
		return 0
	}
	return min(max((v.usual.distance(c)-meaningFrom)/(meaningFull-meaningFrom), 0), 1)
}

// background is a sample of a namespace's vectors. Embedders have no common scale: unrelated texts have a cosine of 0.1
// with one and of 0.7 with another, and short questions are less similar to everything than long ones. So a cosine is
// compared with those of the same query with the sample. What is said again and again is in it once: with many copies of one
// text, every other one would be far from usual.
type background struct {
	sample [][]float32
	mean   []float32
	total  int // number of vectors when it was sampled
}

const (
	backgroundSize = 256
	// fewVectors say little about what is usual. That many unrelated ones, with cosines of deviation supposedDeviation
	// from 0, are then added in thought.
	fewVectors        = 32
	supposedDeviation = 0.06
)

// supposed is the number of vectors that are added in thought.
func (b background) supposed() float64 {
	if len(b.sample) < fewVectors {
		return fewVectors
	}
	return 0
}

// backgroundOf samples a namespace, again when it has grown by a quarter or lost a half.
func (e *Engine) backgroundOf(ctx context.Context, ns chat.Namespace) (background, error) {
	e.mu.Lock()
	known, ok := e.backgrounds[ns.ID]
	e.mu.Unlock()
	if ok && 4*ns.Total < 5*known.total && 2*ns.Total > known.total {
		return known, nil
	}
	sample, err := e.Store.SampleVectors(ctx, ns.ID, backgroundSize)
	if err != nil {
		return background{}, err
	}
	known = background{mean: make([]float32, ns.Embedder.Dimension), total: ns.Total}
	for _, vector := range sample {
		if !slices.ContainsFunc(known.sample, func(other []float32) bool { return alike(vector, other) }) {
			known.sample = append(known.sample, vector)
		}
	}
	for _, vector := range known.sample {
		for i, x := range vector {
			known.mean[i] += x / (float32(len(known.sample)) + float32(known.supposed()))
		}
	}
	e.mu.Lock()
	e.backgrounds[ns.ID] = known
	e.mu.Unlock()
	return known, nil
}

// alike reports whether two vectors of length 1 have a cosine of at least 0.98, by the square of their distance.
func alike(a, b []float32) bool {
	square := float32(0)
	for i := range min(len(a), len(b)) {
		d := a[i] - b[i]
		if square += d * d; square > 2*(1-0.98) {
			return false
		}
	}
	return true
}

// relative returns the direction of a query from the mean of the sample, and the distribution of its cosines with the
// sample; nil if it is the mean.
func (b background) relative(query []float32) ([]float32, distribution) {
	out := make([]float32, len(query))
	square := 0.0
	for i, x := range query {
		out[i] = x - b.mean[i]
		square += float64(out[i]) * float64(out[i])
	}
	if square < 1e-12 {
		return nil, distribution{}
	}
	for i := range out {
		out[i] /= float32(math.Sqrt(square))
	}
	n, sum, squares := float64(len(b.sample))+b.supposed(), 0.0, b.supposed()*supposedDeviation*supposedDeviation
	for _, vector := range b.sample {
		if alike(vector, query) { // the same question, asked before
			n--
			continue
		}
		c := dot(out, vector)
		sum += c
		squares += c * c
	}
	mean := sum / n
	return out, distribution{mean, math.Sqrt(max(squares/n-mean*mean, 1e-12))}
}

// dot returns the dot product of two vectors, which is their cosine if their length is 1.
func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// distribution is that of a query's cosines with unrelated units.
type distribution struct{ mean, deviation float64 }

// distance is how many standard deviations a cosine is above the mean.
func (d distribution) distance(cosine float64) float64 { return (cosine - d.mean) / d.deviation }

// similarity is the share of unrelated units that are less similar.
func (d distribution) similarity(cosine float64) float64 {
	return 0.5 * math.Erfc(-d.distance(cosine)/math.Sqrt2)
}
