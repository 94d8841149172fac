package journal_test

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/journal/journaltest"
)

// The tests of timing run in a synctest bubble, where time.Sleep advances a fake clock at once.

func TestAppendIsWrittenBeforeItReturns(t *testing.T) {
	fs := journaltest.NewCrashFS()
	_, step, w := begin(t, fs, journal.Options{})
	defer func() { _ = w.Abandon() }()
	for i, s := range []string{"one", "two", "three"} {
		mustAppend(t, w, s)
		if got := strings.Count(bytesOf(fs, step), "\n"); got != i+1 {
			t.Fatalf("%d lines in the file after %d appends", got, i+1)
		}
		if p := w.Progress(); p.Seq != int64(i+1) {
			t.Fatalf("progress %+v after %d appends", p, i+1)
		}
	}
}

func TestBufferedFsyncsOnTheTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := journaltest.NewCrashFS()
		_, _, w := begin(t, fs, journal.Options{FsyncMs: 2000})
		mustAppend(t, w, "hello")
		time.Sleep(1999 * time.Millisecond)
		synctest.Wait()
		if p := w.Progress(); p.Displayed != 5 || p.Durable != 0 || p.DurableSeq != 0 {
			t.Fatalf("before the timer: %+v", p)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if p := w.Progress(); p.Displayed != 5 || p.Durable != 5 || p.DurableSeq != 1 {
			t.Fatalf("after the timer: %+v", p)
		}
		time.Sleep(time.Hour)
		if n := fs.Calls(journaltest.OpSync); n != 1 {
			t.Fatalf("%d fsyncs for one line", n)
		}
		if err := w.Abandon(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWriteAheadShowsNothingThatIsNotDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := journaltest.NewCrashFS()
		_, _, w := begin(t, fs, journal.Options{Durability: journal.WriteAhead})
		var shown []journal.Progress
		w.OnDurable(func(p journal.Progress) { shown = append(shown, p) })
		release := fs.Stall(journaltest.OpSync)
		mustAppend(t, w, "hello")
		synctest.Wait()
		if p := w.Progress(); p.Displayed != 0 || p.Durable != 0 || len(shown) != 0 {
			t.Fatalf("shown while the fsync is running: %+v", p)
		}
		release()
		synctest.Wait()
		if len(shown) != 1 || shown[0].Displayed != 5 || shown[0].Durable != 5 {
			t.Fatalf("after the fsync: %+v", shown)
		}
		if err := w.Abandon(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWriteAheadGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := journaltest.NewCrashFS()
		_, _, w := begin(t, fs, journal.Options{Durability: journal.WriteAhead})
		var slowest time.Duration
		var mu sync.Mutex
		sent := map[int64]time.Time{}
		w.OnDurable(func(p journal.Progress) {
			mu.Lock()
			defer mu.Unlock()
			for seq, at := range sent {
				if seq <= p.DurableSeq {
					slowest = max(slowest, time.Since(at))
					delete(sent, seq)
				}
			}
		})
		for i := range int64(1000) { // one per millisecond: a second of a fast stream
			mu.Lock()
			sent[i+1] = time.Now()
			mu.Unlock()
			mustAppend(t, w, "word ")
			time.Sleep(time.Millisecond)
		}
		if _, err := w.End(journal.EndDone, ""); err != nil {
			t.Fatal(err)
		}
		if slowest > 50*time.Millisecond || len(sent) > 0 {
			t.Errorf("a line waited %v for its fsync, %d never got one", slowest, len(sent))
		}
		if n := fs.Calls(journaltest.OpSync); n < 19 || n > 23 {
			t.Errorf("%d fsyncs in a second, want about 20", n)
		}
	})
}

func TestStalledDiskBatchesThenBlocks(t *testing.T) {
	for name, opt := range map[string]journal.Options{
		"bytes": {FlushBytes: 1000, FlushMs: 1 << 30},
		"time":  {FlushBytes: 1 << 30, FlushMs: 250},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { stalledDisk(t, opt) })
		})
	}
}

func stalledDisk(t *testing.T, opt journal.Options) {
	fs := journaltest.NewCrashFS()
	j, step, w := begin(t, fs, opt)
	release := fs.Stall(journaltest.OpWrite)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			mustAppend(t, w, "0123456789")
			time.Sleep(10 * time.Millisecond)
		}
	}()
	time.Sleep(time.Minute)
	synctest.Wait()
	p := w.Progress()
	if p.Seq < 4 || p.Seq > 30 || p.Displayed != p.Seq*10 {
		t.Errorf("with a stalled disk %+v was accepted, want a limited amount", p)
	}
	if p.Durable != 0 {
		t.Errorf("durable %d with nothing written", p.Durable)
	}
	release()
	<-done
	if _, err := w.End(journal.EndDone, ""); err != nil {
		t.Fatal(err)
	}
	rep := mustReplay(t, j, step)
	if len(rep.Events) != 100 || rep.End != journal.EndDone || rep.BadLine != 0 {
		t.Errorf("after the stall: %d events, %+v", len(rep.Events), rep.End)
	}
}

func TestFsyncDoesNotDelayWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := journaltest.NewCrashFS()
		_, step, w := begin(t, fs, journal.Options{FsyncMs: 1})
		release := fs.Stall(journaltest.OpSync)
		mustAppend(t, w, "one")
		time.Sleep(time.Second)
		mustAppend(t, w, "two")
		if n := strings.Count(bytesOf(fs, step), "\n"); n != 2 {
			t.Errorf("%d lines written while an fsync runs, want 2", n)
		}
		release()
		synctest.Wait()
		if p := w.Progress(); p.Durable != 3 {
			t.Errorf("the fsync reports %d bytes, but began when there were 3", p.Durable)
		}
		if err := w.Abandon(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFailedWrite(t *testing.T) {
	cases := []struct {
		name string
		plan func(*journaltest.CrashFS)
		code chat.Code
		torn bool
	}{
		{"disk full", func(c *journaltest.CrashFS) { c.FailNth(journaltest.OpWrite, 3, syscall.ENOSPC) }, chat.CodeNoSpace, false},
		{"disk full within the line", func(c *journaltest.CrashFS) { c.ShortWrite(3, 20, syscall.ENOSPC) }, chat.CodeNoSpace, true},
		{"input/output error", func(c *journaltest.CrashFS) { c.FailNth(journaltest.OpWrite, 3, syscall.EIO) }, chat.CodeInternal, false},
		{"short write without an error", func(c *journaltest.CrashFS) { c.ShortWrite(3, 20, nil) }, chat.CodeInternal, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fs := journaltest.NewCrashFS()
			c.plan(fs)
			j, step, w := begin(t, fs, journal.Options{})
			mustAppend(t, w, "aa")
			mustAppend(t, w, "bb")
			_, err := w.Append(text("cc"), 2)
			wantCode(t, err, c.code)
			if p := w.Progress(); p.Displayed != 4 || p.Seq != 2 {
				t.Errorf("progress %+v includes a line that was not written", p)
			}
			_, err = w.Append(text("dd"), 2)
			wantCode(t, err, c.code)
			p, err := w.End(journal.EndDone, "")
			wantCode(t, err, c.code)
			if p.Durable != 4 || p.DurableSeq != 2 {
				t.Errorf("the end made %+v durable, want the two complete lines", p)
			}
			rep := mustReplay(t, j, step)
			if len(rep.Events) != 2 || rep.End != "" || rep.TornTail != c.torn {
				t.Errorf("replay %+v", rep)
			}
		})
	}
}

func TestFailedFsyncIsNeverForgotten(t *testing.T) {
	for _, mode := range []journal.Durability{journal.Buffered, journal.WriteAhead} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs := journaltest.NewCrashFS()
				fs.FailNth(journaltest.OpSync, 2, syscall.EIO)
				_, _, w := begin(t, fs, journal.Options{Durability: mode, FsyncMs: 100})
				mustAppend(t, w, "aa")
				time.Sleep(time.Second)
				mustAppend(t, w, "bb")
				time.Sleep(time.Second)
				synctest.Wait()
				_, err := w.Append(text("cc"), 2)
				wantCode(t, err, chat.CodeInternal)
				p, err := w.End(journal.EndDone, "")
				wantCode(t, err, chat.CodeInternal)
				if p.Durable != 2 || p.DurableSeq != 1 {
					t.Errorf("after a failed fsync %+v is reported as durable", p)
				}
				if n := fs.Calls(journaltest.OpSync); n != 2 {
					t.Errorf("%d fsyncs; one after a failure cannot be trusted", n)
				}
			})
		})
	}
}

func TestEnd(t *testing.T) {
	for _, kind := range []journal.EndKind{journal.EndDone, journal.EndError, journal.EndStopped} {
		fs := journaltest.NewCrashFS()
		j, step, w := begin(t, fs, journal.Options{})
		mustAppend(t, w, "hello")
		first, err := w.End(kind, "why \xff\n")
		if err != nil {
			t.Fatal(err)
		}
		second, err := w.End(journal.EndError, "again")
		if err != nil || second != first {
			t.Errorf("second End: %+v, %v; first %+v", second, err, first)
		}
		if first.Displayed != 5 || first.Durable != 5 || first.DurableSeq != 2 || first.Seq != 2 {
			t.Errorf("progress at the end: %+v", first)
		}
		fs.Crash(nil)
		rep := mustReplay(t, j, step)
		if rep.End != kind || rep.EndReason != "why \uFFFD\n" || len(rep.Events) != 1 || rep.LastSeq != 2 {
			t.Errorf("%s: replay %+v", kind, rep)
		}
		_, err = w.Append(text("late"), 4)
		wantCode(t, err, chat.CodeConflict)
		if err := w.Abandon(); err != nil {
			t.Errorf("Abandon after End: %v", err)
		}
	}
}

func TestEndRefusesAnUnknownKind(t *testing.T) {
	_, _, w := begin(t, journaltest.NewCrashFS(), journal.Options{})
	_, err := w.End("finished", "")
	wantCode(t, err, chat.CodeInvalid)
	if _, err := w.End(journal.EndDone, ""); err != nil {
		t.Fatal(err)
	}
}

func TestAbandonLeavesACutJournal(t *testing.T) {
	fs := journaltest.NewCrashFS()
	j, step, w := begin(t, fs, journal.Options{})
	mustAppend(t, w, "hello")
	if err := errors.Join(w.Abandon(), w.Abandon()); err != nil {
		t.Fatal(err)
	}
	_, err := w.End(journal.EndDone, "")
	wantCode(t, err, chat.CodeConflict)
	fs.Crash(nil)
	if rep := mustReplay(t, j, step); rep.End != "" || len(rep.Events) != 1 || rep.TornTail {
		t.Errorf("replay %+v", rep)
	}
}

func TestCloseErrorIsReported(t *testing.T) {
	fs := journaltest.NewCrashFS()
	fs.FailNth(journaltest.OpClose, 1, syscall.EIO)
	_, _, w := begin(t, fs, journal.Options{})
	mustAppend(t, w, "x")
	_, err := w.End(journal.EndDone, "")
	wantCode(t, err, chat.CodeInternal)
}

func TestErrorsContainNoPrompt(t *testing.T) {
	fs := journaltest.NewCrashFS()
	fs.FailNth(journaltest.OpWrite, 1, syscall.ENOSPC)
	_, _, w := begin(t, fs, journal.Options{})
	_, err := w.Append(text("sk-canary-secret"), 3)
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), "canary") {
			t.Errorf("the error contains the text that was being written: %v", e)
		}
	}
	_ = w.Abandon()
}

func TestBegin(t *testing.T) {
	fs := journaltest.NewCrashFS()
	j, step, w := begin(t, fs, journal.Options{})
	mustAppend(t, w, "kept")
	_, err := j.Begin(step, "openai")
	wantCode(t, err, chat.CodeConflict)
	if !strings.Contains(bytesOf(fs, step), "kept") {
		t.Error("a second Begin touched the journal")
	}
	if j.Path(step) != "streams/"+string(step)+".jsonl" {
		t.Errorf("Path is %q", j.Path(step))
	}
	_ = w.Abandon()
	for _, bad := range []chat.StepID{"", "../../etc/passwd", "..", "01K0000000000000000000000/"} {
		_, err := j.Begin(bad, "openai")
		wantCode(t, err, chat.CodeInvalid)
		_, err = j.Replay(bad)
		wantCode(t, err, chat.CodeInvalid)
		wantCode(t, j.Prune(bad), chat.CodeInvalid)
	}
	for _, provider := range []string{"", "contextinfinity"} {
		_, err := j.Begin(newStep(), provider)
		wantCode(t, err, chat.CodeInvalid)
	}
	_, err = journal.New(journal.Options{Dir: dir, FS: fs, Durability: "lazy"}).Begin(newStep(), "openai")
	wantCode(t, err, chat.CodeConfig)
}

func TestBeginFailsCleanly(t *testing.T) {
	for _, op := range []journaltest.Op{journaltest.OpMkdir, journaltest.OpCreate, journaltest.OpSyncDir} {
		fs := journaltest.NewCrashFS()
		fs.FailNth(op, 1, syscall.ENOSPC)
		j := journal.New(journal.Options{Dir: dir, FS: fs})
		step := newStep()
		_, err := j.Begin(step, "openai")
		wantCode(t, err, chat.CodeNoSpace)
		if rep := mustReplay(t, j, step); !rep.Missing {
			t.Errorf("%s: a journal was left behind", op)
		}
		w, err := j.Begin(step, "openai")
		if err != nil {
			t.Fatalf("%s: Begin after space was freed: %v", op, err)
		}
		_ = w.Abandon()
	}
}

func TestBeginIsDurable(t *testing.T) {
	fs := journaltest.NewCrashFS()
	j, step, _ := beginAbandoned(t, fs)
	fs.Crash(nil)
	if rep := mustReplay(t, j, step); rep.Missing {
		t.Error("the entry of a journal was lost in a crash")
	}
}

func beginAbandoned(t *testing.T, fs *journaltest.CrashFS) (*journal.Journals, chat.StepID, *journal.Writer) {
	t.Helper()
	j, step, w := begin(t, fs, journal.Options{})
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	return j, step, w
}

func TestPrune(t *testing.T) {
	fs := journaltest.NewCrashFS()
	j, step, w := begin(t, fs, journal.Options{})
	wantCode(t, j.Prune(step), chat.CodeConflict)
	if _, err := w.End(journal.EndDone, ""); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Prune(step), j.Prune(step), j.Prune(newStep())); err != nil {
		t.Fatal(err)
	}
	fs.Crash(nil)
	if rep := mustReplay(t, j, step); !rep.Missing {
		t.Error("a pruned journal exists after a crash")
	}
}

func TestPruneReportsFailure(t *testing.T) {
	for _, op := range []journaltest.Op{journaltest.OpRemove, journaltest.OpSyncDir} {
		fs := journaltest.NewCrashFS()
		j, step, _ := beginAbandoned(t, fs)
		fs.FailNth(op, 1, syscall.EIO)
		wantCode(t, j.Prune(step), chat.CodeInternal)
	}
}

func TestList(t *testing.T) {
	fsys := journaltest.NewCrashFS()
	j := journal.New(journal.Options{Dir: dir, FS: fsys})
	if got, err := j.List(); err != nil || len(got) != 0 {
		t.Fatalf("without a folder: %v, %v", got, err)
	}
	a, b := newStep(), newStep()
	for _, name := range []string{string(b) + ".jsonl", string(a) + ".jsonl", "notes.txt", "x.jsonl", string(a) + ".jsonl.bak"} {
		fsys.Put(dir+"/"+name, nil)
	}
	got, err := j.List()
	if err != nil || len(got) != 2 || got[0] != a || got[1] != b {
		t.Errorf("List is %v, %v; want %v", got, err, []chat.StepID{a, b})
	}
	fsys.FailNth(journaltest.OpReadDir, 1, fs.ErrPermission)
	_, err = j.List()
	wantCode(t, err, chat.CodeInternal)
}

func TestManyStreamsAtOnce(t *testing.T) {
	fs := journaltest.NewCrashFS()
	j := journal.New(journal.Options{Dir: dir, FS: fs, FsyncMs: 1})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			step := newStep()
			w, err := j.Begin(step, "anthropic")
			if err != nil {
				t.Error(err)
				return
			}
			for range 200 {
				if _, err := w.Append(text("ab"), 2); err != nil {
					t.Error(err)
				}
				if p := w.Progress(); p.Durable > p.Displayed {
					t.Errorf("more durable than displayed: %+v", p)
				}
			}
			if p, err := w.End(journal.EndDone, ""); err != nil || p.Durable != 400 {
				t.Errorf("end: %+v, %v", p, err)
			}
			if rep, err := j.Replay(step); err != nil || len(rep.Events) != 200 {
				t.Errorf("%d events, %v", len(rep.Events), err)
			}
		})
	}
	wg.Wait()
}

func TestReplayReportsAnUnreadableFile(t *testing.T) {
	fs := journaltest.NewCrashFS()
	j, step, _ := beginAbandoned(t, fs)
	fs.FailNth(journaltest.OpRead, 1, io.ErrUnexpectedEOF)
	_, err := j.Replay(step)
	wantCode(t, err, chat.CodeInternal)
	fs.FailNth(journaltest.OpOpen, 1, syscall.EACCES)
	_, err = j.Replay(step)
	wantCode(t, err, chat.CodeInternal)
}
