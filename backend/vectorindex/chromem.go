package vectorindex

import (
	"context"
	"errors"
	"strconv"

	"github.com/philippgille/chromem-go"

	"contextinfinity/backend/chat"
)

// documentBytes is about what chromem-go stores per document beside its vector.
const documentBytes = 256

// small is the engine for one session: a chromem-go collection in memory. A document's id is its row.
type small struct {
	collection *chromem.Collection
	vectors    [][]float32 // shared with chromem if they have length 1
	codes      [][]int8    // for the next engine when a session becomes too large
	dims       int
}

func newSmall(dimension int) (*small, error) {
	noText := func(context.Context, string) ([]float32, error) {
		return nil, errors.New("this collection does not embed texts")
	}
	c, err := chromem.NewDB().CreateCollection("units", nil, noText)
	return &small{collection: c, dims: dimension}, err
}

func (s *small) len() int { return len(s.vectors) }

func (s *small) bytes() int64 { return int64(len(s.vectors)) * int64(5*s.dims+documentBytes) }

// add adds a validated vector: chromem-go accepts any.
func (s *small) add(codes []int8) {
	v := normalized(codes)
	// It fails only for an empty id or an empty document.
	_ = s.collection.AddDocument(context.Background(), chromem.Document{ID: strconv.Itoa(len(s.vectors)), Embedding: v})
	s.vectors, s.codes = append(s.vectors, v), append(s.codes, codes)
}

// near is the maximum difference between chromem-go's cosines and exact ones.
const near = 1e-5

// search requests about as many documents as needed for enough in scope, and more until the last one is clearly worse
// than the results: which of several equal ones it returns is arbitrary.
func (s *small) search(ctx context.Context, q []float32, f filter, limit int) ([]chat.VectorHit, error) {
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
		if n == total || len(hits) == limit && float64(found[len(found)-1].Similarity) < hits[limit-1].Cosine-near {
			return hits, nil
		}
	}
}
