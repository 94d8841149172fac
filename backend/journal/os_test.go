package journal_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/journal"
)

// childDir is set in the process that TestKillLosesNothing kills.
const childDir = "CONTEXTINFINITY_JOURNAL_TEST_DIR"

const childStep = chat.StepID("01K00000000000000000000000")

// appendUntilKilled prints each number after it was appended.
func appendUntilKilled() {
	// Lines must not be buffered, which happens when the disk stalls or the machine is busy.
	j := journal.New(journal.Options{Dir: os.Getenv(childDir), FlushBytes: 1})
	w, err := j.Begin(childStep, "openai")
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := 0; ; i++ {
		if _, err := w.Append(text(strconv.Itoa(i)), 1); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(i)
	}
}

func TestKillLosesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "streams")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	last := -1
	for lines := bufio.NewScanner(out); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Errorf("the child printed %q", lines.Text())
			break
		}
		if last = n; n == 500 {
			_ = child.Process.Kill()
		}
	}
	_ = child.Wait()
	rep := mustReplay(t, journal.New(journal.Options{Dir: dir}), childStep)
	if last < 500 || len(rep.Events) <= last {
		t.Fatalf("the killed process had appended %d events, %d exist", last+1, len(rep.Events))
	}
	for i, ev := range rep.Events {
		if want := text(strconv.Itoa(i)); !bytes.Equal(ev.Data, want.Data) {
			t.Fatalf("event %d is %s", i, ev.Data)
		}
	}
	if rep.End != "" || rep.BadLine != 0 {
		t.Errorf("replay %+v", rep.End)
	}
}

func TestOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "streams")
	j := journal.New(journal.Options{Dir: dir, FsyncMs: 1})
	step := newStep()
	w, err := j.Begin(step, "openai")
	if err != nil {
		t.Fatal(err)
	}
	synced := make(chan journal.Progress, 10)
	w.OnDurable(func(p journal.Progress) { synced <- p })
	mustAppend(t, w, "hello")
	select {
	case <-synced:
	case <-time.After(time.Minute):
		t.Fatal("no fsync in a minute")
	}
	path := filepath.Join(dir, string(step)+".jsonl")
	wantMode(t, dir, 0o700)
	wantMode(t, path, 0o600)
	if _, err := w.End(journal.EndDone, ""); err != nil {
		t.Fatal(err)
	}
	_, err = j.Begin(step, "openai")
	wantCode(t, err, chat.CodeConflict)
	if got, err := j.List(); err != nil || len(got) != 1 || got[0] != step {
		t.Errorf("List: %v, %v", got, err)
	}
	if rep := mustReplay(t, j, step); rep.End != journal.EndDone || len(rep.Events) != 1 {
		t.Errorf("replay %+v", rep)
	}
	if err := j.Prune(step); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("after Prune: %v", err)
	}
	if err := j.Prune(step); err != nil {
		t.Errorf("second Prune: %v", err)
	}
}

func wantMode(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != mode {
		t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), mode)
	}
}

func TestDiskFullOnDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	w, err := journal.New(journal.Options{Dir: t.TempDir(), FS: fullFS{journal.OS()}}).Begin(newStep(), "openai")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Append(text("x"), 1)
	wantCode(t, err, chat.CodeNoSpace)
	_, err = w.End(journal.EndDone, "")
	wantCode(t, err, chat.CodeNoSpace)
}

// fullFS opens every file on a device that is always full.
type fullFS struct{ journal.FS }

func (fullFS) Create(string) (journal.File, error) {
	return os.OpenFile("/dev/full", os.O_WRONLY, 0)
}

// SPEC 14: under 10 microseconds for a delta, at least 100 000 deltas a second.
func BenchmarkAppend(b *testing.B) {
	for _, mode := range []journal.Durability{journal.Buffered, journal.WriteAhead} {
		b.Run(string(mode), func(b *testing.B) {
			j := journal.New(journal.Options{Dir: filepath.Join(b.TempDir(), "streams"), Durability: mode})
			w, err := j.Begin(newStep(), "openai")
			if err != nil {
				b.Fatal(err)
			}
			ev := text(strings.Repeat("word ", 20))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Append(ev, 100); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deltas/s")
			if _, err := w.End(journal.EndDone, ""); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkReplay(b *testing.B) {
	j := journal.New(journal.Options{Dir: filepath.Join(b.TempDir(), "streams")})
	step := newStep()
	w, err := j.Begin(step, "openai")
	if err != nil {
		b.Fatal(err)
	}
	for range 10_000 {
		mustAppend(b, w, strings.Repeat("word ", 20))
	}
	if _, err := w.End(journal.EndDone, ""); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		mustReplay(b, j, step)
	}
	b.ReportMetric(float64(10_000*b.N)/b.Elapsed().Seconds(), "deltas/s")
}

func TestAFileInTheWayIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "streams")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := journal.New(journal.Options{Dir: dir}).Begin(newStep(), "openai")
	if err == nil {
		t.Fatal("a journal was started in place of an existing file")
	}
}
