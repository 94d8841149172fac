// Package embedding is the contract of what turns text into vectors (SPEC 8), and
// what every embedder has in common: validation, batches, a cache. The embedders
// themselves are in local, openai and ollama.
package embedding

import (
	"context"

	"contextinfinity/backend/chat"
)

// Kind is what a text is embedded as: some embedders treat a question otherwise
// than what it is to find.
type Kind int

const (
	Passage Kind = iota // a unit's indexed text
	Query
)

// Embedder turns texts into vectors. Its methods are safe for concurrent use.
type Embedder interface {
	// Identity names the vectors: those of different identities never mix.
	Identity() chat.EmbedderID
	// Embed returns one vector of length 1 for each text, in order. A wrong
	// dimension, an empty vector and a NaN are errors, never results.
	Embed(ctx context.Context, kind Kind, texts []string) ([][]float32, error)
}
