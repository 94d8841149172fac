package vectorindex

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
)

// timers are the calls that an index scheduled; the test runs them.
type timers struct {
	calls []func()
	after []time.Duration
}

func (x *timers) schedule(d time.Duration, f func()) func() bool {
	x.calls, x.after = append(x.calls, f), append(x.after, d)
	return func() bool { return true }
}

func newTimed(v variant) (*fixture, *clock.Fake, *timers) {
	b := newFixture(v)
	now, timer := clock.NewFake(time.Date(2026, 5, 2, 8, 0, 0, 0, time.UTC)), &timers{}
	b.index = New(Options{Source: b.source, Clock: now.Now, After: timer.schedule})
	return b, now, timer
}

func (b *fixture) search(t *testing.T, session chat.SessionID) {
	t.Helper()
	q := b.query(randomVector(b.random, b.dimension), nil, 3)
	q.Session = session
	if _, err := b.index.Search(t.Context(), q); err != nil {
		t.Fatal(err)
	}
}

func TestIdleShardsAreReleased(t *testing.T) {
	b, now, timer := newTimed(variants[0])
	b.fill(10)
	b.search(t, "s1")
	now.Advance(6 * time.Minute)
	b.search(t, "")
	if len(timer.calls) != 1 || timer.after[0] != idleAfter {
		t.Fatalf("timers %v, want one of %v", timer.after, idleAfter)
	}
	now.Advance(4 * time.Minute)
	timer.calls[0]()
	if st := b.index.Stats(); st.Shards != 1 {
		t.Fatalf("%d shards after ten minutes of one and four of the other", st.Shards)
	}
	if len(timer.calls) != 2 || timer.after[1] != 6*time.Minute {
		t.Fatalf("timers %v: the next check must be when the other shard is due", timer.after)
	}
	now.Advance(6 * time.Minute)
	timer.calls[1]()
	if st := b.index.Stats(); st.Shards != 0 || st.Bytes != 0 || len(timer.calls) != 2 {
		t.Errorf("stats %+v, %d timers: no shard remains, so no timer may run", st, len(timer.calls))
	}
	b.search(t, "s1")
	if len(timer.calls) != 3 {
		t.Error("no timer for a shard that was loaded again")
	}
}

func TestClosedIndexIsEmpty(t *testing.T) {
	b, _, timer := newTimed(variants[1])
	b.fill(10)
	b.search(t, "")
	b.index.Close()
	if st := b.index.Stats(); st != (Stats{}) {
		t.Errorf("stats %+v", st)
	}
	b.search(t, "") // a search that ends late
	if len(timer.calls) != 1 {
		t.Error("a closed index started a timer")
	}
}

func TestMemoryIsBoundedAndInProportionToTheScope(t *testing.T) {
	b, now, _ := newTimed(variants[0])
	for n := int64(1); n <= 400; n++ {
		r := b.row(n, "b", n)
		r.Session = chat.SessionID(fmt.Sprintf("s%d", n%4))
		b.source.put(r)
	}
	b.search(t, "s1")
	single := b.index.Stats()
	if b.source.reads != 100 || single.Vectors != 100 {
		t.Fatalf("%d rows read, %d loaded for a session of 100", b.source.reads, single.Vectors)
	}
	b.index.o.MaxBytes = 2*single.Bytes + single.Bytes/2 // space for two sessions
	for _, s := range []chat.SessionID{"s2", "s1", "s3"} {
		now.Advance(time.Second)
		b.search(t, s)
	}
	for s, want := range map[chat.SessionID]bool{"s1": true, "s2": false, "s3": true} {
		if _, ok := b.index.shards[key{1, s}]; ok != want {
			t.Errorf("session %s is kept: %v, want %v: the least recently used one must go", s, ok, want)
		}
	}
	b.index.o.MaxBytes = 1
	b.search(t, "s3")
	if st := b.index.Stats(); st.Shards != 1 || st.Vectors != 100 {
		t.Errorf("stats %+v: the scope in use stays", st)
	}
}

func TestLargeSessionLeavesChromem(t *testing.T) {
	for _, c := range []struct {
		dimension int
		flat      string
	}{{16, "*vectorindex.codes"}, {maxCodes + 8, "*vectorindex.signs"}} {
		t.Run(c.flat, func(t *testing.T) {
			b := newFixture(variant{dimension: c.dimension, session: "s1"})
			b.fill(maxChromem - 1)
			b.search(t, "s1")
			s := b.index.shards[key{1, "s1"}]
			if got := fmt.Sprintf("%T", s.engine); got != "*vectorindex.chromemEngine" {
				t.Fatalf("%s for %d vectors", got, s.count())
			}
			b.fill(30)
			q := normalized(b.source.rows[maxChromem+3].Codes)
			if got := b.searchAndCompare(t, q, nil, 1); got[0].N != maxChromem+4 {
				t.Errorf("nearest is %v", got)
			}
			if got := fmt.Sprintf("%T", s.engine); got != c.flat {
				t.Errorf("%s for %d vectors, want %s", got, s.count(), c.flat)
			}
			if s.count() != maxChromem+29 {
				t.Errorf("%d vectors were kept of %d", s.count(), maxChromem+29)
			}
			same(t, mustSearch(t, b, q), exact(b.source.rows, 1, "s1", q, nil, 1))
		})
	}
}

func mustSearch(t *testing.T, b *fixture, q []float32) []chat.VectorHit {
	t.Helper()
	got, err := b.index.Search(t.Context(), b.query(q, nil, 1))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestSignsFillTheLimit: if the nearest vectors by sign bits are deleted before they are read, more are read.
func TestSignsFillTheLimit(t *testing.T) {
	b := newFixture(variants[3])
	b.source.deleted = map[int64]bool{}
	base := randomVector(b.random, b.dimension)
	for n := int64(1); n <= 3*minDepth; n++ {
		v := randomVector(b.random, b.dimension)
		if n <= 2*minDepth {
			for i := range v {
				v[i] = base[i] + v[i]/4
			}
			b.source.deleted[n] = true
		}
		b.source.put(chat.VectorRow{N: n, Session: "s1", Branch: "b", Seq: n, Codes: stored(v)})
	}
	got, err := b.index.Search(t.Context(), b.query(base, nil, 30))
	if err != nil || len(got) != 30 {
		t.Fatalf("%d hits, %v; there are %d", len(got), err, minDepth)
	}
	for _, h := range got {
		if h.N <= 2*minDepth {
			t.Errorf("%d was deleted", h.N)
		}
	}
}

// TestSignsFindTheNearestOfMany: with clustered vectors, no neighbour is missed at the depth that is read.
func TestSignsFindTheNearestOfMany(t *testing.T) {
	b := newFixture(variants[3])
	centres := make([][]float32, 20)
	for i := range centres {
		centres[i] = randomVector(b.random, b.dimension)
	}
	near := func(c []float32) []float32 {
		v := randomVector(b.random, b.dimension)
		for i := range v {
			v[i] = c[i] + 1.2*v[i]
		}
		return unit(v)
	}
	for n := int64(1); n <= 6000; n++ {
		b.source.put(chat.VectorRow{N: n, Session: "s1", Branch: "b", Seq: n, Codes: stored(near(centres[n%20]))})
	}
	found, total := 0, 0
	for i := range 10 {
		q := near(centres[i])
		got, err := b.index.Search(t.Context(), b.query(q, nil, 20))
		if err != nil {
			t.Fatal(err)
		}
		isHit := map[int64]bool{}
		for _, h := range got {
			isHit[h.N] = true
		}
		for _, h := range exact(b.source.rows, 1, "", q, nil, 20) {
			total++
			if isHit[h.N] {
				found++
			}
		}
	}
	if recall := float64(found) / float64(total); recall < 0.95 {
		t.Errorf("recall %.3f of the exact top 20", recall)
	} else {
		t.Logf("recall %.3f of the exact top 20", recall)
	}
}

func TestAnInvalidQueryVectorIsRefused(t *testing.T) {
	b := newFixture(variants[1])
	b.fill(5)
	nan := randomVector(b.random, b.dimension)
	nan[0] = float32(math.NaN())
	for name, q := range map[string][]float32{
		"empty": nil, "zeros": make([]float32, b.dimension), "NaN": nan,
		"wrong dimension": randomVector(rand.New(rand.NewPCG(1, 1)), b.dimension+1),
	} {
		if _, err := b.index.Search(t.Context(), b.query(q, nil, 5)); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestWarmIsBounded: vectors that would not fit are not loaded in advance, but by the searches that need them.
func TestWarmIsBounded(t *testing.T) {
	for _, v := range variants[1:] {
		b := newFixture(v)
		b.fill(500)
		ns := b.query(nil, nil, 0).Namespace
		ns.Total = 500
		b.index.o.MaxBytes = estimate(ns) - 1
		if err := b.index.Warm(t.Context(), ns); err != nil || b.source.reads != 0 {
			t.Errorf("%s: %v, %d rows were read", v.name, err, b.source.reads)
		}
		b.index.o.MaxBytes = 1 << 20
		if err := b.index.Warm(t.Context(), ns); err != nil || b.index.Stats().Vectors != 500 {
			t.Errorf("%s: %v, %+v", v.name, err, b.index.Stats())
		}
	}
}

// TestASessionIsSearchedInChromem: also while the vectors of all sessions are loaded, and once for all its searches.
func TestASessionIsSearchedInChromem(t *testing.T) {
	b := newFixture(variants[1])
	for n := int64(1); n <= 300; n++ {
		r := b.row(n, "b0", n)
		r.Session = chat.SessionID(fmt.Sprintf("s%d", n%3))
		b.source.put(r)
	}
	b.search(t, "")
	b.session = "s1"
	q := randomVector(b.random, b.dimension)
	b.searchAndCompare(t, q, nil, 20)
	b.searchAndCompare(t, q, spans{"b0": {100, 200}}, 50)
	if st := b.index.Stats(); st.Shards != 2 || b.source.reads != 300+100 {
		t.Errorf("%d shards, %d rows read", st.Shards, b.source.reads)
	}
	if _, ok := b.index.shard(key{b.query(q, nil, 1).Namespace.ID, "s1"}, b.dimension).engine.(*chromemEngine); !ok {
		t.Error("the session is not in chromem-go")
	}
}

// Stats is the current content of the index.
type Stats struct {
	Shards  int
	Vectors int
	Bytes   int64
	Skipped int64 // unreadable vectors
}

// Stats counts what is in memory.
func (x *Index) Stats() Stats {
	x.mu.Lock()
	defer x.mu.Unlock()
	st := Stats{Shards: len(x.shards)}
	for _, s := range x.shards {
		st.Bytes += s.size.Load()
		st.Skipped += s.skipped.Load()
		st.Vectors += s.count()
	}
	return st
}

func (s *shard) count() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.engine == nil {
		return 0
	}
	return s.engine.len()
}
