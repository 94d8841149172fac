package retrieval

import (
	"context"

	"contextinfinity/backend/chat"
)

// Store is what retrieval needs of the database. Only what the scope (chat.Within)
// lets through is ever answered.
type Store interface {
	// TermFrequencies tells in how many units each term occurs.
	TermFrequencies(ctx context.Context, terms []string) (map[string]int, error)
	// Vocabulary returns the form in which a term is indexed, and the forms that begin with
	// the same letters, so many, and are at most margin letters longer or shorter.
	Vocabulary(ctx context.Context, term string, letters, margin int) (form string, known []chat.TermCount, err error)
	// UnitCount is about how many units there are in all.
	UnitCount(ctx context.Context) (int, error)
	// SearchUnits finds units that hold any of the terms, best first.
	SearchUnits(ctx context.Context, terms []string, in chat.Within, limit int) ([]chat.UnitScore, error)
	// Units returns what is known of units, in no order; those outside the scope
	// are left out.
	Units(ctx context.Context, in chat.Within, ns []int64) ([]chat.UnitRef, error)
	// UnitsNear returns the units of these turns, in (branch, seq, chunk, unit) order;
	// where the scope is a lineage, a span may reach over a fork point: it is then of the
	// lineage, whatever branch the turns belong to.
	UnitsNear(ctx context.Context, in chat.Within, spans []chat.SeqSpan) ([]chat.UnitRef, error)
	// ScopeFilter is the scope as the vector index needs it.
	ScopeFilter(ctx context.Context, in chat.Within) (chat.ScopeFilter, error)
	// ChunkTexts returns chunks with their words, in the order asked for; those that
	// are not there are left out.
	ChunkTexts(ctx context.Context, ids []chat.ChunkID) ([]chat.ChunkText, error)
	// Serving is the namespace that searches use; ok is false while none is complete.
	Serving(ctx context.Context) (ns chat.Namespace, ok bool, err error)
	// VectorsOf returns the vectors of units; those without a readable one are left out.
	VectorsOf(ctx context.Context, namespace int64, units []int64) (map[int64][]float32, error)
	// SampleVectors returns up to n vectors spread over a namespace, always the same
	// ones while nothing is added.
	SampleVectors(ctx context.Context, namespace int64, n int) ([][]float32, error)
}

// Vectors is the derived vector index. It finds the units whose vectors are nearest to
// the query's, nearest first, with exact cosines.
type Vectors interface {
	Search(ctx context.Context, q VectorQuery) ([]chat.VectorHit, error)
	// Warm reads ahead what a search needs.
	Warm(ctx context.Context, ns chat.Namespace) error
}

// VectorQuery is a search for the nearest vectors.
type VectorQuery struct {
	Namespace chat.Namespace
	Vector    []float32 // of length 1
	// Session is the only one the scope lets through; empty: it may be any.
	Session chat.SessionID
	Scope   chat.ScopeFilter
	Limit   int
}
