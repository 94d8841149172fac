package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/embedding/encoder"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/vectorindex"
)

// BenchmarkHybridSearch measures a whole search of a turn: the vector of the question, search by words and by
// vectors, ranking, and packing of 6 000 tokens. SPEC 14: p95 under 50 ms with the built-in embedder and 100 000
// chunks in scope (-full).
func BenchmarkHybridSearch(b *testing.B) {
	f, branch, turns := hybridBench(b)
	f.benchmarkWarmup(b, 2*turns)
	index := vectorindex.New(vectorindex.Options{Source: f.Store})
	defer index.Close()
	engine := retrieval.New(retrieval.Deps{
		Store: f.Store, Vectors: index, Settings: retrieval.Measured,
		Embedder: func(context.Context, chat.Namespace) (embedding.Embedder, error) { return builtIn{theEncoder}, nil },
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
			started := cpuTime()
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
			if used := cpuTime() - started; used > 0 {
				b.ReportMetric(float64(used.Microseconds())/1000/float64(n), "cpu-ms")
			}
			for stage, ms := range map[string]float64{"vector-ms": spent.Vector, "keyword-ms": spent.Keyword, "rank-ms": spent.Rank, "pack-ms": spent.Pack} {
				b.ReportMetric(ms/float64(n), stage)
			}
		})
	}
}

// theEncoder unpacks its weights once.
var theEncoder = encoder.New()

// builtIn is the embedder of the program, except that the vectors of passages are chosen by the hash of their text: a
// search costs the same whatever they mean, and encoding 100 000 of them takes minutes.
type builtIn struct{ *encoder.Embedder }

func (e builtIn) Embed(ctx context.Context, kind embedding.Kind, texts []string) ([][]float32, error) {
	if kind == embedding.Query {
		return e.Embedder.Embed(ctx, kind, texts)
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		random := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(text))))
		out[i] = make([]float32, encoder.Dimension)
		sum := 0.0
		for j := range out[i] {
			x := random.NormFloat64()
			out[i][j] = float32(x)
			sum += x * x
		}
		for j := range out[i] {
			out[i][j] /= float32(math.Sqrt(sum))
		}
	}
	return out, nil
}

// hybridBench returns the history of recallBench with vectors of the built-in embedder and rows of realistic size. With
// -into DIRECTORY it is kept there and used by the next run, because 1 000 000 units take minutes to make.
func hybridBench(b *testing.B) (*fixture, chat.Branch, int) {
	dir := *into
	if dir == "" {
		dir = b.TempDir()
	} else if sqlite.Exists(dir, sqlite.DatabaseFile) {
		f := &fixture{TB: b, ctx: b.Context(), clock: clock.NewFake(start), dir: dir}
		f.open()
		b.Cleanup(func() { _ = f.Store.Close() })
		sessions, err := f.Sessions(f.ctx, chat.SessionQuery{})
		f.ok(err)
		units, _, err := f.UnitTotals(f.ctx)
		f.ok(err)
		return f, chat.Branch{ID: sessions[0].ActiveBranch, SessionID: sessions[0].ID}, units / 2
	}
	f, branch, turns := recallBenchIn(b, dir)
	f.distinct()
	f.embedAll(builtIn{theEncoder})
	f.slim()
	// As in a running program, the log is smaller than the database, and the readers' caches are sized for it.
	f.checkpoint()
	f.reopen()
	return f, branch, turns
}

// benchmarkWarmup measures loading all vectors, from their rows and from the vector cache, and the first search of a process,
// with a question that only vectors can answer.
func (f *fixture) benchmarkWarmup(b *testing.B, units int) {
	embedder := func(context.Context, chat.Namespace) (embedding.Embedder, error) { return builtIn{theEncoder}, nil }
	for _, from := range []string{"rows", "cache"} {
		if from == "cache" {
			f.ok(f.SaveVectors(f.ctx))
		}
		for stage, do := range map[string]func(*retrieval.Engine) error{
			"warm": func(e *retrieval.Engine) error { return e.Warm(f.ctx) },
			"first-by-vectors": func(e *retrieval.Engine) error {
				_, err := e.Search(f.ctx, retrieval.Query{Text: "everydayish commonplaces", Within: chat.Within{Scope: chat.ScopeAll}, MaxTokens: 6000})
				return err
			},
		} {
			b.Run(fmt.Sprintf("%s/%s/%d", stage, from, units), func(b *testing.B) {
				for b.Loop() {
					index := vectorindex.New(vectorindex.Options{Source: f.Store})
					f.ok(do(retrieval.New(retrieval.Deps{Store: f.Store, Vectors: index, Settings: retrieval.Measured, Embedder: embedder})))
					index.Close()
				}
			})
		}
	}
}

// BenchmarkIndexTurn measures making a turn searchable in a large history: chunks, vectors, and storing both.
func BenchmarkIndexTurn(b *testing.B) {
	f, _, turns := recallBench(b)
	f.embedAll(builtIn{theEncoder})
	ns, ok, err := f.Serving(f.ctx)
	if err != nil || !ok {
		b.Fatal(ok, err)
	}
	_, branch := f.session("grows")
	sentence := "The %d deployment of the gateway failed at step %d because certificate %d had expired, so we renewed it and started again. "
	b.Run(fmt.Sprintf("%d", 2*turns), func(b *testing.B) {
		n := 0
		var took []time.Duration
		for b.Loop() {
			b.StopTimer()
			answer := ""
			for i := range 12 {
				answer += fmt.Sprintf(sentence, n, i, n*i)
			}
			turn := f.say(branch.ID, fmt.Sprintf(sentence, n, n, n), answer)
			f.commitAll(branch.ID)
			n++
			b.StartTimer()
			started := time.Now()
			f.ok(f.indexAsTheProgram(turn.ID, ns.ID))
			took = append(took, time.Since(started))
		}
		reportP95(b, took)
	})
}

// indexAsTheProgram chunks and embeds a turn and stores the result, as the jobs do.
func (f *fixture) indexAsTheProgram(id chat.TurnID, namespace int64) error {
	turn, err := f.Turn(f.ctx, id)
	if err != nil {
		return err
	}
	indexing := chat.Indexing{TurnID: id, Status: chat.IndexOK, Chunks: chunking.Chunk(turn, chunking.Options{MinTokens: 200, MaxTokens: 800})}
	var texts []string
	for _, c := range indexing.Chunks {
		for _, u := range c.Units {
			texts = append(texts, u.Text)
		}
	}
	vectors, err := theEncoder.Embed(f.ctx, embedding.Passage, texts)
	if err != nil {
		return err
	}
	indexing.Vectors = map[int64][][]float32{namespace: vectors}
	return f.Index(f.ctx, indexing)
}

// distinct gives each turn of a bulk its own message, because packing leaves out repeated text.
func (f *fixture) distinct() {
	f.Helper()
	turns, err := sqlite.All[schema.TurnRow](f.core.DB.Writer, `SELECT id, turn_seq FROM turns`)
	f.ok(err)
	f.ok(f.core.Write(f.ctx, "bench", func(t *core.Tx) error {
		for _, turn := range turns {
			words := strings.Repeat(fmt.Sprintf("question%d ", turn.TurnSeq), 1000)[:1000]
			message, _, err := schema.EncodeMessage(chat.UserText(words))
			if err != nil {
				return err
			}
			for sql, args := range map[string][]any{
				`UPDATE turns SET user_message_json = ? WHERE id = ?`:                                                             {message, turn.ID},
				`UPDATE chunks SET rendered_text = '', end_offset = 1000, content_hash = ? WHERE source_turn = ?`:                 {codec.Hash([]byte(words)), turn.ID},
				`UPDATE units SET start_offset = 500 * ordinal, end_offset = 500 * ordinal + 500, tokens = 125 WHERE turn_id = ?`: {turn.ID},
			} {
				if _, err := t.Exec(sql, args...); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// slim gives units rows of realistic size: only a date and a speaker, because the text is in the message. They are
// already indexed.
func (f *fixture) slim() {
	f.Helper()
	for _, sql := range []string{
		`DROP TRIGGER units_fts_update`, `UPDATE units SET text = '[2 May 2026] user: ', said = 1`, `VACUUM`,
	} {
		f.ok(f.core.DB.Writer.Exec(sql).Error)
	}
}

// embedAll embeds every unit and makes the namespace the serving one.
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
