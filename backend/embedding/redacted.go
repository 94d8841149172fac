package embedding

import "context"

// Redacted takes secrets out of texts before a remote embedder sees them (SPEC 13).
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
	clean := make([]string, len(texts))
	for i, s := range texts {
		clean[i] = r.redact(s)
	}
	return r.Embedder.Embed(ctx, kind, clean)
}
