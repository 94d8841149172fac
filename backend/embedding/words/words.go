// Package words is an embedder without a model: it needs no model and no network, and the same text gives the same vector
// on every machine, except for rounding.
//
// A text becomes a bag of features (stems, pairs of adjacent words, runs of three to five letters inside a word),
// each hashed with a sign to one of Dimension positions. Repeated features count 1 + ln of their number; stop words
// count little; the result has length 1. It finds other forms of a word, parts of compounds and misspellings, which a
// text index does not; it does not recognize synonyms.
package words

import (
	"context"
	"math"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
)

// Dimension was chosen by measurement: combined with keyword search, 512 finds no more.
const Dimension = 256

// version must change whenever the vector of any text changes.
const version = 1

// Weights of features, chosen by measurement. Runs of letters have the highest: the text index already finds whole
// words, and these vectors are for what it misses.
const (
	stemWeight = 0.5
	gramWeight = 1 // length of all runs of a word together
	pairWeight = 0.3
	partWeight = 0.5 // a part of an identifier: header in parseHeader
	stopWeight = 0.05
)

// Embedder is the embedded embedder. It is safe for concurrent use.
type Embedder struct {
	memos sync.Pool // of *memo: the words of earlier texts
}

// New returns the embedded embedder.
func New() *Embedder {
	return &Embedder{memos: sync.Pool{New: func() any { return &memo{words: map[string]*word{}} }}}
}

// Identity implements embedding.Embedder.
func (*Embedder) Identity() chat.EmbedderID {
	return chat.EmbedderID{Name: "local", Model: "hashed", Dimension: Dimension, Version: version}
}

// Embed implements embedding.Embedder. It fails only if ctx is done.
func (e *Embedder) Embed(ctx context.Context, _ embedding.Kind, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	memo := e.memos.Get().(*memo)
	defer e.memos.Put(memo)
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = memo.vector(text)
	}
	return out, nil
}

// vector adds up the features of a text in the order of their first appearance, because sums of floats depend on the
// order.
func (m *memo) vector(text string) []float32 {
	var sum [Dimension]float64
	words, pairs := m.count(text)
	for _, w := range words {
		weight := 1 + math.Log(float64(w.n))
		for _, f := range w.word.features {
			sum[f.position] += weight * float64(f.weight)
		}
	}
	for _, p := range pairs {
		f := hashed(p.hash, pairWeight)
		sum[f.position] += (1 + math.Log(float64(p.n))) * float64(f.weight)
	}
	return unit(&sum)
}

// unit scales sum to length 1. A text without words has a fixed vector too: a zero vector has no direction and would
// be refused.
func unit(sum *[Dimension]float64) []float32 {
	var square float64
	for _, x := range sum {
		square += x * x
	}
	out := make([]float32, Dimension)
	if square == 0 {
		out[0] = 1
		return out
	}
	scale := 1 / math.Sqrt(square)
	for i, x := range sum {
		out[i] = float32(x * scale)
	}
	return out
}
