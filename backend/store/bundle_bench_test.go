package store

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// heapWatch returns the peak size of the heap while do runs.
func heapWatch(do func()) (peak uint64) {
	runtime.GC()
	old := debug.SetGCPercent(50) // keeps the heap close to what is live
	defer debug.SetGCPercent(old)
	var highest atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				highest.Store(max(highest.Load(), m.HeapAlloc))
			}
		}
	}()
	do()
	close(stop)
	<-done
	return highest.Load()
}

// longestWait returns the longest time that another writer had to wait while do ran.
func (f *fixture) longestWait(do func()) (longest time.Duration) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				started := time.Now()
				if err := f.PutSetting(f.ctx, "last_session", "x"); err != nil {
					panic(err)
				}
				longest = max(longest, time.Since(started))
			}
		}
	}()
	do()
	close(stop)
	<-done
	return longest
}

// sessionWithRequests returns a committed and indexed session. Each turn has about 400 tokens and a request that
// repeats most of the previous one.
func (f *fixture) sessionWithRequests(turns int) (chat.Session, chat.Branch) {
	f.Helper()
	s, b := f.session("long")
	for i := range turns {
		f.clock.Advance(time.Second)
		t := f.accept(b.ID, fmt.Sprintf("question %d of %s", i, benchText(30+i%40)))
		f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: t.ID, Manifest: []byte(`{"sections":[{"turn":` + sqlite.Itoa(int64(i)) + `}]}`), Tokens: 12}))
		step, err := f.BeginStep(f.ctx, chat.StepStart{TurnID: t.ID, Provider: "p", ModelID: "m",
			Request: []byte(strings.Repeat(benchText(400), 1+size(2, 20)) + sqlite.Itoa(int64(i)))})
		f.ok(err)
		words := benchText(220 + i%50)
		t, err = f.Finalize(f.ctx, chat.Finalization{TurnID: t.ID, Step: f.ended(step, chat.StepCompleted, words),
			Message: chat.AssistantText(words), Outcome: chat.OutcomeCompleted})
		f.ok(err)
		f.commitRun(b.ID, t.ID)
		f.index(t.ID)
	}
	return s, b
}

// BenchmarkBundle exports and imports a session of 300 turns (10 000 with -full).
func BenchmarkBundle(b *testing.B) {
	f := newFixture(b)
	turns := size(300, 10_000)
	s, _ := f.sessionWithRequests(turns)
	var bundle []byte
	b.Run(fmt.Sprintf("write/%d", turns), func(b *testing.B) {
		var peak uint64
		for b.Loop() {
			peak = heapWatch(func() { _, err := f.WriteBundle(f.ctx, s.ID, io.Discard, true); f.ok(err) })
		}
		b.ReportMetric(float64(peak)/(1<<20), "MB-heap")
		b.StopTimer()
		bundle = f.bundled(s.ID)
		b.ReportMetric(float64(len(bundle))/(1<<20), "MB-bundle")
	})
	b.Run(fmt.Sprintf("import/%d", turns), func(b *testing.B) {
		var peak uint64
		var waited time.Duration
		for b.Loop() {
			b.StopTimer()
			to := newFixture(b)
			b.StartTimer()
			peak = heapWatch(func() {
				waited = to.longestWait(func() {
					_, _, err := to.ImportBundle(to.ctx, bytes.NewReader(bundle), int64(len(bundle)), "")
					to.ok(err)
				})
			})
		}
		b.ReportMetric(float64(peak)/(1<<20), "MB-heap")
		b.ReportMetric(float64(waited.Milliseconds()), "ms-others-wait")
	})
}
