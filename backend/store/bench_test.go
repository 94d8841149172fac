package store

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/sqlite"
)

// Building data of the sizes in SPEC 14 takes minutes; -full does it.
var (
	full = flag.Bool("full", false, "benchmarks at the sizes of the specification")
	huge = flag.Bool("huge", false, "benchmarks of search with 1 000 000 units, which take 11 GB of disk and minutes to prepare")
)

func size(small, large int) int {
	if *full {
		return large
	}
	return small
}

func BenchmarkAccept(b *testing.B) {
	f := newFixture(b)
	_, branch := f.session("bench")
	for b.Loop() {
		t := f.accept(branch.ID, "a message of some words, as people write them to a model")
		b.StopTimer()
		_, err := f.FailTurn(f.ctx, chat.TurnFailure{TurnID: t.ID, Outcome: chat.OutcomeFailed})
		f.ok(err)
		b.StartTimer()
	}
}

func BenchmarkFinalize(b *testing.B) {
	f := newFixture(b)
	_, branch := f.session("bench")
	answer := strings.Repeat("an answer of some words ", 80)
	for b.Loop() {
		b.StopTimer()
		t := f.accept(branch.ID, "question")
		step := f.respond(t)
		end := chat.Finalization{TurnID: t.ID, Step: f.ended(step, chat.StepCompleted, answer), Message: chat.AssistantText(answer), Outcome: chat.OutcomeCompleted}
		b.StartTimer()
		_, err := f.Finalize(f.ctx, end)
		f.ok(err)
	}
}

// bulk inserts rows directly, without ledger events, because that is much faster.
func (f *fixture) bulk(branch chat.Branch, turns int) {
	f.Helper()
	hash := codec.Hash([]byte("x"))
	f.ok(f.core.DB.Writer.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO turns (id, session_id, branch_id, turn_seq, state_before, state_after, phase, outcome, index_status, primary_provider,
		  primary_model, created_at, updated_at, user_hash, assistant_hash, user_message_json, final_assistant_message_json)
		SELECT printf('%s-%08d', ?, i), ?, ?, i, ?, ?, 'Done', 'completed', 'ok', 'p', 'm', '2026-01-02T03:04:05.000Z', '2026-01-02T03:04:05.000Z',
		  ?, ?, ?, ? FROM n`, turns, branch.ID, branch.SessionID, branch.ID, branch.BaseState, branch.BaseState, hash, hash,
		`{"role":"user","blocks":[{"type":"text","text":"`+strings.Repeat("question ", 40)+`"}]}`,
		`{"role":"assistant","blocks":[{"type":"text","text":"`+strings.Repeat("answer ", 200)+`"}]}`).Error)
}

func BenchmarkLineagePage(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := newFixture(b)
			_, branch := f.session("bench")
			f.bulk(branch, n)
			for b.Loop() {
				got, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: branch.ID, Limit: 60, Newest: true})
				f.ok(err)
				if len(got) != 60 {
					b.Fatal(len(got))
				}
			}
		})
	}
}

func BenchmarkSessions(b *testing.B) {
	f := newFixture(b)
	for i := range 1000 {
		_, branch := f.session(fmt.Sprintf("session %d", i))
		f.bulk(branch, 10)
	}
	for b.Loop() {
		got, err := f.Sessions(f.ctx, chat.SessionQuery{})
		f.ok(err)
		if len(got) != 1000 {
			b.Fatal(len(got))
		}
	}
}

// bulkUnits gives each turn two units of about 500 characters; rareN occurs in one of 1 000 and oddN in one of 100.
func (f *fixture) bulkUnits(branch chat.Branch, turns int) {
	f.Helper()
	hash := codec.Hash([]byte("x"))
	f.ok(f.core.DB.Writer.Exec(`INSERT INTO chunks (id, session_id, branch_id, source_turn, ordinal, role, start_offset, end_offset, chunk_type, token_est,
		  chunker_version, created_at, content_hash, rendered_text)
		SELECT id || '-c', session_id, branch_id, id, 0, 'user', 0, 1, 'other', 1, 1, created_at, ?, 'x' FROM turns`, hash).Error)
	f.ok(f.core.DB.Writer.Exec(`WITH k (o) AS (VALUES (0), (1))
		INSERT INTO units (id, chunk_id, session_id, branch_id, turn_id, turn_seq, ordinal, message, start_offset, end_offset, tokens, content_hash, text)
		SELECT t.id || '-' || o, t.id || '-c', t.session_id, t.branch_id, t.id, t.turn_seq, o, 'user', 0, 1, 1, ?,
		  'rare' || ((t.turn_seq * 2 + o) % 1000) || ' odd' || ((t.turn_seq * 2 + o) % 100) || ? FROM turns t, k`,
		hash, strings.Repeat(" common words of every day", 19)).Error)
}

// BenchmarkVerify verifies a history of 4 000 events (100 000 with -full) with metrics for each turn. "without
// copies" leaves out the indexes that repeat tables, which shows what they cost.
func BenchmarkVerify(b *testing.B) {
	f := newFixture(b)
	_, branch := f.longSession(200)
	for events := int64(0); events < int64(size(4000, 100_000)); {
		_, err := f.Duplicate(f.ctx, branch.ID, "again")
		f.ok(err)
		events, err = sqlite.One[int64](f.core.DB.Reader, "events", "", `SELECT count(*) FROM events`)
		f.ok(err)
	}
	f.ok(f.core.DB.Writer.Exec(`INSERT OR IGNORE INTO metrics SELECT id, '', created_at, updated_at, ? FROM turns`, strings.Repeat(`{"search_ms":12}`, 15)).Error)
	f.checkpoint()
	_, err := f.Verify(f.ctx) // the first call creates an empty database to compare the schema with
	f.ok(err)
	verify := func(b *testing.B) {
		started := cpuTime()
		for b.Loop() {
			_, err := f.Verify(f.ctx)
			f.ok(err)
		}
		b.ReportMetric(float64((cpuTime()-started).Milliseconds())/float64(b.N), "cpu-ms/op")
	}
	b.Run("whole", verify)
	copies, err := sqlite.All[string](f.core.DB.Reader, `SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE 'idx!_%!_copy' ESCAPE '!'`)
	f.ok(err)
	for _, name := range copies {
		f.ok(f.core.DB.Writer.Exec(`DROP INDEX ` + name).Error)
	}
	b.Run("without copies", verify)
}

// BenchmarkSizes measures reading the sizes of a lineage, uncached and cached.
func BenchmarkSizes(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		f := newFixture(b)
		_, branch := f.session("bench")
		f.bulk(branch, n)
		f.ok(f.core.DB.Writer.Exec(`INSERT INTO turn_tokens SELECT id, 'e', 400 FROM turns`).Error)
		for _, c := range []struct {
			name   string
			forget bool
		}{{"first", true}, {"again", false}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				for b.Loop() {
					if c.forget {
						f.Store.maintenancePart.FinalSizes.Clear()
					}
					got, err := f.Sizes(f.ctx, branch.ID, "e")
					f.ok(err)
					if len(got) != n {
						b.Fatal(len(got))
					}
				}
			})
		}
	}
}

// BenchmarkRequests measures a request of 200 KB that repeats most of the previous one: writing it as a delta, and
// reading it through a chain of maximum length.
func BenchmarkRequests(b *testing.B) {
	sp := newSpeaker()
	base := []byte(sp.say(50_000))
	value := append(base[6000:len(base):len(base)], sp.say(1600)...)
	z, err := codec.PackAgainst(base, value)
	if err != nil || z == nil {
		b.Fatal(err)
	}
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			if _, err := codec.PackAgainst(base, value); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(z)), "bytes")
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			for range delta.MaxChain - 1 {
				if _, err := codec.UnpackAgainst(base, z); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			z = codec.Pack(value)
		}
		b.ReportMetric(float64(len(z)), "bytes")
	})
}

// BenchmarkLedger replays sessions of 100 and 200 turns (200 and 1 000 with -full) from the beginning, verifies them,
// and takes snapshots. The cost of an event is measured in CPU time, because that does not depend on the load of the
// machine; it must not grow with the ledger. "deltas" uses turns with long state summaries and answers, whose payloads
// are packed against earlier ones.
func BenchmarkLedger(b *testing.B) {
	for _, turns := range []int{size(100, 200), size(200, 1000)} {
		f := newFixture(b)
		s, _ := f.longSession(turns)
		b.Run(fmt.Sprint("replay/", turns), func(b *testing.B) { f.benchmarkReplay(b, s.ID) })
		b.Run(fmt.Sprint("snapshot/", turns), func(b *testing.B) {
			for b.Loop() {
				_, err := records.SnapshotSession(f.ctx, f.core, "bench", string(s.ID))
				f.ok(err)
			}
			bytes, err := sqlite.One[int64](f.core.DB.Reader, "snapshot", s.ID, `SELECT max(length(content)) FROM snapshots`)
			f.ok(err)
			b.ReportMetric(float64(bytes), "bytes")
		})
		b.Run(fmt.Sprint("verify/", turns), func(b *testing.B) {
			started := cpuTime()
			for b.Loop() {
				f.verifyClean()
			}
			b.ReportMetric(float64((cpuTime()-started).Microseconds())/float64(b.N*turns), "cpu-µs/turn")
		})
	}
	turns := size(50, 200)
	f := newFixture(b)
	s, branch := f.session("deltas")
	sp, rec := newSpeaker(), f.retriever()
	for range turns {
		f.exchange(branch, sp, rec)
	}
	b.Run(fmt.Sprint("deltas/", turns), func(b *testing.B) { f.benchmarkReplay(b, s.ID) })
}

func (f *fixture) benchmarkReplay(b *testing.B, s chat.SessionID) {
	events, started := int64(0), cpuTime()
	for b.Loop() {
		events = f.fromTheBeginning(s).EventSeq
	}
	b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64((cpuTime()-started).Microseconds())/float64(int64(b.N)*events), "cpu-µs/event")
}
