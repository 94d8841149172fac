//go:build faults

package faultfs

import (
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"contextinfinity/backend/internal/faults"
)

// Environment of a child process: its scenario and directory.
const (
	childScenario = "CONTEXTINFINITY_DISK_TEST_SCENARIO"
	childDir      = "CONTEXTINFINITY_DISK_TEST_DIR"
)

func TestMain(m *testing.M) {
	name := os.Getenv(childScenario)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := os.Chdir(os.Getenv(childDir)); err != nil {
		panic(err)
	}
	outages[name].do()
	_ = faults.Point("test.end")
	os.Exit(1)
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func newFile(name string) *File {
	return must(OpenFile(Journal, name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600))
}

func put(f *File, text string) { must(f.Write([]byte(text))) }

// replace replaces a file as atomicfile does, but stops after the given number of steps.
func replace(steps int) {
	f := must(CreateTemp(Config, ".", ".tmp-*"))
	put(f, "new")
	if steps > 0 {
		check(f.Sync())
	}
	check(f.Close())
	if steps > 1 {
		check(Rename(Config, f.Name(), "old"))
	}
	if steps > 2 {
		check(SyncDir(Config, "."))
	}
}

// removeFolder removes a folder with a file, both of which were durable.
func removeFolder() {
	check(Mkdir(Backup, "aside", 0o700))
	f := newFile(filepath.Join("aside", "a"))
	put(f, "x")
	check(f.Sync())
	check(SyncDir(Backup, "aside"))
	check(Remove(Backup, f.Name()))
	check(Remove(Backup, "aside"))
}

// outages are the actions of a program before a power failure, and the expected files afterwards. At the start there is
// a file named old with the content "old".
var outages = map[string]struct {
	do    func()
	after map[string]string
}{
	"no change":            {func() {}, map[string]string{"old": "old"}},
	"a file without fsync": {func() { f := newFile("a"); put(f, "text"); check(SyncDir(Journal, ".")) }, map[string]string{"old": "old", "a": ""}},
	"only the first half is fsynced": {func() {
		f := newFile("a")
		check(SyncDir(Journal, "."))
		put(f, "first")
		check(SyncData(f))
		put(f, "second")
	}, map[string]string{"old": "old", "a": "first"}},
	"closed, not fsynced":              {func() { f := newFile("a"); check(SyncDir(Journal, ".")); put(f, "text"); check(f.Close()) }, map[string]string{"old": "old", "a": ""}},
	"file synced, directory entry not": {func() { f := newFile("a"); put(f, "text"); check(f.Sync()) }, map[string]string{"old": "old"}},
	"another directory was synced":     {func() { f := newFile("a"); put(f, "text"); check(f.Sync()); check(SyncDir(Journal, os.TempDir())) }, map[string]string{"old": "old"}},
	"file and directory entry synced":  {func() { f := newFile("a"); put(f, "text"); check(f.Sync()); check(SyncDir(Journal, ".")) }, map[string]string{"old": "old", "a": "text"}},
	"appended to an existing file": {func() {
		f := must(OpenFile(Journal, "old", os.O_WRONLY|os.O_APPEND, 0))
		put(f, "er")
	}, map[string]string{"old": "old"}},
	"reopened between two writes": {func() {
		f := must(OpenFile(Journal, "old", os.O_WRONLY|os.O_APPEND, 0))
		put(f, "er")
		check(f.Close())
		f = must(OpenFile(Journal, "old", os.O_WRONLY|os.O_APPEND, 0))
		put(f, "est")
	}, map[string]string{"old": "old"}},
	"removed":                          {func() { check(Remove(Journal, "old")) }, map[string]string{"old": "old"}},
	"removal is durable":               {func() { check(Remove(Journal, "old")); check(SyncDir(Journal, ".")) }, map[string]string{}},
	"created, removed, nothing synced": {func() { put(newFile("a"), "x"); check(Remove(Journal, "a")) }, map[string]string{"old": "old"}},
	"replaced, before the fsync":       {func() { replace(0) }, map[string]string{"old": "old"}},
	"replaced, before the rename":      {func() { replace(1) }, map[string]string{"old": "old"}},
	"replaced, before the syncdir":     {func() { replace(2) }, map[string]string{"old": "old"}},
	"replaced":                         {func() { replace(3) }, map[string]string{"old": "new"}},
	"moved to another directory": {func() {
		check(MkdirAll(Backup, "aside", 0o700))
		check(Rename(Backup, "old", filepath.Join("aside", "old")))
		check(SyncDir(Backup, "aside"))
	}, map[string]string{"old": "old"}},
	"moved to another directory, both synced": {func() {
		check(Mkdir(Backup, "aside", 0o700))
		check(Rename(Backup, "old", filepath.Join("aside", "old")))
		check(SyncDir(Backup, "aside"))
		check(SyncDir(Backup, "."))
	}, map[string]string{"aside/old": "old"}},
	"a folder removed with its file":     {func() { removeFolder() }, map[string]string{"old": "old", "aside/a": "x"}},
	"the removal of a folder is durable": {func() { removeFolder(); check(SyncDir(Backup, ".")) }, map[string]string{"old": "old"}},
	"copied through io.Copy": {func() {
		f := newFile("a")
		check(SyncDir(Journal, "."))
		must(io.Copy(f, strings.NewReader("text")))
	}, map[string]string{"old": "old", "a": ""}},
	"truncated, then written to": {func() {
		f := must(OpenFile(Journal, "old", os.O_RDWR, 0))
		check(f.Truncate(1))
		must(f.WriteAt([]byte("xyz"), 1))
	}, map[string]string{"old": "o"}},
}

// runOutage runs a scenario in a separate process and returns the files that exist afterwards.
func runOutage(t *testing.T, name, spec string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", childScenario+"="+name, childDir+"="+dir, "CONTEXTINFINITY_FAULT="+spec)
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != faults.ExitCode {
		t.Fatalf("%s: %v: %s", name, cmd.ProcessState, out)
	}
	found := map[string]string{}
	check(filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel := must(filepath.Rel(dir, path))
			found[filepath.ToSlash(rel)] = string(must(os.ReadFile(path)))
		}
		return err
	}))
	return found
}

func TestPowerFailure(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(outages)) {
		if got := runOutage(t, name, "test.end:power"); !maps.Equal(got, outages[name].after) {
			t.Errorf("%s: found %q, want %q", name, got, outages[name].after)
		}
	}
}

// kill -9 loses nothing that the kernel has received.
func TestAKillIsNotAPowerFailure(t *testing.T) {
	if got := runOutage(t, "a file without fsync", "test.end:exit"); got["a"] != "text" {
		t.Errorf("found %q", got)
	}
}

// An fsync that failed or was skipped makes nothing durable, and the next one does not recover what a failed one lost.
func TestPowerFailureWithoutFsync(t *testing.T) {
	for _, spec := range []string{"io.journal.sync:skip,test.end:power", "io.journal.syncdir:skip,test.end:power"} {
		if got := runOutage(t, "file and directory entry synced", spec); got["a"] != "" {
			t.Errorf("%s: found %q", spec, got)
		}
	}
	dir := t.TempDir()
	f := must(OpenFile(Journal, filepath.Join(dir, "a"), os.O_WRONLY|os.O_CREATE, 0o600))
	put(f, "text")
	f.node.flushed(4, syscall.EIO)
	check(f.Sync())
	if f.node.synced != 0 {
		t.Errorf("%d bytes are durable after an fsync that failed", f.node.synced)
	}
	check(f.Close())
}

func TestDurableFilesAreNotTracked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	before := len(unsynced.nodes)
	f := must(OpenFile(Journal, path, os.O_WRONLY|os.O_CREATE, 0o600))
	put(f, "text")
	check(f.Sync())
	check(f.Close())
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a second close: %v", err)
	}
	check(SyncDir(Journal, filepath.Dir(path)))
	if len(unsynced.nodes) != before {
		t.Errorf("%d files are tracked, %d before", len(unsynced.nodes), before)
	}
	for _, e := range unsynced.pending {
		if slices.Contains(e.dirs, filepath.Dir(path)) {
			t.Errorf("%v are pending", e.dirs)
		}
	}
}
