package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/embedding/local"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/vectorindex"
)

// BenchmarkHybridSearch is a whole search as a turn makes it: the question's vector,
// both halves, ranking, packing of 6 000 tokens. SPEC 14: p95 under 50 ms with the
// local embedder at 100 000 chunks in scope (-full).
func BenchmarkHybridSearch(b *testing.B) {
	f, branch, turns := recallBench(b)
	f.distinct()
	f.embedAll(local.New())
	f.slim()
	index := vectorindex.New(vectorindex.Options{Source: f.Store})
	defer index.Close()
	engine := retrieval.New(retrieval.Deps{
		Store: f.Store, Vectors: index, Settings: retrieval.Measured,
		Embedder: func(context.Context, chat.Namespace) (embedding.Embedder, error) { return local.New(), nil },
	})
	for _, c := range []struct {
		name string
		in   chat.Within
	}{
		{"lineage", chat.Within{Scope: chat.ScopeLineage, Branch: branch.ID, Before: int64(turns - 20)}},
		{"all", chat.Within{Scope: chat.ScopeAll, Branch: branch.ID}},
	} {
		b.Run(fmt.Sprintf("%s/%d", c.name, 2*turns), func(b *testing.B) {
			n := 0
			var spent retrieval.Timing
			begun := cpuTime()
			timed(b, func() {
				n++
				found, err := engine.Search(f.ctx, retrieval.Query{
					Text: fmt.Sprintf("Where did rare%d and rare%d meet odd%d, and who saw odd%d?", n%1000, (n*7)%1000, n%100, (n*3)%100), Within: c.in, MaxTokens: 6000,
				})
				f.ok(err)
				if len(found.Artifacts) < 10 || found.Embedder == "" {
					b.Fatalf("%d artifacts, %q", len(found.Artifacts), found.Embedder)
				}
				x := found.Timing
				spent.Vector, spent.Keyword, spent.Rank, spent.Pack = spent.Vector+x.Vector, spent.Keyword+x.Keyword, spent.Rank+x.Rank, spent.Pack+x.Pack
			})
			if used := cpuTime() - begun; used > 0 {
				b.ReportMetric(float64(used.Microseconds())/1000/float64(n), "cpu-ms")
			}
			for what, ms := range map[string]float64{"vector-ms": spent.Vector, "keyword-ms": spent.Keyword, "rank-ms": spent.Rank, "pack-ms": spent.Pack} {
				b.ReportMetric(ms/float64(n), what)
			}
		})
	}
}

// distinct gives each turn of a bulk a message of its own, and its chunk and two units
// their places in it: packing leaves out what says the same again.
func (f *fixture) distinct() {
	f.Helper()
	turns, err := all[turnRow](f.writer, `SELECT id, turn_seq FROM turns`)
	f.ok(err)
	f.ok(f.write(f.ctx, "bench", func(t *tx) error {
		for _, turn := range turns {
			words := strings.Repeat(fmt.Sprintf("question%d ", turn.TurnSeq), 1000)[:1000]
			message, _, err := encodeMessage(chat.UserText(words))
			if err != nil {
				return err
			}
			for sql, args := range map[string][]any{
				`UPDATE turns SET user_message_json = ? WHERE id = ?`:                                                             {message, turn.ID},
				`UPDATE chunks SET rendered_text = '', end_offset = 1000, content_hash = ? WHERE source_turn = ?`:                 {hashBytes([]byte(words)), turn.ID},
				`UPDATE units SET start_offset = 500 * ordinal, end_offset = 500 * ordinal + 500, tokens = 125 WHERE turn_id = ?`: {turn.ID},
			} {
				if _, err := t.exec(sql, args...); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// slim gives units rows of the size that the product's have: a date and a speaker; the
// words stand in the message. They were indexed before.
func (f *fixture) slim() {
	f.Helper()
	for _, sql := range []string{
		`DROP TRIGGER units_fts_update`, `UPDATE units SET text = '[2 May 2026] user: ', said = 1`, `VACUUM`,
	} {
		f.ok(f.writer.Exec(sql).Error)
	}
}

// embedAll makes the vectors of every unit, and has them serve.
func (f *fixture) embedAll(e embedding.Embedder) {
	f.Helper()
	ns, err := f.OpenNamespace(f.ctx, e.Identity())
	f.ok(err)
	for {
		units, err := f.Unembedded(f.ctx, ns.ID, 2000)
		f.ok(err)
		if len(units) == 0 {
			break
		}
		texts := make([]string, len(units))
		for i, u := range units {
			texts[i] = u.Text
		}
		vectors, err := e.Embed(f.ctx, embedding.Passage, texts)
		f.ok(err)
		rows := make([]chat.UnitVector, len(units))
		for i, u := range units {
			rows[i] = chat.UnitVector{N: u.N, Vector: vectors[i]}
		}
		f.ok(f.PutVectors(f.ctx, ns.ID, rows))
	}
	f.ok(f.ServeNamespace(f.ctx, ns.ID))
}
