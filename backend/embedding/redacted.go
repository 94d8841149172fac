package embedding

import (
	"context"
	"contextinfinity/backend/internal/lists"
)

// Redacted removes secrets from texts before they reach a remote embedder (SPEC 13).
func Redacted(e Embedder, redact func(string) string) Embedder {
	if redact == nil {
		return e
	}
	return redacted{e, redact}
}

type redacted struct {
	Embedder
	redact func(string) string
}

func (r redacted) Embed(ctx context.Context, kind Kind, texts []string) ([][]float32, error) {
	clean := lists.Map(texts, r.redact)
	return r.Embedder.Embed(ctx, kind, clean)
}
