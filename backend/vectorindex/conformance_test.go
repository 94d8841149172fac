package vectorindex

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/retrieval"
)

// variant makes searches use one of the engines.
type variant struct {
	name      string
	dimension int
	session   chat.SessionID
	engine    func(engine) bool
}

var variants = []variant{
	{"chromem", 48, "s1", func(e engine) bool { _, ok := e.(*chromemEngine); return ok }},
	{"codes", 48, "", func(e engine) bool { _, ok := e.(*codes); return ok }},
	{"codes, odd dimension", 29, "", func(e engine) bool { _, ok := e.(*codes); return ok }},
	{"signs", 520, "", func(e engine) bool { _, ok := e.(*signs); return ok }},
}

// each runs a test with every engine and checks that this engine was used.
func each(t *testing.T, test func(t *testing.T, b *fixture)) {
	t.Helper()
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			b := newFixture(v)
			test(t, b)
			for k, s := range b.index.shards {
				if s.engine != nil && !v.engine(s.engine) {
					t.Errorf("shard %v has a %T", k, s.engine)
				}
			}
			b.index.Close()
		})
	}
}

// fixture is a source with an index over it.
type fixture struct {
	variant
	source *memorySource
	index  *Index
	random *rand.Rand
}

func newFixture(v variant) *fixture {
	src := &memorySource{}
	return &fixture{v, src, New(Options{Source: src}), rand.New(rand.NewPCG(1, 2))}
}

func (b *fixture) row(n int64, branch chat.BranchID, seq int64) chat.VectorRow {
	return chat.VectorRow{N: n, Session: "s1", Branch: branch, Seq: seq, Codes: stored(randomVector(b.random, b.dimension))}
}

// fill adds rows on three branches, in order of n.
func (b *fixture) fill(count int) {
	start := int64(len(b.source.rows))
	for i := start; i < start+int64(count); i++ {
		b.source.put(b.row(i+1, chat.BranchID(fmt.Sprintf("b%d", i%3)), i/3+1))
	}
}

func (b *fixture) query(q []float32, scope chat.ScopeFilter, limit int) retrieval.VectorQuery {
	return retrieval.VectorQuery{
		Namespace: chat.Namespace{ID: 1, Embedder: chat.EmbedderID{Name: "test", Model: "m", Dimension: b.dimension, Version: 1}},
		Vector:    q, Session: b.session, Scope: scope, Limit: limit,
	}
}

// fataler is implemented by *testing.T and *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// searchAndCompare searches and compares the result with exact.
func (b *fixture) searchAndCompare(t fataler, q []float32, scope chat.ScopeFilter, limit int) []chat.VectorHit {
	t.Helper()
	got, err := b.index.Search(context.Background(), b.query(q, scope, limit))
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, exact(b.source.rows, 1, b.session, q, scope, limit))
	return got
}

// same allows differences in the last bits of cosines, and in the order that results from them.
func same(t fataler, got, want []chat.VectorHit) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d hits, want %d", len(got), len(want))
	}
	for i := range want {
		if math.Abs(got[i].Cosine-want[i].Cosine) > 1e-6 {
			t.Fatalf("hit %d: %v, want %v", i, got[i], want[i])
		}
		if got[i].N != want[i].N && math.Abs(got[i].Cosine-want[i].Cosine) == 0 {
			t.Fatalf("hit %d: equals are out of order: %v, want %v", i, got[i], want[i])
		}
	}
}

func TestEngineFindsTheNearest(t *testing.T) {
	all := spans{"b0": {0, 1e6}, "b1": {0, 1e6}, "b2": {0, 1e6}}
	cases := []struct {
		name  string
		count int
		scope chat.ScopeFilter
		limit int
		want  int // number of hits
	}{
		{"empty", 0, nil, 5, 0},
		{"one", 1, nil, 1, 1},
		{"a limit above the number of vectors", 7, nil, 50, 7},
		{"no scope", 500, nil, 20, 20},
		{"a scope that includes all", 500, all, 20, 20},
		{"a scope that includes nothing", 500, spans{}, 20, 0},
		{"a scope of one branch", 500, spans{"b1": {0, 1e6}}, 20, 20},
		{"a scope that includes a few", 3000, spans{"b1": {990, 1e6}}, 20, 10},
		{"a scope that includes one", 3000, spans{"b2": {41, 42}}, 20, 1},
		{"a span in the middle", 600, spans{"b0": {10, 60}, "b1": {0, 5}}, 55, 55},
		{"limit 0", 10, nil, 0, 0},
	}
	each(t, func(t *testing.T, b *fixture) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				b := newFixture(b.variant)
				b.fill(c.count)
				got := b.searchAndCompare(t, randomVector(b.random, b.dimension), c.scope, c.limit)
				if len(got) != c.want {
					t.Errorf("%d hits, want %d", len(got), c.want)
				}
			})
		}
	})
}

func TestTiesAreOrderedByNumber(t *testing.T) {
	each(t, func(t *testing.T, b *fixture) {
		v := stored(randomVector(b.random, b.dimension))
		for n := int64(1); n <= 2500; n++ {
			b.source.put(chat.VectorRow{N: n, Session: "s1", Branch: "b0", Seq: n, Codes: v})
		}
		got := b.searchAndCompare(t, normalized(v), spans{"b0": {100, 2400}}, 10)
		for i, h := range got {
			if h.N != int64(101+i) {
				t.Fatalf("hit %d is %d, want the first ones by number", i, h.N)
			}
		}
	})
}

func TestTheNextSearchSeesNewRows(t *testing.T) {
	each(t, func(t *testing.T, b *fixture) {
		b.fill(40)
		q := randomVector(b.random, b.dimension)
		b.searchAndCompare(t, q, nil, 10)
		b.fill(40)
		b.source.put(chat.VectorRow{N: 81, Session: "s1", Branch: "b9", Seq: 1, Codes: stored(q)})
		if got := b.searchAndCompare(t, q, nil, 10); got[0].N != 81 {
			t.Errorf("the newest vector is the nearest and was not found: %v", got[0])
		}
		if b.source.reads != 81 {
			t.Errorf("%d rows were read for 81: each read starts over", b.source.reads)
		}
	})
}

func TestDeletionRebuilds(t *testing.T) {
	each(t, func(t *testing.T, b *fixture) {
		b.fill(60)
		q := normalized(b.source.rows[30].Codes)
		if got := b.searchAndCompare(t, q, nil, 5); got[0].N != 31 {
			t.Fatalf("nearest is %v", got[0])
		}
		b.source.remove(31)
		for _, h := range b.searchAndCompare(t, q, nil, 60) {
			if h.N == 31 {
				t.Error("a deleted vector was found")
			}
		}
	})
}

func TestDamagedVectorsAreSkippedAndCounted(t *testing.T) {
	each(t, func(t *testing.T, b *fixture) {
		b.fill(30)
		damaged := map[int][]int8{4: nil, 9: make([]int8, b.dimension), 14: {1}, 29: make([]int8, b.dimension+1)}
		for i, v := range damaged {
			b.source.rows[i].Codes = v
		}
		got, err := b.index.Search(t.Context(), b.query(randomVector(b.random, b.dimension), nil, 100))
		if err != nil || len(got) != 26 {
			t.Fatalf("%d hits, %v; want the 26 that can be read", len(got), err)
		}
		if st := b.index.Stats(); st.Skipped != 4 || st.Vectors != 26 {
			t.Errorf("stats %+v", st)
		}
	})
}

func TestTwoNamespacesNeverMix(t *testing.T) {
	each(t, func(t *testing.T, b *fixture) {
		b.fill(20)
		for n := int64(1_000_001); n <= 1_000_020; n++ {
			b.source.put(b.row(n, "b0", n))
		}
		q := b.query(normalized(b.source.rows[25].Codes), nil, 40)
		for ns, first := range map[int64]int64{1: 1, 2: 1_000_001} {
			q.Namespace.ID = ns
			got, err := b.index.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 20 {
				t.Errorf("namespace %d: %d hits, want 20", ns, len(got))
			}
			for _, h := range got {
				if h.N < first || h.N >= first+20 {
					t.Errorf("namespace %d has %d", ns, h.N)
				}
			}
		}
	})
}

func TestConcurrentSearches(t *testing.T) {
	each(t, func(t *testing.T, b *fixture) {
		b.fill(200)
		queries := make([][]float32, 6)
		for i := range queries {
			queries[i] = randomVector(b.random, b.dimension)
		}
		more := make([]chat.VectorRow, 60)
		for i := range more {
			more[i] = b.row(int64(201+i), "b0", int64(i+1))
		}
		var wg sync.WaitGroup
		searched := make(chan struct{})
		for _, q := range queries {
			wg.Go(func() {
				for range 20 {
					got, err := b.index.Search(context.Background(), b.query(q, spans{"b0": {0, 1e6}}, 15))
					if err != nil || len(got) != 15 {
						t.Errorf("%d hits, %v", len(got), err)
					}
					searched <- struct{}{}
				}
			})
		}
		wg.Go(func() { // one change for every two searches, so that they overlap
			for i := range 20 * len(queries) {
				<-searched
				switch {
				case i%2 == 0:
					b.source.put(more[i/2])
				case i%6 == 1: // the next search reads everything again
					b.source.remove(int64(i))
				}
			}
		})
		wg.Wait()
		b.searchAndCompare(t, queries[0], nil, 30)
	})
}

func TestAnInterruptedLoadContinues(t *testing.T) {
	each(t, func(t *testing.T, b *fixture) {
		b.fill(3 * addBatch)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.index.Search(ctx, b.query(randomVector(b.random, b.dimension), nil, 5)); !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want the context's", err)
		}
		b.source.fail = errors.New("the disk is gone")
		if _, err := b.index.Search(t.Context(), b.query(randomVector(b.random, b.dimension), nil, 5)); chat.CodeOf(err) != chat.CodeInternal {
			t.Fatalf("error %v", err)
		}
		b.source.fail = nil
		b.searchAndCompare(t, randomVector(b.random, b.dimension), nil, 5)
		if b.source.reads > 4*addBatch {
			t.Errorf("%d rows read for %d: loaded rows are loaded again", b.source.reads, 3*addBatch)
		}
	})
}

func TestRandomHistories(t *testing.T) {
	each(t, func(t *testing.T, b *fixture) {
		rapid.Check(t, func(rt *rapid.T) { checkRandomHistory(rt, newFixture(b.variant)) })
	})
}

// checkRandomHistory runs a random history of a source: every search must find exactly the nearest vectors.
func checkRandomHistory(t *rapid.T, b *fixture) {
	b.random = rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	var next int64
	for range rapid.IntRange(1, 6).Draw(t, "rounds") {
		for range rapid.IntRange(0, 40).Draw(t, "added") {
			next += rapid.Int64Range(1, 3).Draw(t, "gap")
			r := b.row(next, chat.BranchID(fmt.Sprintf("b%d", b.random.IntN(4))), 1+b.random.Int64N(30))
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0:
				r.Codes = nil
			case 1, 2:
				if len(b.source.rows) > 0 { // a duplicate vector
					r.Codes = b.source.rows[b.random.IntN(len(b.source.rows))].Codes
				}
			}
			b.source.put(r)
		}
		if len(b.source.rows) > 0 && rapid.Bool().Draw(t, "delete") {
			b.source.remove(b.source.rows[b.random.IntN(len(b.source.rows))].N)
		}
		var scope chat.ScopeFilter
		if rapid.Bool().Draw(t, "scoped") {
			s := spans{}
			for i := range rapid.IntRange(0, 4).Draw(t, "branches") {
				after := b.random.Int64N(30)
				s[chat.BranchID(fmt.Sprintf("b%d", i))] = window{after, after + b.random.Int64N(30)}
			}
			scope = s
		}
		q := randomVector(b.random, b.dimension)
		b.searchAndCompare(t, q, scope, rapid.IntRange(1, 60).Draw(t, "limit"))
	}
}
