package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/store/sqlite"
)

// BenchmarkSealed does the same alternately with plain data and with a sealed copy of it. It reports the medians, and
// the speed of sealed data in relation to plain data.
func BenchmarkSealed(b *testing.B) {
	plain := newFixture(b)
	_, branch := plain.session("bench")
	for i := range size(40, 400) {
		plain.full(branch.ID, fmt.Sprintf("question %d of %s", i, benchText(30)), benchText(220))
	}
	_, scanned := plain.session("scanned")
	plain.bulk(scanned, size(5_000, 50_000))
	plain.checkpoint()
	plain.ok(plain.Store.Close())
	sealed := *plain
	sealed.dir = b.TempDir()
	lock, key := seal.Lock{Version: 1, Key: testKey.ID()}, testKey
	seal.Use(lock, key)
	b.Cleanup(seal.UseNone)
	plain.ok(sqlite.Recode(filepath.Join(plain.dir, sqlite.DatabaseFile), filepath.Join(sealed.dir, sqlite.DatabaseFile)))
	seal.UseNone()
	if text, err := os.ReadFile(filepath.Join(sealed.dir, sqlite.DatabaseFile)); err != nil || !seal.IsHeader(text) {
		b.Fatalf("it is not sealed: %v", err)
	}
	plain.open()
	sealed.open()
	b.Cleanup(func() { _ = sealed.Store.Close() })
	answer := strings.Repeat("an answer of some words ", 80)
	for _, work := range []struct {
		name string
		cold bool // nothing is in SQLite's cache
		do   func(f *fixture)
	}{
		{"insert", false, func(f *fixture) {
			t := f.accept(branch.ID, "a message of some words, as people write them to a model")
			_, err := f.FailTurn(f.ctx, chat.TurnFailure{TurnID: t.ID, Outcome: chat.OutcomeFailed})
			f.ok(err)
		}},
		{"turn", false, func(f *fixture) { f.full(branch.ID, "question", answer) }},
		// Random rows of a file just opened: pages near the root are in the cache, as they are soon in any use.
		{"point reads", true, func(f *fixture) {
			at := rand.New(rand.NewPCG(1, 2))
			for range 1000 {
				row := sqlite.Itoa(at.Int64N(int64(size(5_000, 50_000))))
				f.count(`SELECT count(*) FROM turns WHERE branch_id = '` + string(scanned.ID) + `' AND turn_seq = ` + row)
			}
		}},
		{"search", true, func(f *fixture) {
			_, err := f.SearchText(f.ctx, chat.TextQuery{Text: "question words"})
			f.ok(err)
		}},
		{"scan", true, func(f *fixture) { f.count(`SELECT sum(length(final_assistant_message_json)) FROM turns`) }},
		{"open", false, func(f *fixture) { f.reopen() }},
	} {
		b.Run(work.name, func(b *testing.B) {
			var took [2][]time.Duration
			for b.Loop() {
				for i, f := range []*fixture{plain, &sealed} {
					if work.cold {
						f.reopen()
					}
					begun := time.Now()
					work.do(f)
					took[i] = append(took[i], time.Since(begun))
				}
			}
			var median [2]float64
			for i := range took {
				slices.Sort(took[i])
				median[i] = float64(took[i][len(took[i])/2].Nanoseconds()) / 1000
			}
			b.ReportMetric(median[0], "plain-µs")
			b.ReportMetric(median[1], "sealed-µs")
			b.ReportMetric(median[0]/median[1], "sealed/plain")
		})
	}
}

// count runs a query for a number, outside of any cache of the store.
func (f *fixture) count(query string) {
	f.Helper()
	_, err := sqlite.One[int64](f.core.DB.Reader, "count", "", query)
	f.ok(err)
}
