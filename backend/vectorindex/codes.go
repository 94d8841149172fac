package vectorindex

import (
	"context"
	"math"
	"runtime"
	"sync"

	"contextinfinity/backend/chat"
)

const (
	blockRows = 4096 // rows in one allocation: growing copies nothing
	// queryScale makes whole numbers of a query's components. A row's sum stays below
	// 2^31: its bytes are at most 127 times the root of maxCodes long, the query 1.
	queryScale = 1 << 14
)

// codes is the engine that keeps each vector as signed bytes, the largest of them
// 127, as the store does, and looks at every one. The scan is in whole numbers; what
// comes close to the best is then scored again with the query as it is, so that
// results are exact.
type codes struct {
	dimension int
	rows      int
	blocks    [][]int8
	length    []float32 // 1/length of a row's bytes
}

func newCodes(dimension int) *codes { return &codes{dimension: dimension} }

func (c *codes) len() int { return c.rows }

func (c *codes) bytes() int64 {
	return int64(len(c.blocks))*blockRows*int64(c.dimension) + int64(cap(c.length))*4
}

func (c *codes) add(v []float32) {
	if c.rows%blockRows == 0 {
		c.blocks = append(c.blocks, make([]int8, blockRows*c.dimension))
	}
	out := c.row(c.rows)
	var largest float64
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	var square float64
	for i, x := range v {
		q := math.Round(float64(x) / largest * math.MaxInt8)
		out[i] = int8(q)
		square += q * q
	}
	c.length = append(c.length, float32(1/math.Sqrt(square)))
	c.rows++
}

func (c *codes) row(i int) []int8 {
	at := i % blockRows * c.dimension
	return c.blocks[i/blockRows][at : at+c.dimension]
}

func (c *codes) search(ctx context.Context, q []float32, f filter, limit int) ([]chat.VectorHit, error) {
	whole := make([]int32, len(q))
	var missed float64
	for i, x := range q {
		scaled := float64(x) * queryScale
		whole[i] = int32(math.Round(scaled))
		missed += (scaled - float64(whole[i])) * (scaled - float64(whole[i]))
	}
	// By Cauchy and Schwarz a row's score is off by no more than what rounding took off
	// the query; the rest is for the float32 that it is kept in. Both ends of a
	// comparison may be off.
	slack := float32(2*math.Sqrt(missed)/queryScale + 1e-6)
	kept := c.scan(ctx, whole, f, limit, slack)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	hits := make([]chat.VectorHit, len(kept))
	for i, s := range kept {
		var dot, square float64
		for j, x := range c.row(int(s.row)) {
			dot += float64(q[j]) * float64(x)
			square += float64(x) * float64(x)
		}
		hits[i] = chat.VectorHit{N: f.t.n[s.row], Cosine: dot / math.Sqrt(square)}
	}
	return best(hits, limit), nil
}

// scan looks at all blocks, on all processors where that pays.
func (c *codes) scan(ctx context.Context, q []int32, f filter, limit int, slack float32) []scored {
	workers := min(runtime.GOMAXPROCS(0), len(c.blocks))
	floors := make([]*floor, workers)
	var wg sync.WaitGroup
	for w := range workers {
		floors[w] = newFloor(limit, slack)
		wg.Go(func() {
			for b := w; b < len(c.blocks) && ctx.Err() == nil; b += workers {
				c.scanBlock(b, q, f, floors[w])
			}
		})
	}
	wg.Wait()
	all := newFloor(limit, slack)
	for _, fl := range floors {
		all.kept = append(all.kept, fl.kept...)
	}
	all.settle()
	return all.kept
}

func (c *codes) scanBlock(b int, q []int32, f filter, into *floor) {
	first := b * blockRows
	block := c.blocks[b]
	for i := first; i < min(first+blockRows, c.rows); i++ {
		row := block[:c.dimension]
		block = block[c.dimension:]
		if !f.passes(i) {
			continue
		}
		score := float32(dotWhole(q, row)) * c.length[i] / queryScale
		if score >= into.at {
			into.add(i, score)
		}
	}
}

// dotWhole is unrolled: the compiler does not.
func dotWhole(q []int32, row []int8) int32 {
	var a, b, c, d int32
	for len(q) >= 8 && len(row) >= 8 {
		x, y := q[:8:8], row[:8:8]
		a += x[0]*int32(y[0]) + x[4]*int32(y[4])
		b += x[1]*int32(y[1]) + x[5]*int32(y[5])
		c += x[2]*int32(y[2]) + x[6]*int32(y[6])
		d += x[3]*int32(y[3]) + x[7]*int32(y[7])
		q, row = q[8:], row[8:]
	}
	for i, x := range row {
		a += q[i] * int32(x)
	}
	return a + b + c + d
}
