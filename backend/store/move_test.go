package store

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/backup"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// movable returns a closed data directory with content in each part.
func movable(t *testing.T) (*fixture, string) {
	t.Helper()
	f := newFixture(t)
	seed(f)
	f.ok(os.MkdirAll(filepath.Join(f.dir, sqlite.BackupDir), 0o700))
	_, err := f.backupPart.Archive.Backup(f.ctx, filepath.Join(f.dir, sqlite.BackupDir))
	f.ok(err)
	f.ok(os.MkdirAll(filepath.Join(f.dir, sqlite.StreamDir), 0o700))
	f.ok(os.WriteFile(filepath.Join(f.dir, sqlite.StreamDir, "x.jsonl"), []byte("a journal"), 0o600))
	f.ok(os.MkdirAll(filepath.Join(f.dir, core.ReplacedDir, "then"), 0o700))
	f.ok(os.WriteFile(filepath.Join(f.dir, core.ReplacedDir, "then", "config.toml"), []byte("old"), 0o600))
	f.ok(f.Store.Close())
	return f, filepath.Join(t.TempDir(), "new", "place")
}

func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := archiveOf(dir).FilesToCopy()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range files {
		if file.Name == atrest.List { // a move records its target first
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, file.Name))
		if err != nil {
			t.Fatal(err)
		}
		out[file.Name] = string(data)
	}
	return out
}

// TestMoveCopiesEverything: every file is copied byte for byte, and the old directory keeps its files.
func TestMoveCopiesEverything(t *testing.T) {
	f, to := movable(t)
	before := content(t, f.dir)
	adopted := false
	a := archiveOf(f.dir)
	f.ok(a.Move(f.ctx, to, func() (bool, error) { adopted = true; return true, nil }))
	for name, text := range before {
		if content(t, to)[name] != text {
			t.Errorf("%s changed", name)
		}
	}
	if !adopted || len(content(t, to)) != len(before)+1 || len(before) < 4 {
		t.Errorf("of %d files %d are there", len(before), len(content(t, to)))
	}
	if note, err := os.ReadFile(filepath.Join(f.dir, backup.MovedFile)); err != nil || !strings.Contains(string(note), to) {
		t.Errorf("the old folder says %s, %v", note, err)
	}
	if sqlite.Exists(to, backup.MovingFile) {
		t.Error("the new folder says that it is being filled")
	}
	old := f.dir
	f.dir = to
	f.open()
	f.verifyClean()
	f.ok(f.Store.Close())
	f.refused(archiveOf(to).Move(f.ctx, old, nil), chat.CodeInvalid) // it contains data
}

// TestAFailedMoveKeepsTheOldDirectory: the move can be tried again.
func TestAFailedMoveKeepsTheOldDirectory(t *testing.T) {
	f, to := movable(t)
	before := content(t, f.dir)
	broken := errors.New("the configuration cannot be written")
	if err := archiveOf(f.dir).Move(f.ctx, to, func() (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("the new folder is left")
	}
	// A killed move leaves files that are not used as data and that the next move overwrites.
	f.ok(os.MkdirAll(filepath.Join(to, sqlite.BackupDir), 0o700))
	for _, name := range []string{backup.MovingFile, sqlite.DatabaseFile, filepath.Join(sqlite.BackupDir, "half.db")} {
		f.ok(os.WriteFile(filepath.Join(to, name), []byte("half"), 0o600))
	}
	if err := archiveOf(f.dir).Move(f.ctx, to, func() (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(to); err != nil || len(entries) > 0 {
		t.Errorf("the folder that was there contains %v, %v", entries, err)
	}
	if now := content(t, f.dir); len(now) != len(before) || sqlite.Exists(f.dir, backup.MovedFile) {
		t.Errorf("the old place contains %d files, not %d", len(now), len(before))
	}
	f.ok(archiveOf(f.dir).Move(f.ctx, to, func() (bool, error) { return true, nil }))
	f.dir = to
	f.open()
	f.verifyClean()
	f.refused(archiveOf(to).Move(f.ctx, filepath.Join(t.TempDir(), "x"), nil), chat.CodeLocked)
}

// TestAnUncertainMoveKeepsBothDirectories: the configuration names the new directory, but it may not have reached the
// disk. Both directories stay complete, and neither is marked as removable.
func TestAnUncertainMoveKeepsBothDirectories(t *testing.T) {
	f, to := movable(t)
	before := content(t, f.dir)
	unflushed := chat.Errorf(chat.CodeInternal, "file.write", "the folder could not be flushed")
	err := archiveOf(f.dir).Move(f.ctx, to, func() (bool, error) {
		if backup.LeftByMove(to) {
			t.Error("the next one to serve is marked as one that may be emptied")
		}
		return true, unflushed
	})
	if !errors.Is(err, unflushed) || !strings.Contains(err.Error(), to) {
		t.Errorf("said: %v", err)
	}
	for _, dir := range []string{f.dir, to} {
		now := content(t, dir)
		if delete(now, core.PreviousDirsFile); !maps.Equal(now, before) || sqlite.Exists(dir, backup.MovedFile) {
			t.Errorf("%s has %d files instead of %d, or says that it may be deleted", dir, len(now), len(before))
		}
	}
	f.refused(archiveOf(f.dir).Move(f.ctx, to, func() (bool, error) { return true, nil }), chat.CodeInvalid)
	f.dir = to
	f.open()
	f.verifyClean()
}

func TestUnsuitableTargetsOfAMove(t *testing.T) {
	f, to := movable(t)
	a := archiveOf(f.dir)
	full := t.TempDir()
	f.ok(os.WriteFile(filepath.Join(full, "letter"), nil, 0o600))
	link := filepath.Join(t.TempDir(), "link")
	f.ok(os.Symlink(f.dir, link))
	for place, want := range map[string]string{
		"relative": "full path", f.dir: "already there", link: "already there", filepath.Join(f.dir, "in", "it"): "inside the current",
		filepath.Join(link, "in"): "inside the current", filepath.Dir(f.dir): "inside the new", full: "not empty",
		filepath.Join(full, "letter"): "not a folder", filepath.Join(full, "letter", "x"): "not a folder", to: "",
	} {
		p, err := a.PlanMove(place)
		if err != nil || want == "" && p.Reason != "" || !strings.Contains(p.Reason, want) {
			t.Errorf("%s: %q, %v; want %q", place, p.Reason, err, want)
		}
		if place == to && (p.Bytes == 0 || p.Free <= 0 || p.To != to) {
			t.Errorf("%+v", p)
		}
	}
	parts, err := a.Parts()
	f.ok(err)
	if slices.ContainsFunc(parts[:4], func(p backup.Part) bool { return p.Files == 0 || p.Bytes == 0 }) {
		t.Errorf("%+v", parts)
	}
}

// TestARestoreIsPreviewed while the data is open, without changing anything.
func TestARestoreIsPreviewed(t *testing.T) {
	f := newFixture(t)
	seed(f)
	path := filepath.Join(t.TempDir(), "b.db")
	_, err := f.backupPart.Archive.Backup(f.ctx, path)
	f.ok(err)
	f.session("one more")
	r, err := f.backupPart.Archive.PreviewRestore(f.ctx, path)
	f.ok(err)
	if r.Present.Sessions != r.Backup.Sessions+1 || r.Problems != 0 || r.Done {
		t.Errorf("%+v", r)
	}
	if left := leftovers(t, f.dir); left != "" {
		t.Errorf("left: %s", left)
	}
	f.verifyClean()
}

// TestAMoveThroughLinks: a data directory that is reached through a link is moved completely; one that contains
// links, whose targets would stay behind, is refused.
func TestAMoveThroughLinks(t *testing.T) {
	f, to := movable(t)
	before := content(t, f.dir)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(f.dir, link); err != nil {
		t.Skip(err)
	}
	parts, err := archiveOf(link).Parts()
	if f.ok(err); parts[0].Bytes == 0 {
		t.Error("a database behind a link is not found")
	}
	f.ok(archiveOf(link).Move(f.ctx, to, func() (bool, error) { return true, nil }))
	if now := content(t, to); len(now) != len(before)+1 || now[sqlite.DatabaseFile] != before[sqlite.DatabaseFile] {
		t.Errorf("of %d files %d came along", len(before), len(now))
	}
	elsewhere := filepath.Join(t.TempDir(), "big", sqlite.BackupDir)
	f.ok(os.MkdirAll(filepath.Dir(elsewhere), 0o700))
	f.ok(os.Rename(filepath.Join(to, sqlite.BackupDir), elsewhere))
	f.ok(os.Symlink(elsewhere, filepath.Join(to, sqlite.BackupDir)))
	third := filepath.Join(t.TempDir(), "third")
	if p, err := archiveOf(to).PlanMove(third); err != nil || !strings.Contains(p.Reason, sqlite.BackupDir) {
		t.Errorf("%+v, %v", p, err)
	}
	f.refused(archiveOf(to).Move(f.ctx, third, nil), chat.CodeInvalid)
}

// TestAMoveDoesNotOverwriteUsedData, even if the process was killed before it removed the mark of the move.
func TestAMoveDoesNotOverwriteUsedData(t *testing.T) {
	f, to := movable(t)
	f.ok(archiveOf(f.dir).Move(f.ctx, to, func() (bool, error) { return true, nil }))
	f.ok(os.WriteFile(filepath.Join(to, backup.MovingFile), nil, 0o600))
	f.ok(os.Remove(filepath.Join(f.dir, backup.MovedFile)))
	old := f.dir
	f.dir = to
	f.open()
	s, _ := f.session("said at the new place")
	f.ok(f.Store.Close())
	f.refused(archiveOf(old).Move(f.ctx, to, func() (bool, error) { return true, nil }), chat.CodeInvalid)
	f.open()
	_, err := f.Session(f.ctx, s.ID)
	f.ok(err)
}

// TestAReceiptNamesFormerDataDirectories and the backups in them, as long as they exist and contain what was deleted.
func TestAReceiptNamesFormerDataDirectories(t *testing.T) {
	f, second := movable(t)
	first, third := f.dir, filepath.Join(t.TempDir(), "third")
	adopt := func() (bool, error) { return true, nil }
	f.ok(archiveOf(first).Move(f.ctx, second, adopt))
	f.dir = second
	f.open()
	later, _ := f.session("said at the second place")
	f.ok(f.Store.Close())
	f.ok(archiveOf(second).Move(f.ctx, third, adopt))
	f.dir = third
	f.open()
	list, err := f.Sessions(f.ctx, chat.SessionQuery{})
	f.ok(err)
	i := slices.IndexFunc(list, func(s chat.SessionSummary) bool { return s.ID != later.ID })
	early := string(list[i].ID)

	backups, err := filepath.Glob(filepath.Join(first, sqlite.BackupDir, "*.db"))
	f.ok(err)
	name := sqlite.BackupDir + "/" + filepath.Base(backups[0])
	want := []string{name, filepath.Join(first, sqlite.DatabaseFile), backups[0], filepath.Join(second, sqlite.DatabaseFile), filepath.Join(second, name)}
	preview, err := f.PreviewDeletion(f.ctx, chat.DeletionSession, early)
	f.ok(err)
	if !slices.Equal(preview.Backups, want) {
		t.Errorf("contained in %q, want %q", preview.Backups, want)
	}
	preview, err = f.PreviewDeletion(f.ctx, chat.DeletionSession, string(later.ID))
	f.ok(err)
	if !slices.Equal(preview.Backups, want[3:4]) {
		t.Errorf("%q contains what was said later", preview.Backups)
	}
	f.ok(os.RemoveAll(first))
	receipt, err := f.Delete(f.ctx, chat.DeletionSession, early)
	f.ok(err)
	if want = append(want[:1:1], want[3:]...); !slices.Equal(receipt.Backups, want) {
		t.Errorf("the receipt names %q, want %q", receipt.Backups, want)
	}
}
