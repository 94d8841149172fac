package vectorindex

import (
	"context"
	"errors"
	"strconv"

	"github.com/philippgille/chromem-go"

	"contextinfinity/backend/chat"
)

// documentBytes is about how many bytes chromem-go stores per document in addition to its vector.
const documentBytes = 256

// chromemEngine is the engine for one session: a chromem-go collection in memory. A document's id is its row.
type chromemEngine struct {
	collection *chromem.Collection
	vectors    [][]float32 // shared with chromem if they have length 1
	codes      [][]int8    // for the next engine, if the session becomes too large
	dimension  int
}

func newChromemEngine(dimension int) (*chromemEngine, error) {
	noText := func(context.Context, string) ([]float32, error) {
		return nil, errors.New("this collection does not embed texts")
	}
	c, err := chromem.NewDB().CreateCollection("units", nil, noText)
	return &chromemEngine{collection: c, dimension: dimension}, err
}

func (s *chromemEngine) len() int { return len(s.vectors) }

func (s *chromemEngine) bytes() int64 {
	return int64(len(s.vectors)) * int64(5*s.dimension+documentBytes)
}

// add adds a validated vector: chromem-go accepts any.
func (s *chromemEngine) add(codes []int8) {
	v := normalized(codes)
	// AddDocument fails only for an empty id or an empty document.
	_ = s.collection.AddDocument(context.Background(), chromem.Document{ID: strconv.Itoa(len(s.vectors)), Embedding: v})
	s.vectors, s.codes = append(s.vectors, v), append(s.codes, codes)
}

// cosineTolerance is the maximum difference between chromem-go's cosines and exact ones.
const cosineTolerance = 1e-5

// search requests about as many documents as needed for limit results in scope, and then more until the last document
// is clearly worse than the results, because chromem-go returns equally near documents in arbitrary order.
func (s *chromemEngine) search(ctx context.Context, q []float32, f filter, limit int) ([]chat.VectorHit, error) {
	total, passing := len(s.vectors), f.count()
	if passing == 0 {
		return nil, nil
	}
	limit = min(limit, passing)
	for n := min(total, limit*(total/passing+1)+16); ; n = min(total, 2*n) {
		found, err := s.collection.QueryEmbedding(ctx, q, n, nil, nil)
		if err != nil {
			return nil, err
		}
		hits := make([]chat.VectorHit, 0, len(found))
		for _, r := range found {
			row, err := strconv.Atoi(r.ID)
			if err != nil {
				return nil, err
			}
			if f.passes(row) {
				hits = append(hits, chat.VectorHit{N: f.t.n[row], Cosine: cosine(q, s.vectors[row])})
			}
		}
		hits = best(hits, limit)
		if n == total || len(hits) == limit && float64(found[len(found)-1].Similarity) < hits[limit-1].Cosine-cosineTolerance {
			return hits, nil
		}
	}
}
