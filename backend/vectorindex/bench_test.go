package vectorindex

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/retrieval"
)

// generatedSource generates vectors from their numbers, because a million would not fit in memory.
type generatedSource struct {
	count     int
	dimension int
}

func (s generatedSource) VectorGeneration(context.Context) (int64, error) { return 1, nil }

func (s generatedSource) vector(n int64) []float32 { return normalized(s.codes(n)) }

func (s generatedSource) codes(n int64) []int8 {
	r := rand.New(rand.NewPCG(uint64(n), 7)) // a random number, not a secret
	v := make([]int8, s.dimension)
	for i := 0; i < len(v); {
		for x := r.Uint64(); x != 0 && i < len(v); i, x = i+1, x>>8 {
			v[i] = int8(x)
		}
	}
	v[0] |= 1 // never all zeros
	return v
}

func (s generatedSource) VectorRows(_ context.Context, _ int64, session chat.SessionID, after int64, yield func(chat.VectorRow) error) error {
	for n := after + 1; n <= int64(s.count); n++ {
		row := chat.VectorRow{
			N: n, Session: "s", Branch: chat.BranchID(fmt.Sprintf("b%d", n%50)), Seq: n, Codes: s.codes(n),
		}
		if session != "" {
			row.Session = session
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

func (s generatedSource) CachedVectors(context.Context, int64, int64, func(chat.VectorBlock) error) error {
	return nil
}

func (s generatedSource) VectorsOf(_ context.Context, _ int64, ns []int64) (map[int64][]float32, error) {
	out := make(map[int64][]float32, len(ns))
	for _, n := range ns {
		out[n] = s.vector(n)
	}
	return out, nil
}

// unrestricted is a scope that contains everything.
type unrestricted struct{}

func (unrestricted) Span(chat.SessionID, chat.BranchID) (after, upTo int64, ok bool) {
	return 0, 1 << 40, true
}

// The benchmarks compare the index with plain chromem-go, using random vectors. chromem-go needs 600 MB for 100 000
// vectors of 1536 dimensions and more than 1 GB for a million, so these sizes only run with the index. Reading
// candidates from the database is measured by a benchmark of store.

func BenchmarkSearch10kx256(b *testing.B) { compare(b, generatedSource{10_000, 256}) }

func BenchmarkSearch100kx256(b *testing.B) { compare(b, generatedSource{100_000, 256}) }

func BenchmarkSearch100kx1536(b *testing.B) { indexed(b, generatedSource{100_000, 1536}, "") }

func BenchmarkSearch1Mx256(b *testing.B) { indexed(b, generatedSource{1_000_000, 256}, "") }

// BenchmarkSearchSession uses the largest session that chromem-go serves.
func BenchmarkSearchSession(b *testing.B) { indexed(b, generatedSource{maxChromem - 1, 256}, "s") }

func compare(b *testing.B, src generatedSource) {
	b.Run("chromem", func(b *testing.B) { plain(b, src) })
	b.Run("index", func(b *testing.B) { indexed(b, src, "") })
}

func plain(b *testing.B, src generatedSource) {
	s, err := newChromemEngine(src.dimension)
	if err != nil {
		b.Fatal(err)
	}
	for n := range src.count {
		s.add(src.codes(int64(n + 1)))
	}
	q := src.vector(-1)
	for b.Loop() {
		if _, err := s.collection.QueryEmbedding(context.Background(), q, 20, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func indexed(b *testing.B, src generatedSource, session chat.SessionID) {
	before := heap()
	x := New(Options{Source: src})
	defer x.Close()
	q := retrieval.VectorQuery{
		Namespace: chat.Namespace{ID: 1, Embedder: chat.EmbedderID{Dimension: src.dimension}},
		Vector:    src.vector(-1), Session: session, Scope: unrestricted{}, Limit: 100,
	}
	search := func() {
		if hits, err := x.Search(context.Background(), q); err != nil || len(hits) != q.Limit {
			b.Fatal(len(hits), err)
		}
	}
	search()
	used := heap() - before
	for b.Loop() {
		search()
	}
	b.ReportMetric(float64(used)/(1<<20), "MB-used")
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) // less than 2^63
}
