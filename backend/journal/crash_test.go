package journal_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"contextinfinity/backend/journal"
	"contextinfinity/backend/journal/journaltest"
)

// schedule is the run of a journal up to a power failure.
type schedule struct {
	Mode    journal.Durability
	Appends []int // visible bytes of each event
	Pauses  []int // milliseconds after each event
	Faults  []fault
	End     bool
	Seed    uint64 // decides what else the disk keeps; 0: nothing
}

type fault struct {
	Op    journaltest.Op
	Nth   int
	Short int
}

func anySchedule(mode journal.Durability) *rapid.Generator[schedule] {
	return rapid.Custom(func(rt *rapid.T) schedule {
		n := rapid.IntRange(0, 30).Draw(rt, "events")
		s := schedule{
			Mode:    mode,
			Appends: rapid.SliceOfN(rapid.IntRange(0, 300), n, n).Draw(rt, "bytes"),
			Pauses:  rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 20, 60, 700, 3000}), n, n).Draw(rt, "pauses"),
			End:     rapid.Bool().Draw(rt, "end"),
			Seed:    rapid.Uint64Range(0, 1000).Draw(rt, "seed"),
		}
		for range rapid.IntRange(0, 2).Draw(rt, "faults") {
			s.Faults = append(s.Faults, fault{
				Op:    rapid.SampledFrom([]journaltest.Op{journaltest.OpWrite, journaltest.OpSync}).Draw(rt, "op"),
				Nth:   rapid.IntRange(1, 30).Draw(rt, "nth"),
				Short: rapid.IntRange(0, 100).Draw(rt, "short"),
			})
		}
		return s
	})
}

// reported records the progress that the writer reported last.
type reported struct {
	mu   sync.Mutex
	last journal.Progress
	err  error
}

func (r *reported) note(p journal.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Durable > p.Displayed || p.DurableSeq > p.Seq {
		r.err = fmt.Errorf("more durable than displayed: %+v", p)
	}
	if p.DurableSeq < r.last.DurableSeq || p.Durable < r.last.Durable {
		r.err = fmt.Errorf("durable decreased from %+v to %+v", r.last, p)
	}
	r.last = p
}

// check runs the schedule and returns an error if something was reported as durable and does not exist after the crash.
func (s schedule) check(t *testing.T, ignoreSync bool) (result error) {
	synctest.Test(t, func(t *testing.T) {
		fs := journaltest.NewCrashFS()
		for _, f := range s.Faults {
			if f.Op == journaltest.OpWrite {
				fs.ShortWrite(f.Nth, f.Short, syscall.ENOSPC)
			} else {
				fs.FailNth(f.Op, f.Nth, syscall.EIO)
			}
		}
		j, step, w := begin(t, fs, journal.Options{Durability: s.Mode})
		fs.IgnoreSync(ignoreSync)
		var r reported
		w.OnDurable(func(p journal.Progress) { r.note(p) })
		s.run(w, &r)
		var rng *rand.Rand
		if s.Seed > 0 {
			rng = rand.New(rand.NewPCG(s.Seed, 1))
		}
		fs.Crash(rng)
		rep := mustReplay(t, j, step)
		_ = w.Abandon()
		result = r.compare(rep, s)
	})
	return result
}

// run appends until the schedule ends or the disk fails. After synctest.Wait no callback runs, so progress is recorded
// in the order in which it was reported.
func (s schedule) run(w *journal.Writer, r *reported) {
	for i, n := range s.Appends {
		_, err := w.Append(text(strings.Repeat("x", n)), n)
		synctest.Wait()
		r.note(w.Progress())
		if err != nil {
			break
		}
		time.Sleep(time.Duration(s.Pauses[i]) * time.Millisecond)
		synctest.Wait()
		r.note(w.Progress())
	}
	if s.End {
		p, _ := w.End(journal.EndDone, "")
		r.note(p)
	}
}

func (r *reported) compare(rep journal.Replayed, s schedule) error {
	if r.err != nil {
		return r.err
	}
	if rep.BadLine != 0 {
		return fmt.Errorf("line %d is damaged, but a crash only truncates", rep.BadLine)
	}
	if rep.LastSeq < r.last.DurableSeq {
		return fmt.Errorf("line %d was reported as durable, %d exist", r.last.DurableSeq, rep.LastSeq)
	}
	visible := int64(0)
	for i := range rep.Events {
		visible += int64(s.Appends[i])
	}
	if visible < r.last.Durable {
		return fmt.Errorf("%d bytes were reported as durable, %d exist", r.last.Durable, visible)
	}
	return nil
}

func TestDurableTextSurvivesACrash(t *testing.T) {
	for _, mode := range []journal.Durability{journal.Buffered, journal.WriteAhead} {
		t.Run(string(mode), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				if err := anySchedule(mode).Draw(rt, "schedule").check(t, false); err != nil {
					rt.Fatal(err)
				}
			})
		})
	}
}

// The property above proves something only if it fails when fsync does nothing.
func TestTheCheckDetectsAMissingFsync(t *testing.T) {
	for _, mode := range []journal.Durability{journal.Buffered, journal.WriteAhead} {
		detected := 0
		gen := anySchedule(mode)
		for seed := range 50 {
			if gen.Example(seed).check(t, true) != nil {
				detected++
			}
		}
		t.Logf("%s: %d of 50 schedules detect the missing fsync", mode, detected)
		if detected < 10 {
			t.Errorf("%s: only %d of 50 schedules detect the missing fsync", mode, detected)
		}
	}
}

// After a crash only synced data is certain.
func TestCrashFS(t *testing.T) {
	fs := journaltest.NewCrashFS()
	_ = fs.MkdirAll("d")
	f, err := fs.Create("d/a")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.Write([]byte("synced"))
	_ = f.Sync()
	_, _ = f.Write([]byte("not"))
	if _, err := fs.Create("d/b"); err != nil {
		t.Fatal(err)
	}
	fs.Crash(nil)
	if fs.Bytes("d/a") != nil {
		t.Error("a file whose entry was never synced survived")
	}
	f, _ = fs.Create("d/a")
	_ = fs.SyncDir("d")
	_, _ = f.Write([]byte("synced"))
	_ = f.Sync()
	_, _ = f.Write([]byte("not"))
	fs.Crash(nil)
	if got := string(fs.Bytes("d/a")); got != "synced" {
		t.Errorf("after the crash the file contains %q", got)
	}
	if _, err := f.Write([]byte("x")); err == nil {
		t.Error("a handle from before the crash still writes")
	}
}
