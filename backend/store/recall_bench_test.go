package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/sqlite"
)

// recallBench returns a large history: 5 000 turns with two units of 500 characters each, 50 000 with -full, 500 000 with
// -huge.
func recallBench(b *testing.B) (*fixture, chat.Branch, int) { return recallBenchIn(b, b.TempDir()) }

func recallBenchIn(b *testing.B, dir string) (*fixture, chat.Branch, int) {
	f := newFixtureIn(b, dir)
	_, branch := f.session("bench")
	turns := size(5_000, 50_000)
	if *huge {
		turns = 500_000
	}
	f.bulk(branch, turns)
	f.bulkUnits(branch, turns)
	return f, branch, turns
}

var eightTerms = []string{"rare17", "rare42", "odd3", "odd11", "odd90", "rare7", "rare500", "odd50"}

// timed runs do repeatedly and also reports the 95th percentile.
func timed(b *testing.B, do func()) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		at := time.Now()
		do()
		took = append(took, time.Since(at))
	}
	reportP95(b, took)
}

func reportP95(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

func BenchmarkSearchUnits(b *testing.B) {
	f, branch, turns := recallBench(b)
	child := branch
	for range 40 { // a lineage of many forks
		at := rand.Int64N(int64(turns)) + 1
		row, err := sqlite.One[string](f.core.DB.Reader, "turn", at, `SELECT id FROM turns WHERE branch_id = ? AND turn_seq = ?`, branch.ID, at)
		f.ok(err)
		child = f.fork(branch.ID, chat.TurnID(row))
	}
	for _, c := range []struct {
		name string
		in   chat.Within
	}{
		{"lineage", chat.Within{Scope: chat.ScopeLineage, Branch: branch.ID, Before: int64(turns - 20)}},
		{"fork", chat.Within{Scope: chat.ScopeLineage, Branch: child.ID}},
		{"session", chat.Within{Scope: chat.ScopeSession, Session: branch.SessionID}},
		{"all", chat.Within{Scope: chat.ScopeAll, Branch: branch.ID}},
		{"typed", chat.Within{Scope: chat.ScopeAll, Types: []chat.ChunkType{chat.ChunkOther}, Since: start.AddDate(-1, 0, 0)}},
	} {
		b.Run(fmt.Sprintf("%s/%d", c.name, 2*turns), func(b *testing.B) {
			timed(b, func() {
				hits, err := f.SearchUnits(f.ctx, eightTerms, c.in, 200)
				f.ok(err)
				if len(hits) == 0 {
					b.Fatal("nothing is found")
				}
			})
		})
	}
}

func BenchmarkUnitsNear(b *testing.B) {
	f, branch, turns := recallBench(b)
	in := chat.Within{Scope: chat.ScopeLineage, Branch: branch.ID}
	var spans []chat.SeqSpan
	var ns []int64
	for range 60 {
		at := rand.Int64N(int64(turns)) + 1
		spans = append(spans, chat.SeqSpan{Branch: branch.ID, From: at - 1, To: at + 1})
	}
	for range 400 {
		ns = append(ns, rand.Int64N(int64(2*turns))+1)
	}
	b.Run(fmt.Sprintf("near60/%d", 2*turns), func(b *testing.B) {
		timed(b, func() {
			units, err := f.UnitsNear(f.ctx, in, spans)
			f.ok(err)
			if len(units) < 200 {
				b.Fatal(len(units))
			}
		})
	})
	b.Run(fmt.Sprintf("units400/%d", 2*turns), func(b *testing.B) {
		timed(b, func() {
			if _, err := f.Units(f.ctx, in, ns); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run(fmt.Sprintf("chunks20/%d", 2*turns), func(b *testing.B) {
		ids, err := sqlite.All[chat.ChunkID](f.core.DB.Reader, `SELECT id FROM chunks LIMIT 20`)
		f.ok(err)
		timed(b, func() {
			if _, err := f.ChunkTexts(f.ctx, ids); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run(fmt.Sprintf("list/%d", 2*turns), func(b *testing.B) {
		timed(b, func() {
			if _, _, err := f.Chunks(f.ctx, chat.ChunkQuery{Within: in, Limit: 50}); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run(fmt.Sprintf("scope/%d", 2*turns), func(b *testing.B) {
		timed(b, func() {
			if _, err := f.ScopeFilter(f.ctx, chat.Within{Scope: chat.ScopeAll, Branch: branch.ID}); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// BenchmarkVectorRows reads all vectors of a namespace, a thousand of them by unit, and a sample.
func BenchmarkVectorRows(b *testing.B) {
	for _, dimension := range []int{256, 1536} {
		f, _, turns := recallBench(b)
		id := embedder
		id.Dimension = dimension
		ns, err := f.OpenNamespace(f.ctx, id)
		f.ok(err)
		vector, err := codec.Quantize(vectorOf("any", dimension), dimension)
		f.ok(err)
		f.ok(f.core.DB.Writer.Exec(`INSERT INTO unit_embeddings (unit_n, namespace_id, vector) SELECT n, ?, ? FROM units`, ns.ID, vector).Error)
		f.ok(f.ServeNamespace(f.ctx, ns.ID))
		name := func(operation string) string { return fmt.Sprintf("%s/%d/%d", operation, dimension, 2*turns) }
		var units []int64
		for range 1000 {
			units = append(units, rand.Int64N(int64(2*turns))+1)
		}
		b.Run(name("load"), func(b *testing.B) {
			timed(b, func() {
				n := 0
				f.ok(f.VectorRows(f.ctx, ns.ID, "", 0, func(chat.VectorRow) error { n++; return nil }))
				if n != 2*turns {
					b.Fatal(n)
				}
			})
		})
		b.Run(name("none-new"), func(b *testing.B) {
			timed(b, func() {
				f.ok(f.VectorRows(f.ctx, ns.ID, "", int64(2*turns), func(chat.VectorRow) error { b.Fatal("a row"); return nil }))
				_ = f.generation()
			})
		})
		b.Run(name("of1000"), func(b *testing.B) {
			timed(b, func() {
				if _, err := f.VectorsOf(f.ctx, ns.ID, units); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run(name("sample128"), func(b *testing.B) {
			timed(b, func() {
				if _, err := f.SampleVectors(f.ctx, ns.ID, 128); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run(name("serving"), func(b *testing.B) {
			timed(b, func() {
				if _, _, err := f.Serving(f.ctx); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run(name("missing"), func(b *testing.B) {
			timed(b, func() {
				if got, err := f.Unembedded(f.ctx, ns.ID, 64); err != nil || len(got) > 0 {
					b.Fatal(len(got), err)
				}
			})
		})
		f.ok(f.Store.Close())
	}
}
