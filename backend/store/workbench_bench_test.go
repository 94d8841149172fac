package store

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding/words"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/store/sqlite"
)

// p95 times repeated calls and reports the 95th percentile.
func p95(b *testing.B, call func(i int)) {
	b.Helper()
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		started := time.Now()
		call(i)
		took = append(took, time.Since(started))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

// forks inserts n forks of three turns each directly as rows, spread over the turns of a branch.
func (f *fixture) forks(main chat.Branch, turns, n int) {
	f.Helper()
	for i := range n {
		at := int64((i+1)*turns/(n+1) + 1)
		id, turn := fmt.Sprintf("%s-f%04d", main.ID, i), fmt.Sprintf("%s-%08d", main.ID, at)
		f.ok(f.core.DB.Writer.Exec(`INSERT INTO branches (id, session_id, created_at, parent_branch, fork_turn, fork_seq, base_state, head_state, head_seq, label)
			VALUES (?, ?, '2026-01-02T03:04:06.000Z', ?, ?, ?, ?, ?, 0, ?)`, id, main.SessionID, main.ID, turn, at, main.BaseState, main.BaseState,
			fmt.Sprintf("fork %d", i)).Error)
		f.ok(f.core.DB.Writer.Exec(`INSERT INTO turns (id, session_id, branch_id, turn_seq, state_before, state_after, phase, outcome, index_status, primary_provider,
			  primary_model, created_at, updated_at, user_hash, assistant_hash, user_message_json, final_assistant_message_json)
			SELECT ? || '-' || t.turn_seq, session_id, ?, turn_seq, state_before, state_after, phase, outcome, index_status, primary_provider,
			  primary_model, created_at, updated_at, user_hash, assistant_hash, user_message_json, final_assistant_message_json
			FROM turns t WHERE t.branch_id = ? AND t.turn_seq BETWEEN ? AND ?`, id, id, main.ID, at+1, at+3).Error)
	}
}

// BenchmarkTree builds the tree of 300 forks on 10 000 turns (target: under 50 ms).
func BenchmarkTree(b *testing.B) {
	f := newFixture(b)
	session, main := f.session("bench")
	f.bulk(main, 10_000)
	f.forks(main, 10_000-10, 300)
	p95(b, func(int) {
		tree, err := f.Tree(f.ctx, session.ID)
		f.ok(err)
		if len(tree.Runs) < 600 {
			b.Fatal(len(tree.Runs))
		}
	})
}

// BenchmarkFind searches 10 000 turns of 1 KB for a rare and for a common text (target: under 300 ms).
func BenchmarkFind(b *testing.B) {
	for name, text := range map[string]string{"rare": "nowhere at all", "common": "question"} {
		b.Run(name, func(b *testing.B) {
			f := newFixture(b)
			_, main := f.session("bench")
			f.bulk(main, 10_000)
			p95(b, func(int) {
				_, err := f.Find(f.ctx, chat.FindQuery{Branch: main.ID, Text: text, Limit: 5000})
				f.ok(err)
			})
		})
	}
}

// BenchmarkSearchText searches 100 000 units in 100 sessions (target: under 100 ms).
func BenchmarkSearchText(b *testing.B) {
	f := newFixture(b)
	for i := range 100 {
		_, branch := f.session(fmt.Sprintf("session %d", i))
		f.bulk(branch, 500)
	}
	f.bulkUnits(chat.Branch{}, 0)
	for _, q := range []string{"rare7 ", "odd7 common", "common ", "com", "c", `"common words of every"`, "odd3 rare403 every", "nowhere"} {
		b.Run(strings.ReplaceAll(strings.TrimSpace(q), " ", "_"), func(b *testing.B) {
			p95(b, func(int) {
				_, err := f.SearchText(f.ctx, chat.TextQuery{Text: q})
				f.ok(err)
			})
		})
	}
}

// BenchmarkDuplicate duplicates a session of 1 000 turns.
func BenchmarkDuplicate(b *testing.B) {
	f := newFixture(b)
	_, main := f.session("bench")
	f.bulk(main, 1000)
	for b.Loop() {
		_, err := f.Duplicate(f.ctx, main.ID, "copy")
		f.ok(err)
	}
}

// into is the directory where BenchmarkColdStartData leaves data for the program's own benchmark, and where
// BenchmarkHybridSearch keeps its data between runs.
var into = flag.String("into", "", "directory for the data of the cold start, or of HybridSearch, which uses what it finds there")

// BenchmarkColdStartData creates 1 000 sessions with 100 000 units and their vectors.
func BenchmarkColdStartData(b *testing.B) {
	if *into == "" {
		b.Skip("-into DIRECTORY is not given")
	}
	f := &fixture{TB: b, ctx: b.Context(), clock: clock.NewFake(start), dir: *into}
	f.ok(os.WriteFile(filepath.Join(f.dir, sqlite.DatabaseFile), template(), 0o600))
	f.open()
	for i := range 1000 {
		_, branch := f.session(fmt.Sprintf("session %d", i))
		f.bulk(branch, 50)
	}
	f.bulkUnits(chat.Branch{}, 0)
	f.distinct()
	f.embedAll(words.New())
	f.slim()
	f.ok(f.SaveVectors(f.ctx))
	f.ok(f.Store.Close())
}
