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

// claims records the most that the writer ever reported as durable, in any place.
type claims struct {
	mu   sync.Mutex
	most journal.Progress
	err  error
}

func (c *claims) note(p journal.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.Durable > p.Displayed || p.DurableSeq > p.Seq {
		c.err = fmt.Errorf("more durable than displayed: %+v", p)
	}
	if p.DurableSeq < c.most.DurableSeq || p.Durable < c.most.Durable {
		c.err = fmt.Errorf("durable decreased from %+v to %+v", c.most, p)
	}
	c.most = p
}

// check runs the schedule and returns an error if something was reported as durable and is not there after the crash.
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
		var c claims
		w.OnDurable(func(p journal.Progress) { c.note(p) })
		s.live(w, &c)
		var rng *rand.Rand
		if s.Seed > 0 {
			rng = rand.New(rand.NewPCG(s.Seed, 1))
		}
		fs.Crash(rng)
		rep := mustReplay(t, j, step)
		_ = w.Abandon()
		result = c.compare(rep, s)
	})
	return result
}

// live appends until the schedule ends or the disk fails. After synctest.Wait no callback runs, so claims are
// recorded in the order in which they were made.
func (s schedule) live(w *journal.Writer, c *claims) {
	for i, n := range s.Appends {
		_, err := w.Append(text(strings.Repeat("x", n)), n)
		synctest.Wait()
		c.note(w.Progress())
		if err != nil {
			break
		}
		time.Sleep(time.Duration(s.Pauses[i]) * time.Millisecond)
		synctest.Wait()
		c.note(w.Progress())
	}
	if s.End {
		p, _ := w.End(journal.EndDone, "")
		c.note(p)
	}
}

func (c *claims) compare(rep journal.Replayed, s schedule) error {
	if c.err != nil {
		return c.err
	}
	if rep.BadLine != 0 {
		return fmt.Errorf("line %d is damaged: a crash only cuts", rep.BadLine)
	}
	if rep.LastSeq < c.most.DurableSeq {
		return fmt.Errorf("line %d was reported as durable, %d are left", c.most.DurableSeq, rep.LastSeq)
	}
	visible := int64(0)
	for i := range rep.Events {
		visible += int64(s.Appends[i])
	}
	if visible < c.most.Durable {
		return fmt.Errorf("%d bytes were reported as durable, %d are left", c.most.Durable, visible)
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
func TestTheCheckNoticesAMissingFsync(t *testing.T) {
	for _, mode := range []journal.Durability{journal.Buffered, journal.WriteAhead} {
		caught := 0
		gen := anySchedule(mode)
		for seed := range 50 {
			if gen.Example(seed).check(t, true) != nil {
				caught++
			}
		}
		t.Logf("%s: %d of 50 schedules notice the missing fsync", mode, caught)
		if caught < 10 {
			t.Errorf("%s: only %d of 50 schedules notice the missing fsync", mode, caught)
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
