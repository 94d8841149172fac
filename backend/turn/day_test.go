package turn_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/turn"
)

// usage is the resources that a program uses.
type usage struct {
	goroutines, files, journals, jobs int
	heap                              uint64
}

func (p *program) usage() usage {
	p.t.Helper()
	var u usage
	synctest.Wait()
	runtime.GC()
	runtime.GC() // finalizers of the first collection free more
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u.goroutines, u.files, u.heap = runtime.NumGoroutine(), openFiles(p.t), m.HeapAlloc
	if p.store == nil {
		return u
	}
	journals, err := p.env.journals.List()
	if err != nil {
		p.t.Fatal(err)
	}
	rows, err := p.store.Jobs(context.Background(), chat.JobQuery{})
	if err != nil {
		p.t.Fatal(err)
	}
	u.journals, u.jobs = len(journals), len(rows)
	return u
}

// openFiles counts open files; 0 where the system does not list them.
func openFiles(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

const (
	perHour   = 10
	activeFor = 16 * time.Hour
)

// TestADayLeavesNothingBehind runs 24 hours of successful and failed turns, panics, minutes of a full disk, and an
// idle night, on the fake clock of synctest. At the end the program must not use more resources than at noon.
func TestADayLeavesNothingBehind(t *testing.T) {
	// Compressors that all stores share are created outside the bubble, because channels created inside one can only
	// be used there.
	first := newEnv(t)
	first.send("hi")
	if _, err := first.jobs.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.clean()
	before := openFiles(t)
	synctest.Test(t, func(t *testing.T) {
		w := &env{t: t, dir: t.TempDir(), provider: &scripted{}, published: &recorder{}, window: 100000}
		w.settings = turn.Settings{
			IdleTimeout: time.Minute, FrameEvery: 16 * time.Millisecond, Backoff: turn.DefaultBackoff,
			ToolsMode: llm.ToolsDisabled, Policy: prompt.DefaultPolicy(),
		}
		p := w.run(nil, math.MaxInt64)
		defer p.close()
		var err error
		if w.session, w.branch, err = w.store.CreateSession(t.Context(), chat.NewSession{Title: "t"}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.reconciler.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.jobs.Start()
		p.reconciler.Start()
		defer p.reconciler.Stop()
		d := &day{program: p, rng: rand.New(rand.NewPCG(24, 60))} // a seeded test
		var early usage
		start := time.Now()
		for hour := 0; time.Since(start) < activeFor; hour++ {
			d.runHour()
			if hour == 9 { // more than half of the turns are done, and all caches are in use
				time.Sleep(time.Hour) // all started work has finished
				early = p.usage()
			}
		}
		time.Sleep(24*time.Hour - time.Since(start))
		late := p.usage()
		t.Logf("after 11 hours %+v, after 24 %+v; %d turns, %d ended badly, the disk was full %d times", early, late, d.turns, d.bad, d.full)
		d.compare(early, late)
		d.check()
	})
	if after := openFiles(t); after > before {
		t.Errorf("%d files were open before, %d are after", before, after)
	}
}

type day struct {
	*program
	rng              *rand.Rand
	turns, bad, full int
}

// runHour is an hour of conversation.
func (d *day) runHour() {
	for n := range perHour {
		if n == perHour/2 {
			d.full++
			d.life.writes.Store(0) // from here on no write reaches the disk
		}
		d.sendMessage()
		if n == perHour/2 {
			d.sendMessage()
			time.Sleep(2 * time.Minute)
			d.life.writes.Store(math.MaxInt64) // there is space again; nothing is restarted
		}
		time.Sleep(time.Hour / perHour)
	}
}

func (d *day) sendMessage() {
	names := []string{"complete", "complete", "complete", "cut", "failed", "failed after text", "nothing", "refused", "a panic"}
	name := names[d.rng.IntN(len(names))]
	d.provider.script(scripts[name])
	h, err := d.engine.Send(context.Background(), turn.Message{
		Branch: d.branch.ID, Content: chat.UserText(fmt.Sprintf("message %d", d.turns)), Incomplete: turn.IncompleteKeep,
	})
	d.turns++
	if err == nil {
		_, err = h.Wait(context.Background())
	}
	if err != nil || name != "complete" {
		d.bad++
	}
	d.provider.forget()
	d.published.forget()
}

// compare checks that resources grew no more than expected.
func (d *day) compare(early, late usage) {
	d.t.Helper()
	// The pool of readers opens up to four connections as needed, each with up to three files and one goroutine. A
	// leak per turn would be hundreds.
	if late.goroutines > early.goroutines+4 {
		d.t.Errorf("goroutines grew from %d to %d", early.goroutines, late.goroutines)
	}
	if late.files > early.files+12 {
		d.t.Errorf("open files grew from %d to %d", early.files, late.files)
	}
	// A turn leaves an entry in the cache of sizes; other growth is caches that fill up (a compressor's window of 8
	// MB is allocated by noon). A turn's context, answer and journal are about a hundred kilobytes; if they leaked,
	// it would be ten megabytes by now.
	if late.heap > early.heap+2<<20 {
		d.t.Errorf("the heap grew from %d to %d bytes", early.heap, late.heap)
	}
	if late.journals > 1 { // the journal of the newest turn, if it is incomplete
		d.t.Errorf("%d journals are left", late.journals)
	}
	if limit := 2 * 201; late.jobs > limit { // the store keeps the 200 newest done ones of each type
		d.t.Errorf("%d jobs are kept", late.jobs)
	}
}

// check asserts that every message of the day was completed.
func (d *day) check() {
	d.t.Helper()
	ctx := context.Background()
	if q, running, failed, err := d.store.JobCounts(ctx); err != nil || q+running+failed != 0 {
		d.t.Errorf("%d queued, %d running, %d failed, %v", q, running, failed, err)
	}
	open, err := d.store.UnfinishedTurns(ctx)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, t := range open {
		if !t.Incomplete() && !t.Unsent() {
			d.t.Errorf("turn %d is left %s", t.Seq, t.Phase)
		}
	}
	if n := d.engine.Unsaved(); n != 0 || len(d.engine.Running()) != 0 {
		d.t.Errorf("%d unsaved, %d running", n, len(d.engine.Running()))
	}
	if n := d.store.LogBytes(); n != 0 {
		d.t.Errorf("the log still has %d bytes", n)
	}
	d.clean()
}
