package retrieval

import (
	"context"

	"contextinfinity/backend/chat"
)

// Store is what retrieval needs of the database. It only returns what is within the scope (chat.Within).
type Store interface {
	// TermFrequencies returns in how many units each term occurs.
	TermFrequencies(ctx context.Context, terms []string) (map[string]int, error)
	// Vocabulary returns the indexed form of a term, and the forms that begin with the same letters and are at most
	// margin letters longer or shorter.
	Vocabulary(ctx context.Context, term string, letters, margin int) (form string, known []chat.TermCount, err error)
	// Apart returns the forms in which memory writes a word as two in succession: "user name" for "username".
	Apart(ctx context.Context, word string) ([]chat.TermCount, error)
	// UnitCount returns the approximate total number of units.
	UnitCount(ctx context.Context) (int, error)
	// SearchUnits finds units with any of the terms, best first.
	SearchUnits(ctx context.Context, terms []string, in chat.Within, limit int) ([]chat.UnitScore, error)
	// Units returns units, in no order; those outside the scope are left out.
	Units(ctx context.Context, in chat.Within, ns []int64) ([]chat.UnitRef, error)
	// UnitsNear returns the units of turns, in (branch, seq, chunk, unit) order. If the scope is a lineage, a span may
	// extend beyond a fork point: it then refers to the lineage, whatever branch the turns belong to.
	UnitsNear(ctx context.Context, in chat.Within, spans []chat.SeqSpan) ([]chat.UnitRef, error)
	// ScopeFilter returns the scope in the form that the vector index needs.
	ScopeFilter(ctx context.Context, in chat.Within) (chat.ScopeFilter, error)
	// ChunkTexts returns chunks with their text, in the requested order; missing ones are left out.
	ChunkTexts(ctx context.Context, ids []chat.ChunkID) ([]chat.ChunkText, error)
	// Serving returns the namespace used for searches; ok is false while none is complete.
	Serving(ctx context.Context) (ns chat.Namespace, ok bool, err error)
	// SampleVectors returns up to n vectors spread over a namespace, the same ones as long as nothing is added.
	SampleVectors(ctx context.Context, namespace int64, n int) ([][]float32, error)
}

// Vectors is the derived vector index. It finds the units with the vectors nearest to the query's, nearest first,
// with exact cosines.
type Vectors interface {
	Search(ctx context.Context, q VectorQuery) ([]chat.VectorHit, error)
	// Warm loads what a search needs.
	Warm(ctx context.Context, ns chat.Namespace) error
}

// VectorQuery is a search for the nearest vectors.
type VectorQuery struct {
	Namespace chat.Namespace
	Vector    []float32 // of length 1
	// Session is the only session in the scope; empty: there may be several.
	Session chat.SessionID
	Scope   chat.ScopeFilter
	Limit   int
}
