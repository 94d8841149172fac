package vectorindex

import (
	"context"
	"encoding/binary"
	"math"
	"runtime"
	"sync"

	"contextinfinity/backend/chat"
)

const (
	blockRows = 4096 // rows in one allocation: growing copies nothing
	// queryScale converts a query's components to integers. A row's sum stays below 2^31: the length of its bytes is
	// at most 255 times the root of maxCodes, that of the query 1.
	queryScale = 1 << 14
	codeOffset = 128 // makes a signed byte an unsigned one
)

// codes is the engine that keeps each vector as signed bytes, the largest of them 127, like the store, and scans all
// vectors. The scan uses integers; rows close to the best are then scored again with the exact query, so that results
// are exact. A word contains eight bytes, each with codeOffset added.
type codes struct {
	dimension int
	words     int // uint64 per vector
	rows      int
	blocks    [][]uint64
	length    []float32 // 1/length of a row's bytes
}

func newCodes(dimension int) *codes { return &codes{dimension: dimension, words: (dimension + 7) / 8} }

func (c *codes) len() int { return c.rows }

func (c *codes) bytes() int64 {
	return int64(len(c.blocks))*blockRows*int64(c.words)*8 + int64(cap(c.length))*4
}

func (c *codes) add(v []int8) {
	if c.rows%blockRows == 0 {
		c.blocks = append(c.blocks, make([]uint64, blockRows*c.words))
	}
	out := c.row(c.rows)
	square := 0
	var word [8]byte
	for i := range out {
		clear(word[:])
		for j, code := range v[8*i : min(8*i+8, len(v))] {
			word[j] = byte(int(code) + codeOffset) // from 0 to 255
			square += int(code) * int(code)
		}
		out[i] = binary.LittleEndian.Uint64(word[:])
	}
	c.length = append(c.length, float32(1/math.Sqrt(float64(square))))
	c.rows++
}

// addBlock adds the rows of a block. In two's complement, adding codeOffset to a byte inverts its highest bit.
func (c *codes) addBlock(b chat.VectorBlock) {
	const highest = 0x80808080_80808080
	for i := range b.N {
		if c.rows%blockRows == 0 {
			c.blocks = append(c.blocks, make([]uint64, blockRows*c.words))
		}
		v := b.Codes[i*c.dimension : (i+1)*c.dimension]
		out := c.row(c.rows)
		for w := range c.dimension / 8 {
			out[w] = binary.LittleEndian.Uint64(v[8*w:]) ^ highest
		}
		for j := c.dimension / 8 * 8; j < c.dimension; j++ {
			out[j/8] |= uint64(v[j]^codeOffset) << (j % 8 * 8)
		}
		c.length = append(c.length, b.Scale[i])
		c.rows++
	}
}

func (c *codes) row(i int) []uint64 {
	at := i % blockRows * c.words
	return c.blocks[i/blockRows][at : at+c.words]
}

// exact is the cosine of a query of length 1 with a row, bit for bit the same as that returned by cosine for the row's
// normalized vector: a result must not depend on the engine.
func (c *codes) exact(q []float32, i int) float64 {
	row, length := c.row(i), c.length[i]
	var dot, square float64
	for j, x := range q {
		v := (float32(row[j/8]>>(j%8*8)&0xFF) - codeOffset) * length
		dot += float64(x) * float64(v)
		square += float64(v) * float64(v)
	}
	return dot / math.Sqrt(square)
}

func (c *codes) search(ctx context.Context, q []float32, f filter, limit int) ([]chat.VectorHit, error) {
	rounded, roundingError := roundQuery(q)
	// By the Cauchy-Schwarz inequality a row's score is off by at most the length of the query's rounding error; the
	// rest is for storing the score as float32. Both sides of a comparison may be off.
	kept := c.scan(ctx, rounded, f, limit, float32(2*roundingError+1e-6))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	hits := make([]chat.VectorHit, len(kept))
	for i, s := range kept {
		hits[i] = chat.VectorHit{N: f.t.n[s.row], Cosine: c.exact(q, int(s.row))}
	}
	return best(hits, limit), nil
}

// multipliers is a query prepared for dot.
type multipliers struct {
	pairs  []uint64 // four per word of a row
	offset int32    // what codeOffset adds to every sum
}

// roundQuery rounds a query to integers; roundingError is the length of the error.
func roundQuery(q []float32) (m multipliers, roundingError float64) {
	rounded := make([]int64, (len(q)+7)/8*8)
	var square float64
	for i, x := range q {
		scaled := float64(x) * queryScale
		nearest := math.Round(scaled)
		square += (scaled - nearest) * (scaled - nearest)
		rounded[i] = int64(nearest)
		m.offset += int32(nearest) * codeOffset
	}
	m.pairs = make([]uint64, 0, len(rounded)/2)
	for w := 0; w < len(rounded); w += 8 {
		for j := range 4 {
			m.pairs = append(m.pairs, uint64(rounded[w+j+4]+rounded[w+j]<<32)) // overflow is intended
		}
	}
	return m, math.Sqrt(square) / queryScale
}

// dot is the dot product with a row. One multiplication computes two products: for bytes a and b, 32 bits apart in x,
// and integers p and q, (a + b*2^32) * (q + p*2^32) has a*p + b*q in its upper half, and in its lower half a*q, whose
// sum stays small enough to be rounded off.
func (m multipliers) dot(row []uint64) int32 {
	const lanes = 0x000000FF_000000FF
	var a, b uint64
	pairs := m.pairs[:4*len(row)]
	for i, w := range row {
		p := (*[4]uint64)(pairs[4*i : 4*i+4])
		a += (w & lanes) * p[0]
		b += (w >> 8 & lanes) * p[1]
		a += (w >> 16 & lanes) * p[2]
		b += (w >> 24 & lanes) * p[3]
	}
	return int32((a+b+1<<31)>>32) - m.offset // the upper half is a signed sum
}

// scan scans all blocks, on all processors if that is worthwhile.
func (c *codes) scan(ctx context.Context, q multipliers, f filter, limit int, slack float32) []scored {
	workers := min(runtime.GOMAXPROCS(0), len(c.blocks))
	partial := make([]*topScores, workers)
	var wg sync.WaitGroup
	for w := range workers {
		partial[w] = newTopScores(limit, slack)
		wg.Go(func() {
			for b := w; b < len(c.blocks) && ctx.Err() == nil; b += workers {
				c.scanBlock(b, q, f, partial[w])
			}
		})
	}
	wg.Wait()
	all := newTopScores(limit, slack)
	for _, fl := range partial {
		all.kept = append(all.kept, fl.kept...)
	}
	all.prune()
	return all.kept
}

func (c *codes) scanBlock(b int, q multipliers, f filter, into *topScores) {
	first := b * blockRows
	block := c.blocks[b]
	for i := first; i < min(first+blockRows, c.rows); i++ {
		row := block[:c.words]
		block = block[c.words:]
		if !f.passes(i) {
			continue
		}
		score := float32(q.dot(row)) * c.length[i] / queryScale
		if score >= into.threshold {
			into.add(i, score)
		}
	}
}
