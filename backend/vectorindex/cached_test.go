package vectorindex

import (
	"errors"
	"slices"
	"testing"
)

// TestCachedVectorsEqualTheRows: a search finds the same however many rows come from the cache, also if reading the
// cache fails at its end, and after more rows are added.
func TestCachedVectorsEqualTheRows(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			for _, cached := range []int{0, 1, 100, 500} {
				for _, fail := range []error{nil, errors.New("the file does not fit")} {
					b := newFixture(v)
					b.fill(500)
					b.source.cached, b.source.failCached = cached, fail
					for range 2 {
						b.searchAndCompare(t, randomVector(b.random, b.dimension), spans{"b0": {10, 60}, "b1": {0, 1e6}}, 20)
						b.source.put(b.row(int64(len(b.source.rows)+1), "b1", 700))
					}
					if got := b.index.Stats().Vectors; got != 501 {
						t.Errorf("%d vectors of 501", got)
					}
					b.index.Close()
				}
			}
		})
	}
}

// TestCachedRowsAreNotReadAgain: only the rows after the last block are read.
func TestCachedRowsAreNotReadAgain(t *testing.T) {
	b := newFixture(variants[slices.IndexFunc(variants, func(v variant) bool { return v.name == "codes" })])
	b.fill(500)
	b.source.cached = 480
	b.searchAndCompare(t, randomVector(b.random, b.dimension), nil, 5)
	if b.source.reads != 20 {
		t.Errorf("%d rows were read one by one, want 20", b.source.reads)
	}
}
