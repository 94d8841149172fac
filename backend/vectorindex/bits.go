package vectorindex

import (
	"context"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"contextinfinity/backend/chat"
)

const (
	// minDepth is the minimum number of nearest vectors by sign bits that are read and ranked exactly. The number is
	// one in perRow of the shard's vectors, or candidatesEach per result, if one of these is higher.
	minDepth       = 1000
	perRow         = 200
	candidatesEach = 8
)

// signs is the engine that keeps one bit per dimension. It reads the nearest vectors by Hamming distance from the
// source to rank them by cosine.
type signs struct {
	words     int // uint64 per vector
	dimension int
	rows      int
	blocks    [][]uint64
	read      func(ctx context.Context, ns []int64) (map[int64][]float32, error)
}

func newSigns(dimension int, read func(context.Context, []int64) (map[int64][]float32, error)) *signs {
	return &signs{words: (dimension + 63) / 64, dimension: dimension, read: read}
}

func (s *signs) len() int { return s.rows }

func (s *signs) bytes() int64 { return int64(len(s.blocks)) * blockRows * int64(s.words) * 8 }

func (s *signs) add(v []int8) {
	if s.rows%blockRows == 0 {
		s.blocks = append(s.blocks, make([]uint64, blockRows*s.words))
	}
	at := s.rows % blockRows * s.words
	pack(v, s.blocks[s.rows/blockRows][at:at+s.words])
	s.rows++
}

func pack[T float32 | int8](v []T, into []uint64) {
	for i, x := range v {
		if x > 0 {
			into[i/64] |= 1 << (i % 64)
		}
	}
}

func (s *signs) search(ctx context.Context, q []float32, f filter, limit int) ([]chat.VectorHit, error) {
	packed := make([]uint64, s.words)
	pack(q, packed)
	distance, histogram := s.distances(packed, f)
	passing := 0
	for _, n := range histogram {
		passing += n
	}
	for depth := max(minDepth, s.rows/perRow, candidatesEach*limit); ; depth *= 2 {
		candidates := closest(f.t.n, distance, histogram, depth)
		vectors, err := s.read(ctx, candidates)
		if err != nil {
			return nil, err
		}
		hits := make([]chat.VectorHit, 0, len(vectors))
		for _, n := range candidates {
			if v := vectors[n]; hasDirection(v, s.dimension) {
				hits = append(hits, chat.VectorHit{N: n, Cosine: cosine(q, v)})
			}
		}
		// If vectors were deleted or are damaged, fewer than limit remain, and more are read.
		if len(hits) >= limit || len(candidates) >= passing {
			return best(hits, limit), nil
		}
	}
}

// hidden is the distance of a row outside the scope.
const hidden = 1<<16 - 1

// distances returns every row's Hamming distance and the number of rows at each distance.
func (s *signs) distances(q []uint64, f filter) (distance []uint16, histogram []int) {
	distance = make([]uint16, s.rows)
	workers := min(runtime.GOMAXPROCS(0), max(1, len(s.blocks)))
	partial := make([][]int, workers)
	var wg sync.WaitGroup
	for w := range workers {
		partial[w] = make([]int, s.dimension+1)
		wg.Go(func() {
			for b := w; b < len(s.blocks); b += workers {
				s.blockDistances(b, q, f, distance, partial[w])
			}
		})
	}
	wg.Wait()
	histogram = make([]int, s.dimension+1)
	for _, p := range partial {
		for d, n := range p {
			histogram[d] += n
		}
	}
	return distance, histogram
}

func (s *signs) blockDistances(b int, q []uint64, f filter, distance []uint16, histogram []int) {
	first := b * blockRows
	block := s.blocks[b]
	for i := first; i < min(first+blockRows, s.rows); i++ {
		row := block[:len(q)]
		block = block[len(q):]
		if !f.passes(i) {
			distance[i] = hidden
			continue
		}
		d := 0
		for j, w := range row {
			d += bits.OnesCount64(w ^ q[j])
		}
		d = min(d, hidden-1) // the dimension can be larger
		distance[i] = uint16(d)
		histogram[d]++
	}
}

// closest returns the depth rows with the smallest distances; of the rows at the last distance, the first by n.
func closest(n []int64, distance []uint16, histogram []int, depth int) []int64 {
	cut, before := 0, 0 // rows at a distance below cut
	for cut < len(histogram) && before+histogram[cut] <= depth {
		before += histogram[cut]
		cut++
	}
	atCut := depth - before // of the rows at cut; none if all distances are below it
	out := make([]int64, 0, min(depth, len(distance)))
	for i, d := range distance {
		switch {
		case int(d) < cut:
			out = append(out, n[i])
		case int(d) == cut && cut < len(histogram) && atCut > 0:
			out = append(out, n[i])
			atCut--
		}
	}
	slices.Sort(out) // the order in which the store reads them
	return out
}
