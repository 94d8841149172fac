package store

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// TestTwoPathsAreOneDirectory: a directory that is opened through a link has the same lock.
func TestTwoPathsAreOneDirectory(t *testing.T) {
	f := newFixture(t)
	other := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(f.dir, other); err != nil {
		t.Skipf("no links here: %v", err)
	}
	_, err := Open(t.Context(), Options{DataDir: other})
	f.refused(err, chat.CodeLocked)
	f.ok(f.Store.Close())
	s, err := Open(t.Context(), Options{DataDir: other})
	if err != nil {
		t.Fatal(err)
	}
	f.ok(s.Close())
}

// TestDeletingTheLockFileDoesNotReleaseTheLock: deleting it by hand must not allow a second writer while the first
// one runs.
func TestDeletingTheLockFileDoesNotReleaseTheLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be deleted here")
	}
	f := newFixture(t)
	f.ok(os.Remove(filepath.Join(f.dir, sqlite.LockFile)))
	_, err := Open(t.Context(), Options{DataDir: f.dir})
	f.refused(err, chat.CodeLocked)
	f.ok(f.Store.Close())
	s, err := Open(t.Context(), Options{DataDir: f.dir})
	if err != nil {
		t.Fatalf("the lock outlived its holder: %v", err)
	}
	f.ok(s.Close())
}

// TestWriterAddress: a writer's address can be read while it runs and is removed when it closes.
func TestWriterAddress(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), Options{DataDir: dir, Address: "/somewhere/socket"})
	if err != nil {
		t.Fatal(err)
	}
	if got := sqlite.WriterAddress(dir); got != "/somewhere/socket" {
		t.Errorf("while open: %q", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := sqlite.WriterAddress(dir); got != "" {
		t.Errorf("after closing: %q", got)
	}
	if got := sqlite.WriterAddress(filepath.Join(dir, "none")); got != "" {
		t.Errorf("without a directory: %q", got)
	}
}

func TestReadHolder(t *testing.T) {
	for text, want := range map[string]sqlite.Holder{
		"":               {},
		"12":             {Pid: 12},
		"12\n":           {Pid: 12},
		"12\n/a b/c\n":   {Pid: 12, Address: "/a b/c"},
		"12\n/cut off":   {Pid: 12},
		"12\n/a\nmore\n": {Pid: 12},
		"-3\n/a\n":       {},
		"x\n/a\n":        {},
		"12\n" + strings.Repeat("a", sqlite.MaxHolder): {Pid: 12},
	} {
		if got := sqlite.ReadHolder(strings.NewReader(text)); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}
