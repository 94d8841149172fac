package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/backup"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// lose removes a fixture's database in one of the ways in which that happens.
var lose = map[string]func(path string) error{
	"missing": func(path string) error {
		for _, name := range backup.DatabaseFiles {
			if err := os.Remove(filepath.Join(filepath.Dir(path), name)); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
		return nil
	},
	"empty":    func(path string) error { return os.Truncate(path, 0) },
	"one byte": func(path string) error { return os.Truncate(path, 1) },
}

// TestALostDatabaseIsNotReplacedByANewOne: if the database is missing but something shows that there was one, no new
// database is created, and readers and writers report damage.
func TestALostDatabaseIsNotReplacedByANewOne(t *testing.T) {
	signs := map[string]func(dir string) error{
		"mark":   func(string) error { return nil },
		"backup": func(dir string) error { return leave(dir, sqlite.BackupDir, "contextinfinity-daily.db") },
		"journal": func(dir string) error {
			return leave(dir, sqlite.StreamDir, "01ARZ3NDEKTSV4RRFFQ69G5FAV.jsonl")
		},
	}
	for sign, make := range signs {
		for method, take := range lose {
			t.Run(sign+"/"+method, func(t *testing.T) {
				f := newFixture(t)
				f.session("s")
				f.ok(f.Store.Close())
				f.ok(take(f.core.Path()))
				if sign != "mark" {
					f.ok(os.Remove(filepath.Join(f.dir, backup.MarkFile)))
				}
				f.ok(make(f.dir))
				for _, readOnly := range []bool{false, true} {
					_, err := Open(t.Context(), Options{DataDir: f.dir, ReadOnly: readOnly})
					f.refused(err, chat.CodeCorrupt)
					if !strings.Contains(err.Error(), f.core.Path()) {
						t.Errorf("it does not name the file: %v", err)
					}
				}
				if sqlite.SizeOf(f.core.Path()) > 1 {
					t.Error("a new database was made")
				}
			})
		}
	}
}

func leave(dir, folder, name string) error {
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, folder, name), []byte("left"), 0o600)
}

// TestStartFresh: only an explicit decision starts a new database. What is left of the old data is kept, with its
// backups where the new data cannot prune them.
func TestStartFresh(t *testing.T) {
	f := newFixture(t)
	f.session("s")
	backup, err := f.backupPart.Archive.Backup(t.Context(), func() string {
		f.ok(sqlite.MakeDir(filepath.Join(f.dir, sqlite.BackupDir)))
		return filepath.Join(f.dir, sqlite.BackupDir)
	}())
	f.ok(err)
	f.ok(f.Store.Close())
	_, err = f.backupPart.Archive.StartFresh(t.Context())
	f.refused(err, chat.CodeConflict)
	f.ok(lose["missing"](f.core.Path()))
	kept, err := f.backupPart.Archive.StartFresh(t.Context())
	f.ok(err)
	if _, err := os.Stat(filepath.Join(kept, sqlite.BackupDir, filepath.Base(backup.Path))); err != nil {
		t.Errorf("the backup is not kept: %v", err)
	}
	_, err = f.backupPart.Archive.StartFresh(t.Context())
	f.refused(err, chat.CodeNotFound)
	s, err := Open(t.Context(), Options{DataDir: f.dir})
	f.ok(err)
	f.ok(s.Close())
}

// TestALostDatabaseIsRestored: a backup can be restored as usual.
func TestALostDatabaseIsRestored(t *testing.T) {
	f := newFixture(t)
	session, _ := f.session("s")
	path := filepath.Join(t.TempDir(), "copy.db")
	_, err := f.backupPart.Archive.Backup(t.Context(), path)
	f.ok(err)
	f.ok(f.Store.Close())
	f.ok(lose["empty"](f.core.Path()))
	_, err = f.backupPart.Archive.Restore(t.Context(), path, func(chat.Restoration) error { return nil })
	f.ok(err)
	s, err := Open(t.Context(), Options{DataDir: f.dir})
	f.ok(err)
	_, err = s.Session(t.Context(), session.ID)
	f.ok(err)
	f.ok(s.Close())
}

// TestTheDatabaseDisappearsWhileTheProgramRuns: a write into a file that is no longer in its place fails, then and
// later.
func TestTheDatabaseDisappearsWhileTheProgramRuns(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"renamed": func(path string) error { return os.Rename(path, path+".away") },
		"deleted": os.Remove,
		"replaced by a copy": func(path string) error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path+".copy", data, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".copy", path)
		},
		"cut off": func(path string) error { return os.Truncate(path, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.session("before")
			if err := take(f.core.Path()); err != nil {
				t.Skipf("an open file stays in its place here: %v", err)
			}
			for range 2 {
				_, _, err := f.CreateSession(f.ctx, chat.NewSession{Title: "after"})
				f.refused(err, chat.CodeCorrupt)
				if !strings.Contains(err.Error(), "while the program was running") {
					t.Errorf("it says: %v", err)
				}
			}
		})
	}
}

// TestTheDatabaseDisappearsDuringATransaction: its place is checked again before the commit.
func TestTheDatabaseDisappearsDuringATransaction(t *testing.T) {
	f := newFixture(t)
	var moved error
	err := f.core.Write(f.ctx, "setting.write", func(t *core.Tx) error {
		if _, err := t.Exec(`INSERT INTO settings (key, value, updated_at) VALUES ('x', 'y', '2026-01-01')`); err != nil {
			return err
		}
		moved = os.Rename(f.core.Path(), f.core.Path()+".away")
		return moved
	})
	if moved != nil {
		t.Skipf("an open file stays in its place here: %v", moved)
	}
	f.refused(err, chat.CodeCorrupt)
}

// TestNothingIsWrittenThroughALinkedLock: a symbolic link in place of the lock file is refused, and its target does
// not change.
func TestNothingIsWrittenThroughALinkedLock(t *testing.T) {
	f := newFixture(t)
	f.ok(f.Store.Close())
	lock, precious := filepath.Join(f.dir, sqlite.LockFile), filepath.Join(t.TempDir(), "precious")
	f.ok(os.WriteFile(precious, []byte("keep me"), 0o600))
	f.ok(os.Remove(lock))
	if err := os.Symlink(precious, lock); err != nil {
		t.Skipf("no links here: %v", err)
	}
	_, err := Open(t.Context(), Options{DataDir: f.dir})
	f.refused(err, chat.CodeConfig)
	if text, _ := os.ReadFile(precious); string(text) != "keep me" {
		t.Errorf("its target is %q now", text)
	}
}

// TestAFolderInPlaceOfTheDatabase: the error says that it is a folder.
func TestAFolderInPlaceOfTheDatabase(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, sqlite.DatabaseFile), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, readOnly := range []bool{false, true} {
		_, err := Open(t.Context(), Options{DataDir: dir, ReadOnly: readOnly})
		if chat.CodeOf(err) != chat.CodeCorrupt || !strings.Contains(err.Error(), "is a folder") {
			t.Errorf("it says: %v", err)
		}
	}
}
