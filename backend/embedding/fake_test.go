package embedding

import (
	"context"
	"crypto/sha256"
	"math"
	"sync"
	"time"

	"contextinfinity/backend/chat"
)

// fake is an embedder whose vectors are hashes of texts, or that fails.
type fake struct {
	id        chat.EmbedderID
	mu        sync.Mutex
	requested [][]string // texts of each request
	err       func(texts []string) error
	out       func(texts []string) [][]float32 // replaces the vectors
}

func newFake(name, model string, dimension int) *fake {
	return &fake{id: chat.EmbedderID{Name: name, Model: model, Dimension: dimension, Version: 1}}
}

func (f *fake) Identity() chat.EmbedderID { return f.id }

func (f *fake) Embed(ctx context.Context, _ Kind, texts []string) ([][]float32, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requested = append(f.requested, texts)
	if f.err != nil {
		if err := f.err(texts); err != nil {
			return nil, err
		}
	}
	if f.out != nil {
		return f.out(texts), nil
	}
	out := make([][]float32, len(texts))
	for i, s := range texts {
		out[i] = vectorOf(f.id, s)
	}
	return out, nil
}

func (f *fake) requests() [][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requested
}

// fails makes every request fail; nil makes them succeed.
func (f *fake) fails(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = func([]string) error { return err }
}

// texts returns the number of texts in all requests.
func (f *fake) texts() int {
	n := 0
	for _, r := range f.requests() {
		n += len(r)
	}
	return n
}

func vectorOf(id chat.EmbedderID, s string) []float32 {
	sum := sha256.Sum256([]byte(id.String() + s))
	v := make([]float32, id.Dimension)
	var square float64
	for i := range v {
		v[i] = float32(sum[i%32]) - 127.5
		square += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return v
}

// waits records pauses instead of waiting.
type waits struct{ pauses []time.Duration }

func (w *waits) wait(ctx context.Context, d time.Duration) error {
	w.pauses = append(w.pauses, d)
	return ctx.Err()
}
