// Package embedding defines the interface of embedders, which turn text into vectors (SPEC 8), and what all of them
// share: validation, batches, a cache. The embedders themselves are in local, openai and ollama.
package embedding

import (
	"context"

	"contextinfinity/backend/chat"
)

// Kind is the purpose of an embedded text: some embedders treat a question differently from the passages to find.
type Kind int

const (
	Passage Kind = iota // a unit's indexed text
	Query
)

// Embedder turns texts into vectors. Its methods are safe for concurrent use.
type Embedder interface {
	// Identity names the vectors: those of different identities are never mixed.
	Identity() chat.EmbedderID
	// Embed returns one vector of length 1 per text, in order. A wrong dimension, an empty vector and a NaN are
	// errors. A built-in embedder returns nil for a text of which it knows nothing.
	Embed(ctx context.Context, kind Kind, texts []string) ([][]float32, error)
}
