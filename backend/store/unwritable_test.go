package store

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/backup"
	"contextinfinity/backend/store/sqlite"
)

// unwritableSeed and unwritableText pass data to the test process that runs in a mount namespace of its own.
const (
	unwritableSeed = "CONTEXTINFINITY_TEST_UNWRITABLE" // a folder with two copies of the data: with a log (beside) and without (alone)
	unwritableText = "what was said before the disk was full"
)

// TestUnwritable: on a full or read-only disk, all data can be read and backed up elsewhere, with or without a log
// beside the database. Writing fails with a clear message and leaves the files unchanged.
func TestUnwritable(t *testing.T) {
	if seed := os.Getenv(unwritableSeed); seed != "" {
		onUnwritable(t, seed)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("mounting needs Linux")
	}
	if out, err := exec.Command("unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", t.TempDir()).CombinedOutput(); err != nil {
		t.Skipf("this kernel does not allow users to mount a disk: %v: %s", err, out)
	}
	seed := t.TempDir()
	for _, part := range []string{"beside", "alone", "mnt"} {
		if err := os.Mkdir(filepath.Join(seed, part), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f := newFixture(t)
	_, b := f.session("kept")
	f.accept(b.ID, unwritableText)
	for _, name := range []string{sqlite.DatabaseFile, sqlite.DatabaseFile + "-wal", backup.MarkFile, sqlite.ConfirmedFile} { // as a kill leaves them
		f.ok(sqlite.CopyFile(filepath.Join(f.dir, name), filepath.Join(seed, "beside", name)))
	}
	f.ok(f.Store.Close())
	f.ok(sqlite.CopyFile(filepath.Join(f.dir, sqlite.DatabaseFile), filepath.Join(seed, "alone", sqlite.DatabaseFile)))
	if sqlite.SizeOf(filepath.Join(f.dir, sqlite.DatabaseFile+"-wal")) != 0 || sqlite.SizeOf(filepath.Join(seed, "beside", sqlite.DatabaseFile+"-wal")) == 0 {
		t.Fatal("the data has the wrong files")
	}
	cmd := exec.Command("unshare", "-Urm", os.Args[0], "-test.run", "^TestUnwritable$", "-test.v")
	cmd.Env = append(os.Environ(), unwritableSeed+"="+seed)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestUnwritable/full") {
		t.Fatalf("%v\n%s", err, out)
	}
}

func onUnwritable(t *testing.T, seed string) {
	dir := filepath.Join(seed, "mnt")
	mount := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("mount", append(args, dir)...).CombinedOutput(); err != nil {
			t.Fatalf("mount: %v: %s", err, out)
		}
	}
	for _, c := range []struct {
		name, seed, note, refused string
		code                      chat.Code
		make                      func()
	}{
		{"full", "alone", "The disk is full", "The disk is full", chat.CodeNoSpace, func() { fillUp(t, dir) }},
		{"full, log", "beside", "The disk is full", "The disk is full", chat.CodeNoSpace, func() { fillUp(t, dir) }},
		{"read-only", "alone", "The disk is read-only", "The disk is read-only", chat.CodeConfig, func() { mount("-o", "remount,ro") }},
		{"read-only, log", "beside", "The disk is read-only", "The disk is read-only", chat.CodeConfig, func() { mount("-o", "remount,ro") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			mount("-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs")
			defer func() { _ = exec.Command("umount", dir).Run() }()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(seed, c.seed))); err != nil {
				t.Fatal(err)
			}
			c.make()
			before := contents(t, dir)
			t.Setenv("TMPDIR", t.TempDir())
			readAll(t, dir, c.note, c.seed == "beside")
			if !maps.Equal(contents(t, dir), before) {
				t.Error("reading changed the files")
			}
			if _, err := Open(t.Context(), Options{DataDir: dir}); chat.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("opened for writing: %v", err)
			}
			after := contents(t, dir)
			delete(after, filepath.Join(dir, sqlite.LockFile)) // a writer takes the lock first
			if !maps.Equal(after, before) {
				t.Error("the files changed")
			}
			if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
				t.Errorf("left in the folder for temporary files: %v, %v", left, err)
			}
			if c.seed == "beside" {
				t.Setenv("TMPDIR", dir)
				if _, err := Open(t.Context(), Options{DataDir: dir, ReadOnly: true}); chat.CodeOf(err) != chat.CodeNoSpace || !strings.Contains(err.Error(), "only be read from a copy") {
					t.Errorf("without space for a copy: %v", err)
				}
			}
		})
	}
}

// readAll opens the data for reading, reads and verifies it, and backs it up elsewhere.
func readAll(t *testing.T, dir, note string, copied bool) {
	t.Helper()
	s, err := Open(t.Context(), Options{DataDir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.Note(), note) || strings.Contains(s.Note(), "from a copy") != copied {
		t.Errorf("the note is %q", s.Note())
	}
	sessions, err := s.Sessions(t.Context(), chat.SessionQuery{})
	if err != nil || len(sessions) != 1 || sessions[0].Title != "kept" {
		t.Fatalf("%+v, %v", sessions, err)
	}
	turns, err := s.Lineage(t.Context(), chat.LineageQuery{Branch: sessions[0].ActiveBranch})
	if err != nil || len(turns) != 1 || turns[0].User.RenderedText() != unwritableText {
		t.Errorf("%+v, %v", turns, err)
	}
	if found, err := s.Verify(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("verify: %+v, %v", found, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	a := NewArchive(backup.ArchiveOptions{DataDir: dir})
	b, err := a.Backup(t.Context(), filepath.Join(t.TempDir(), "elsewhere.db"))
	if err != nil || !b.Checked || b.Counts["turns"] != 1 {
		t.Errorf("a backup elsewhere: %+v, %v", b, err)
	}
}

// contents returns each file of a folder with its modification time, except for the shared memory of readers, which
// is not data.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, "-shm") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() == 0 && strings.HasSuffix(path, "-wal") {
			return nil // an empty log counts as none; a process leaves one if there is no space for it
		}
		text, err := os.ReadFile(path)
		out[path] = info.ModTime().String() + "\n" + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fillUp writes a file until the disk is full.
func fillUp(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4<<10))
	}
}
