package embedding

import (
	"context"
	"fmt"
	"math"

	"contextinfinity/backend/chat"
)

// Checked refuses invalid vectors (wrong count, wrong dimension, NaN or infinity, all zeros) and normalizes the
// others to length 1.
func Checked(e Embedder) Embedder { return checked{e} }

type checked struct{ Embedder }

func (c checked) Embed(ctx context.Context, kind Kind, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	vectors, err := c.Embedder.Embed(ctx, kind, texts)
	if err != nil {
		return nil, err
	}
	id := c.Identity()
	if len(vectors) != len(texts) {
		return nil, refused(id, "answered with %d vectors for %d texts", len(vectors), len(texts))
	}
	out := make([][]float32, len(vectors))
	for i, v := range vectors {
		if v == nil && id.Name == Local {
			continue
		}
		unit, fault := normalized(v, id.Dimension)
		if fault != "" {
			return nil, refused(id, "%s", fault)
		}
		out[i] = unit
	}
	return out, nil
}

// normalized is v with length 1, or v itself if it has that length; fault says why v is not a valid vector.
func normalized(v []float32, dimension int) (unit []float32, fault string) {
	switch {
	case len(v) == 0:
		return nil, "answered with an empty vector"
	case len(v) != dimension:
		return nil, fmt.Sprintf("answered with %d dimensions where %d were expected", len(v), dimension)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	switch {
	case math.IsNaN(length) || math.IsInf(length, 0):
		return nil, "answered with a vector that contains NaN or infinity"
	case length < 1e-12:
		return nil, "answered with a vector of zeros"
	case math.Abs(length-1) < 1e-7:
		return v, ""
	}
	unit = make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(float64(x) / length)
	}
	return unit, ""
}

func refused(id chat.EmbedderID, format string, args ...any) error {
	return chat.Errorf(chat.CodeProvider, "embedding.check", "The embedder %s %s. The vectors were refused and nothing was stored.",
		id, fmt.Sprintf(format, args...)).WithHint("check retrieval.embedding_model and retrieval.embedding_dimension")
}
