package retrieval

import (
	"context"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
)

// similar is the result of the vector half.
type similar struct {
	embedder string // identity; empty if there are no vectors
	name     string
	query    VectorQuery
	cosine   map[int64]float64
	noise    noise
	ahead    unitsAhead
	embedMs  float64
	searchMs float64
	// unusedReason says why existing vectors could not be used although nothing failed.
	unusedReason chat.Phrase
}

// byVectors embeds the query and searches for the nearest vectors, unless words are searched first (afterWords).
// While no namespace is complete there are no results, which is not an error.
func (e *Engine) byVectors(ctx context.Context, q Query, s Settings) (similar, error) {
	v := similar{cosine: map[int64]float64{}}
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
	if v.noise, err = e.noiseOf(ctx, ns); err != nil {
		return v, err
	}
	v.embedder, v.name = ns.Embedder.String(), ns.Embedder.Name
	v.query = VectorQuery{Namespace: ns, Vector: vector, Limit: s.candidates}
	if !s.wordsFirst(v.name) {
		err = e.nearest(ctx, q, &v)
	}
	v.searchMs = since(begun)
	return v, err
}

// nearest searches the index of the whole scope.
func (e *Engine) nearest(ctx context.Context, q Query, v *similar) error {
	scope, err := e.Store.ScopeFilter(ctx, q.Within)
	if err != nil {
		return err
	}
	v.query.Scope = scope
	if q.Within.Scope != chat.ScopeAll && q.Within.Scope != chat.ScopeProject {
		v.query.Session = q.Within.Session
	}
	hits, err := e.Vectors.Search(ctx, v.query)
	for _, h := range hits {
		v.cosine[h.N] = h.Cosine
	}
	return err
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
	if len(vectors) != 1 || len(vectors[0]) != ns.Embedder.Dimension {
		return nil, chat.Errorf(chat.CodeProvider, "memory.embed", "The embedder %s gave no vector for the query.", ns.Embedder)
	}
	return vectors[0], nil
}

// noise are the sorted cosines of unrelated texts. Embedders have no common scale, but the position of a cosine
// within the noise is comparable.
type noise struct {
	cosines []float64
	total   int // number of vectors when the noise was sampled
}

const (
	noiseSample = 128
	// minNoise is the minimum number of vectors for sampling the noise; with fewer, a table is used.
	minNoise = 64
)

// Quantiles of the noise at equal steps, used until there are enough vectors to sample. Those of local were measured on
// the benchmark. Those of models are an assumption, based on text-embedding-3-small, for which unrelated texts have
// cosines of 0.20 to 0.25.
var (
	localNoise = []float64{-0.15, 0.04, 0.08, 0.11, 0.135, 0.16, 0.185, 0.215, 0.245, 0.30, 0.50}
	modelNoise = []float64{0.00, 0.08, 0.11, 0.14, 0.17, 0.20, 0.22, 0.25, 0.28, 0.33, 0.55}
)

// noiseOf returns a namespace's noise, sampled again when the namespace has doubled or halved.
func (e *Engine) noiseOf(ctx context.Context, ns chat.Namespace) (noise, error) {
	if ns.Total < minNoise {
		return tableNoise(ns.Embedder.Name), nil
	}
	e.mu.Lock()
	known, ok := e.noises[ns.ID]
	e.mu.Unlock()
	if ok && ns.Total < 2*known.total && ns.Total*2 > known.total {
		return known, nil
	}
	sample, err := e.Store.SampleVectors(ctx, ns.ID, noiseSample)
	if err != nil {
		return noise{}, err
	}
	if len(sample) < minNoise {
		return tableNoise(ns.Embedder.Name), nil
	}
	sampled := noise{cosines: pairwiseCosines(sample), total: ns.Total}
	e.mu.Lock()
	e.noises[ns.ID] = sampled
	e.mu.Unlock()
	return sampled, nil
}

func tableNoise(embedder string) noise {
	if embedder == localEmbedder {
		return noise{cosines: localNoise}
	}
	return noise{cosines: modelNoise}
}

// pairwiseCosines returns the cosines of all pairs of vectors, sorted.
func pairwiseCosines(vectors [][]float32) []float64 {
	out := make([]float64, 0, len(vectors)*(len(vectors)-1)/2)
	for i, a := range vectors {
		for _, b := range vectors[i+1:] {
			var sum float32
			for k := range min(len(a), len(b)) {
				sum += a[k] * b[k]
			}
			out = append(out, float64(sum))
		}
	}
	slices.Sort(out)
	return out
}

// similarity is the share of the noise below a cosine, interpolated.
func (n noise) similarity(cosine float64) float64 {
	i, _ := slices.BinarySearch(n.cosines, cosine)
	last := len(n.cosines) - 1
	switch {
	case i == 0:
		return 0
	case i > last:
		return 1
	}
	part := (cosine - n.cosines[i-1]) / (n.cosines[i] - n.cosines[i-1])
	return (float64(i-1) + part) / float64(last)
}

// cosine is the inverse of similarity.
func (n noise) cosine(similarity float64) float64 {
	if len(n.cosines) == 0 {
		return 0
	}
	at := min(max(similarity, 0), 1) * float64(len(n.cosines)-1)
	i := int(at)
	if i+1 >= len(n.cosines) {
		return n.cosines[len(n.cosines)-1]
	}
	return n.cosines[i] + (at-float64(i))*(n.cosines[i+1]-n.cosines[i])
}
