package atrest

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

func write(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestSweepRemovesWhatTheDeadLeft: in the data directory, beside its backups, in folders that were recorded and in the
// temporary folder; never what a living process holds, nor anything of the user's.
func TestSweepRemovesWhatTheDeadLeft(t *testing.T) {
	data, elsewhere, temp := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	backups := filepath.Join(data, Backups)
	aside := filepath.Join(data, Replaced, "then")
	for _, dir := range []string{backups, aside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []Remembered{{Copy: filepath.Join(elsewhere, "mine.db")}, {Folder: elsewhere}, {Folder: elsewhere}, {Folder: backups}} {
		if err := Remember(data, r); err != nil {
			t.Fatal(err)
		}
	}
	if got := Recall(data); len(got) != 2 { // once each, and none inside of the data
		t.Errorf("recorded: %+v", got)
	}
	var dead, alive []string
	for dir, prefixes := range map[string][]string{
		data: {RestoringPrefix, IncomingPrefix}, backups: {BackupPrefix}, elsewhere: {BackupPrefix, ExportPrefix}, aside: {CheckPrefix},
		temp: {ReadingPrefix, EvalPrefix, CommandPrefix, TrialPrefix},
	} {
		for _, prefix := range prefixes {
			for _, living := range []bool{false, true} {
				f, err := MakeFolder(dir, prefix)
				if err != nil {
					t.Fatal(err)
				}
				write(t, f.File("text"))
				if living {
					alive = append(alive, f.Path)
					defer func() { _ = f.Remove() }()
					continue
				}
				dead = append(dead, f.Path)
				f.Release()
			}
		}
	}
	old := time.Now().Add(-48 * time.Hour)
	for _, path := range []string{filepath.Join(temp, ReadingPrefix+"1", Database), filepath.Join(backups, ".contextinfinity-daily.db.tmp-1")} {
		write(t, path) // of an earlier version
		dead = append(dead, path)
		for p := path; p != temp && p != backups; p = filepath.Dir(p) {
			if err := os.Chtimes(p, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	kept := append(slices.Clone(alive), write(t, filepath.Join(elsewhere, "mine.db")), write(t, filepath.Join(backups, "mine.db")),
		write(t, filepath.Join(elsewhere, ".mine.tmp-1")), write(t, filepath.Join(aside, Database)),
		write(t, filepath.Join(temp, ReadingPrefix+"new", "text"))) // it may be about to get its lock
	if left := Unfinished(data); len(left) != 3 {
		t.Errorf("unfinished copies: %q", left)
	}
	for of, concerned := range map[string]bool{filepath.Join(data, Database): true, filepath.Join(t.TempDir(), Database): false} {
		f, err := MakeCopy(temp, ReadingPrefix, write(t, of))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Remove() }()
		if named := slices.Contains(Sweep(data), f.Path); named != concerned {
			t.Errorf("a copy of %s: named %v", of, named)
		}
	}
	named := Sweep(data)
	for _, path := range dead {
		if exists(path) {
			t.Errorf("%s is still there", path)
		}
	}
	for _, path := range kept {
		if !exists(path) {
			t.Errorf("%s is gone", path)
		}
	}
	for _, path := range alive {
		base := filepath.Base(path)
		whole := slices.ContainsFunc([]string{RestoringPrefix, BackupPrefix, ExportPrefix, CheckPrefix, ReadingPrefix}, func(prefix string) bool {
			return len(base) > len(prefix) && base[:len(prefix)] == prefix
		})
		if whole != slices.Contains(named, path) {
			t.Errorf("%s: named %v", path, !whole)
		}
	}
}

// TestEveryFileOfTheDataHasItsPlace: a file that is not in the inventory would be forgotten by a deletion.
func TestEveryFileOfTheDataHasItsPlace(t *testing.T) {
	for name, part := range map[string]string{
		"contextinfinity.db-wal": PartDatabase, "streams/01ARZ3NDEKTSV4RRFFQ69G5FAV.jsonl": PartJournals, "backups/mine.db": PartBackups,
		"backups/.contextinfinity-backup-1/contextinfinity.db": PartBackups, "replaced/then/contextinfinity.db": PartAside,
		"replaced/then/check-1/contextinfinity.db": PartAside, "drags/s/k/title.md": PartOther, "mcp/x/server.js": PartOther,
	} {
		if p, ok := Of(name); !ok || p.Part != part {
			t.Errorf("%s: %v %s", name, ok, p.Part)
		}
	}
	if _, ok := Of("unknown.txt"); ok {
		t.Error("an unknown file has a place")
	}
	for name, temporary := range map[string]bool{
		"drags": true, ".restoring-1": true, "replaced/then/check-1": true, "backups/.contextinfinity-backup-1": true, ".room-1": true,
		"replaced/then": false, "backups/mine.db": false, "contextinfinity.db": false, List: false,
	} {
		if Temporary(name) != temporary {
			t.Errorf("%s: %v", name, !temporary)
		}
	}
}

// TestAFolderIsMadeWhileAnotherProcessSweeps: the sweep of another process never takes a folder away from whoever just makes it,
// and its lock is not held yet.
func TestAFolderIsMadeWhileAnotherProcessSweeps(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	stop := make(chan struct{})
	var swept sync.WaitGroup
	swept.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				sweep("") // another process does not wait for this one's `making`
			}
		}
	})
	defer swept.Wait()
	defer close(stop)
	for i := range 2_000 {
		f, err := MakeFolder(temp, ReadingPrefix)
		if err != nil {
			t.Fatalf("folder %d: %v", i, err)
		}
		if err := os.WriteFile(f.File("copy"), nil, 0o600); err != nil {
			t.Fatalf("folder %d: %v", i, err)
		}
		if err := os.RemoveAll(f.Path); err != nil {
			t.Fatal(err)
		}
		f.Release()
	}
}
