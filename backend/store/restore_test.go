package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/backup"
	"contextinfinity/backend/store/migrations"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

func agreed(chat.Restoration) error { return nil }

// archiveOf returns the archive of a data directory that is not open.
func archiveOf(dir string) *backup.Archive { return NewArchive(backup.ArchiveOptions{DataDir: dir}) }

// titles opens a data directory for writing, verifies it and returns the titles of its sessions.
func titles(t *testing.T, dir string) []string {
	t.Helper()
	s, err := Open(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{TB: t, Store: s, ctx: t.Context(), dir: dir}
	f.verifyClean()
	sessions, err := s.Sessions(t.Context(), chat.SessionQuery{})
	f.ok(err)
	f.ok(s.Close())
	out := lists.Map(sessions, func(s chat.SessionSummary) string { return s.Title })
	slices.Sort(out)
	return out
}

// replaceable returns a data directory with the session "present" and the journal of a running answer, and a backup
// from when the session was named "past", with another journal.
func replaceable(t *testing.T) (dir, backup string) {
	f := newFixture(t)
	past, b := f.session("past")
	f.backupPart.Archive.ConfigFile = filepath.Join(t.TempDir(), "config.toml")
	f.ok(os.WriteFile(f.backupPart.Archive.ConfigFile, []byte("# past\n"), 0o600))
	turn := f.accept(b.ID, "question")
	step := f.respond(turn)
	journal := f.journal(step.ID, "journal of the past")
	backup = f.backup(filepath.Join(t.TempDir(), "copy.db")).Path
	f.ok(os.Remove(journal))
	f.ok(f.RenameSession(f.ctx, past.ID, "present"))
	f.journal(chat.StepID(chat.NewID(f.clock.Now())), "journal of the present")
	f.ok(f.Store.Close())
	return f.dir, backup
}

// journalsIn returns the contents of a directory's journals.
func journalsIn(t *testing.T, dir string) string {
	t.Helper()
	files, err := archiveOf(dir).Journals()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, text := range files {
		texts = append(texts, string(text))
	}
	slices.Sort(texts)
	return strings.Join(texts, "+")
}

func TestRestore(t *testing.T) {
	dir, backup := replaceable(t)
	a := archiveOf(dir)
	a.ConfigFile = filepath.Join(t.TempDir(), "not yet", "config.toml")
	var shown chat.Restoration
	got, err := a.Restore(t.Context(), backup, func(r chat.Restoration) error { shown = r; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if shown.Done || !shown.Present.Exists || shown.Present.Sessions != 1 || shown.Present.Turns != 1 || shown.Present.NewestTurn == nil ||
		shown.Backup.Sessions != 1 || shown.TakenAt == nil || shown.Journals != 1 || shown.Problems != 0 || shown.Schema != schema.NewestVersion(migrations.Files) {
		t.Errorf("shown was %+v", shown)
	}
	if !got.Done || got.Kept == nil || !got.Kept.Checked || got.Config != a.ConfigFile {
		t.Errorf("done was %+v", got)
	}
	if text, err := os.ReadFile(a.ConfigFile); err != nil || string(text) != "# past\n" {
		t.Errorf("the configuration is %q (%v)", text, err)
	}
	if j := journalsIn(t, dir); j != "journal of the past" {
		t.Errorf("journals: %s", j)
	}
	if j := journalsIn(t, got.Aside); j != "journal of the present" {
		t.Errorf("quarantined journals: %s", j)
	}
	if left := leftovers(t, dir); left != "" {
		t.Errorf("left: %s", left)
	}
	if now := titles(t, dir); !slices.Equal(now, []string{"past"}) {
		t.Errorf("the sessions are now %v", now)
	}
	// and back, with only the name of the backup
	a.ConfigFile = filepath.Join(filepath.Dir(a.ConfigFile), "other.toml")
	if err := os.WriteFile(a.ConfigFile, []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	back, err := a.Restore(t.Context(), filepath.Base(got.Kept.Path), agreed)
	if err != nil {
		t.Fatal(err)
	}
	if now := titles(t, dir); !slices.Equal(now, []string{"present"}) || back.Kind != chat.BackupBeforeRestore {
		t.Errorf("after restoring back, the sessions are %v, %+v", now, back)
	}
	if text, err := os.ReadFile(a.ConfigFile); err != nil || string(text) != "# mine\n" {
		t.Errorf("the configuration in effect became %q (%v)", text, err)
	}
}

// leftovers lists files that a restore should not have left.
func leftovers(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		if e.Name() == backup.SwapFile || strings.HasPrefix(e.Name(), backup.StagingPrefix) {
			left = append(left, e.Name())
		}
	}
	copies, _ := os.ReadDir(filepath.Join(dir, sqlite.BackupDir))
	for _, e := range copies {
		if atrest.Temporary(sqlite.BackupDir + "/" + e.Name()) {
			left = append(left, e.Name())
		}
	}
	return strings.Join(left, " ")
}

// A refused restore changes no byte of the data and leaves nothing behind.
func TestRestoreRefuses(t *testing.T) {
	dir, good := replaceable(t)
	original, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	torn := bytes.Clone(original)
	for i := 4096; i < len(torn); i += 8192 {
		copy(torn[i:], bytes.Repeat([]byte{0xEE}, 2000))
	}
	changedCopy := func(do ...string) []byte {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(path, original, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := sqlite.Connect(path, []string{"foreign_keys(0)"}, 1)
		for _, statement := range do {
			err = errors.Join(err, db.Exec(statement).Error)
		}
		if err = errors.Join(err, sqlite.Disconnect(db)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	before, err := os.ReadFile(filepath.Join(dir, sqlite.DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data    []byte
		code    chat.Code
		message string
	}{
		"no database":  {[]byte("this is a letter, and no database at all, however long it is"), chat.CodeInvalid, "not a backup"},
		"empty":        {nil, chat.CodeInvalid, "not a backup"},
		"another's":    {changedCopy(`PRAGMA application_id = 7`), chat.CodeInvalid, "not a backup"},
		"newer":        {changedCopy(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9001, 1)`), chat.CodeNewer, "schema 9001, this one knows " + sqlite.Itoa(schema.NewestVersion(migrations.Files))},
		"torn":         {torn, chat.CodeCorrupt, "damaged"},
		"cut":          {original[:len(original)/2], chat.CodeCorrupt, "damaged"},
		"broken links": {changedCopy(`UPDATE turns SET branch_id = 'none'`), chat.CodeCorrupt, "damaged"},
		"bad journal":  {changedCopy(`UPDATE backup_files SET content = x'00' WHERE name LIKE 'streams/%'`), chat.CodeCorrupt, "damaged"},
		"a trigger": {changedCopy(`CREATE TRIGGER evil AFTER INSERT ON settings BEGIN DELETE FROM sessions; END`),
			chat.CodeInvalid, "it contains trigger evil"},
		"a view": {changedCopy(`CREATE VIEW evil AS SELECT 1`), chat.CodeInvalid, "it contains view evil"},
		"a changed trigger": {changedCopy(`PRAGMA writable_schema = 1`,
			`UPDATE sqlite_schema SET sql = replace(sql, 'BEGIN', 'BEGIN DELETE FROM sessions;') WHERE type = 'trigger'`),
			chat.CodeInvalid, "it contains trigger "},
		"odd file": {changedCopy(`UPDATE backup_files SET name = 'streams/../../x' WHERE name LIKE 'streams/%'`), chat.CodeCorrupt, "damaged"},
	} {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := archiveOf(dir).Restore(t.Context(), path, func(chat.Restoration) error { t.Errorf("%s was shown", name); return nil })
		if chat.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %q %v", name, chat.CodeOf(err), err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, c.data) {
			t.Errorf("%s was changed", name)
		}
	}
	refusal := errors.New("no")
	if _, err := archiveOf(dir).Restore(t.Context(), good, func(chat.Restoration) error { return refusal }); !errors.Is(err, refusal) {
		t.Errorf("without consent: %v", err)
	}
	for path, code := range map[string]chat.Code{
		filepath.Join(dir, "none.db"): chat.CodeNotFound, dir: chat.CodeInvalid, filepath.Join(dir, sqlite.DatabaseFile): chat.CodeInvalid,
	} {
		if _, err := archiveOf(dir).Restore(t.Context(), path, agreed); chat.CodeOf(err) != code {
			t.Errorf("%s: %v", path, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := archiveOf(dir).Restore(ctx, good, agreed); chat.CodeOf(err) != chat.CodeCancelled {
		t.Errorf("cancelled: %v", err)
	}
	if left := leftovers(t, dir); left != "" {
		t.Errorf("left: %s", left)
	}
	if after, err := os.ReadFile(filepath.Join(dir, sqlite.DatabaseFile)); err != nil || !bytes.Equal(before, after) {
		t.Error("the data was changed")
	}
	if now := titles(t, dir); !slices.Equal(now, []string{"present"}) || journalsIn(t, dir) != "journal of the present" {
		t.Errorf("the sessions are now %v", now)
	}
}

func TestRestoreIsRefusedWhileAWriterIsOpen(t *testing.T) {
	f := newFixture(t)
	f.session("s")
	path := f.backup(t.TempDir()).Path
	_, err := f.backupPart.Archive.Restore(f.ctx, path, agreed)
	f.refused(err, chat.CodeLocked)
	if !strings.Contains(chat.AsError(err).Hint, "close") {
		t.Errorf("%v", err)
	}
}

// A backup with the first schema is upgraded before it is installed.
func TestRestoreOfAnOlderSchema(t *testing.T) {
	dir, _ := replaceable(t)
	got, err := archiveOf(dir).Restore(t.Context(), unpacked(t, firstVersion), agreed)
	if err != nil {
		t.Fatal(err)
	}
	if got.Backup.Schema != 1 || got.Schema != schema.NewestVersion(migrations.Files) || got.Problems != 0 || got.TakenAt != nil {
		t.Errorf("%+v", got)
	}
	if now := titles(t, dir); slices.Contains(now, "present") || len(now) == 0 {
		t.Errorf("the sessions are now %v", now)
	}
	if list := ownBackups(t, dir); len(list) != 1 || list[0].Kind != chat.BackupBeforeRestore {
		t.Errorf("backups: %+v", list)
	}
}

// ownBackups returns the backups in the folder of the data, without those that a test wrote elsewhere.
func ownBackups(t *testing.T, dir string) []chat.Backup {
	t.Helper()
	list, err := archiveOf(dir).Backups(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(b chat.Backup) bool {
		return filepath.Dir(b.Path) != filepath.Join(dir, sqlite.BackupDir)
	})
}

// Data with an older schema can be backed up before it is upgraded, and the backup can be restored.
func TestBackupOfAnOlderSchema(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(unpacked(t, firstVersion))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, sqlite.DatabaseFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := archiveOf(dir).Backup(t.Context(), t.TempDir())
	if err != nil || b.Schema != 1 || b.Counts["turns"] == 0 {
		t.Fatalf("%+v %v", b, err)
	}
	to := t.TempDir()
	if _, err := archiveOf(to).Restore(t.Context(), b.Path, agreed); err != nil {
		t.Fatal(err)
	}
	if now := titles(t, to); len(now) == 0 {
		t.Error("there are no sessions")
	}
}

// Current data that cannot be opened is kept aside unchanged, and a backup can be restored in its place.
func TestRestoreOverDamage(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"no header": func(b []byte) []byte { return append([]byte("garbage garbage!"), b[16:]...) },
		"cut":       func(b []byte) []byte { return b[:50] },
		"torn":      func(b []byte) []byte { copy(b[100:], bytes.Repeat([]byte{0xEE}, 3000)); return b },
		"empty":     func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir, backup := replaceable(t)
			path := filepath.Join(dir, sqlite.DatabaseFile)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data = damage(data)
			log := []byte("the log of the damaged database")
			if err := errors.Join(os.WriteFile(path, data, 0o600), os.WriteFile(path+"-wal", log, 0o600)); err != nil {
				t.Fatal(err)
			}
			got, err := archiveOf(dir).Restore(t.Context(), backup, agreed)
			if err != nil {
				t.Fatal(err)
			}
			if got.Kept != nil || got.Present.Exists != (len(data) > 0) || (got.Present.Problem == "") != (len(data) == 0) {
				t.Errorf("%+v", got)
			}
			if kept, err := os.ReadFile(filepath.Join(got.Aside, sqlite.DatabaseFile+"-wal")); err != nil || !bytes.Equal(kept, log) {
				t.Errorf("the log was not quarantined (%v)", err)
			}
			if name != "empty" {
				aside, err := os.ReadFile(filepath.Join(got.Aside, sqlite.DatabaseFile))
				if err != nil || !bytes.Equal(aside, data) {
					t.Errorf("the quarantined file differs from the original (%v)", err)
				}
			}
			if now := titles(t, dir); !slices.Equal(now, []string{"past"}) {
				t.Errorf("the sessions are now %v", now)
			}
		})
	}
}

// The log of a killed writer belongs to the old data. It goes into the backup of that data and is never applied to
// the restored database.
func TestRestoreOverALog(t *testing.T) {
	dir, backup := replaceable(t)
	f := &fixture{TB: t, ctx: t.Context(), dir: dir}
	s, err := Open(f.ctx, Options{DataDir: dir})
	f.ok(err)
	f.Store = s
	f.session("in the log")
	log, err := os.ReadFile(s.core.Path() + "-wal")
	f.ok(err)
	main, err := os.ReadFile(s.core.Path())
	f.ok(err)
	f.ok(s.Close())
	f.ok(os.WriteFile(s.core.Path(), main, 0o600)) // as after a kill
	f.ok(os.WriteFile(s.core.Path()+"-wal", log, 0o600))
	got, err := archiveOf(dir).Restore(t.Context(), backup, agreed)
	f.ok(err)
	if now := titles(t, dir); !slices.Equal(now, []string{"past"}) {
		t.Errorf("the sessions are now %v", now)
	}
	_, err = archiveOf(dir).Restore(t.Context(), got.Kept.Path, agreed)
	f.ok(err)
	if now := titles(t, dir); !slices.Equal(now, []string{"in the log", "present"}) {
		t.Errorf("before there was %v", now)
	}
}

// A plain copy of the directory, made while the program ran, has a log beside the database.
func TestRestoreOfARawCopy(t *testing.T) {
	f := newFixture(t)
	f.session("in the log")
	dir := t.TempDir()
	for _, name := range []string{sqlite.DatabaseFile, sqlite.DatabaseFile + "-wal"} {
		data, err := os.ReadFile(filepath.Join(f.dir, name))
		f.ok(err)
		f.ok(os.WriteFile(filepath.Join(dir, name), data, 0o400))
	}
	f.ok(os.Chmod(dir, 0o500))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	to := t.TempDir()
	_, err := archiveOf(to).Restore(f.ctx, filepath.Join(dir, sqlite.DatabaseFile), agreed)
	f.ok(err)
	if now := titles(t, to); !slices.Equal(now, []string{"in the log"}) {
		t.Errorf("the sessions are now %v", now)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left next to the user's files: %v %v", left, err)
	}
}

// In restored data, the steps of turns that were open in the backup are known as restored, and no others.
func TestRestoredStepsAreKnown(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.committed(b.ID, "done", "yes")
	turn := f.accept(b.ID, "question")
	running := f.respond(turn)
	f.journal(running.ID, "arriving")
	steps, err := f.Steps(f.ctx, turn.ID)
	f.ok(err)
	known := func(want bool) {
		t.Helper()
		for _, s := range append(steps, chat.Step{ID: "another"}) {
			got, err := f.WasRestored(f.ctx, s.ID)
			f.ok(err)
			if got != (want && s.ID == running.ID) {
				t.Errorf("step %s: restored is %v", s.ID, got)
			}
		}
	}
	known(false)
	backup := f.backup(filepath.Join(t.TempDir(), "copy.db")).Path
	f.ok(f.Store.Close())
	_, err = archiveOf(f.dir).Restore(f.ctx, backup, agreed)
	f.ok(err)
	f.open()
	known(true)
	f.verifyClean()
}
