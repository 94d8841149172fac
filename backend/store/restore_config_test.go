package store

import (
	"os"
	"path/filepath"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/backup"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// A restore also restores the configuration of the backup, even if the next start completes it. If the configuration
// folder cannot be written, the data is restored anyway.
func TestRestoreBringsTheConfiguration(t *testing.T) {
	type killed struct{}
	for name, c := range map[string]struct {
		kill string // the step at which the restore is killed, if any
		home func(string) error
		put  bool // restored in place; otherwise kept in the folder of the replaced data
	}{
		"at once":               {put: true},
		"by the next start":     {kill: "installed", put: true},
		"again":                 {kill: "cleared", put: true},
		"no folder for it":      {home: func(home string) error { return os.WriteFile(home, nil, 0o600) }},
		"no folder, next start": {kill: "away " + sqlite.DatabaseFile, home: func(home string) error { return os.WriteFile(home, nil, 0o600) }},
		"where one is in effect": {home: func(home string) error {
			return backup.WriteConfig(filepath.Join(home, schema.ConfigName), []byte("# mine\n"))
		}},
		"in effect at next start": {kill: "written down", home: func(home string) error {
			return backup.WriteConfig(filepath.Join(home, schema.ConfigName), []byte("# mine\n"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, kept := replaceable(t)
			home := filepath.Join(t.TempDir(), "home")
			if c.home != nil {
				if err := c.home(home); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(home, schema.ConfigName)
			a := NewArchive(backup.ArchiveOptions{DataDir: dir, Config: path})
			a.At = func(step string) {
				if step == c.kill {
					panic(killed{})
				}
			}
			func() {
				defer func() { _ = recover() }()
				if _, err := a.Restore(t.Context(), kept, agreed); err != nil {
					t.Error(err)
				}
			}()
			s, err := Open(t.Context(), Options{DataDir: dir, Config: path})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if !c.put {
				found, err := filepath.Glob(filepath.Join(dir, core.ReplacedDir, "*", schema.ConfigName))
				if err != nil || len(found) != 1 {
					t.Fatalf("quarantined: %v %v", found, err)
				}
				path = found[0]
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != "# past\n" {
				t.Errorf("%q %v", text, err)
			}
		})
	}
}

// A data directory with an unfinished restore is not backed up as if it were empty.
func TestHalfRestoredDataIsNotBackedUp(t *testing.T) {
	dir := t.TempDir()
	if err := backup.WriteSwap(dir, backup.Swap{Staging: backup.StagingPrefix + "1", Aside: filepath.Join(core.ReplacedDir, "1")}); err != nil {
		t.Fatal(err)
	}
	if _, err := archiveOf(dir).Backup(t.Context(), t.TempDir()); chat.CodeOf(err) != chat.CodeConflict {
		t.Error(err)
	}
}

// Connecting for reading does not create a database.
func TestReadingCreatesNoDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), sqlite.DatabaseFile)
	db, err := sqlite.Connect(path, sqlite.ReaderPragmas(path), sqlite.Readers)
	if err == nil {
		err = db.Exec(`SELECT 1`).Error
		_ = sqlite.Disconnect(db)
	}
	if err == nil {
		t.Error("a database that does not exist was opened")
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("it was created")
	}
}
