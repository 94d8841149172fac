package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/backup"
	"contextinfinity/backend/store/sqlite"
)

// backup makes a backup by hand.
func (f *fixture) backup(path string) chat.Backup {
	f.Helper()
	b, err := f.backupPart.Archive.Backup(f.ctx, path)
	f.ok(err)
	return b
}

// journal writes a stream journal for a running step.
func (f *fixture) journal(step chat.StepID, text string) string {
	f.Helper()
	f.ok(os.MkdirAll(filepath.Join(f.dir, sqlite.StreamDir), 0o700))
	path := filepath.Join(f.dir, sqlite.StreamDir, string(step)+sqlite.JournalExtension)
	f.ok(os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestBackup(t *testing.T) {
	f := newFixture(t)
	seed(f)
	path := filepath.Join(t.TempDir(), "copy.db")
	b := f.backup(path)
	_, err := f.backupPart.Archive.Backup(f.ctx, path)
	f.refused(err, chat.CodeConflict)
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 || info.Size() != b.Bytes {
		t.Errorf("%v %v", info, err)
	}
	stats, err := f.Stats(f.ctx)
	f.ok(err)
	if !b.Checked || b.Kind != chat.BackupByHand || b.Schema != stats.Schema || len(b.SHA256) != 64 ||
		b.Counts["turns"] != int64(stats.Turns) || b.Counts["events"] != int64(stats.Events) {
		t.Errorf("the backup is %+v", b)
	}
	copied(t, path).verifyClean()
	ro, err := Open(f.ctx, Options{DataDir: f.dir, ReadOnly: true})
	f.ok(err)
	defer ro.Close()
	dir := t.TempDir()
	beside, err := ro.backupPart.Archive.Backup(f.ctx, dir) // made by a second process while the writer is open, into a folder
	f.ok(err)
	if filepath.Dir(beside.Path) != dir {
		t.Errorf("it is at %s", beside.Path)
	}
	if kind, _, ok := backup.ParseName(filepath.Base(beside.Path)); !ok || kind != chat.BackupByHand {
		t.Errorf("its name is %s", beside.Path)
	}
	copied(t, beside.Path).verifyClean()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("next to the backup there is %v %v", left, err)
	}
}

// A path where no backup can be written is refused with the right code, and nothing is left there.
func TestBackupToInvalidPaths(t *testing.T) {
	f := newFixture(t)
	f.session("s")
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	f.ok(os.Mkdir(closed, 0o500))
	file := filepath.Join(dir, "file")
	f.ok(os.WriteFile(file, []byte("mine"), 0o600))
	for path, code := range map[string]chat.Code{
		filepath.Join(dir, "none", "x.db"):           chat.CodeNotFound,
		filepath.Join(closed, "x.db"):                chat.CodeInvalid,
		filepath.Join(file, "x.db"):                  chat.CodeInvalid,
		filepath.Join(dir, strings.Repeat("x", 300)): chat.CodeInvalid,
		file:                chat.CodeConflict,
		f.Store.core.Path(): chat.CodeConflict,
		dir + "/none/":      chat.CodeNotFound,
	} {
		if path == filepath.Join(closed, "x.db") && os.Geteuid() == 0 {
			continue // root may write anywhere
		}
		_, err := f.backupPart.Archive.Backup(f.ctx, path)
		if e := chat.AsError(err); chat.CodeOf(err) != code || e.Hint == "" || strings.Contains(e.Message, "data directory") {
			t.Errorf("%s: %q %v", path, chat.CodeOf(err), err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("an existing file contains %q (%v)", text, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left in the folder: %v", left)
	}
	empty := NewArchive(backup.ArchiveOptions{DataDir: t.TempDir()})
	_, err := empty.Backup(f.ctx, filepath.Join(dir, "x.db"))
	f.refused(err, chat.CodeNotFound)
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	_, err = f.backupPart.Archive.Backup(ctx, filepath.Join(dir, "x.db"))
	f.refused(err, chat.CodeCancelled)
}

// Each turn that is written during a backup is in it completely or not at all, and no writer waits for the backup.
func TestBackupWhileTurnsAreWritten(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "one", "two")
	stop, writing := make(chan struct{}), sync.WaitGroup{}
	writing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				f.full(b.ID, fmt.Sprint("question ", i), "answer")
			}
		}
	})
	dir := t.TempDir()
	for i := range 5 {
		copied(t, f.backup(filepath.Join(dir, sqlite.Itoa(int64(i))+".db")).Path).verifyClean()
	}
	close(stop)
	writing.Wait()
	f.verifyClean()
}

// A backup contains the configuration and the journal of an answer that is still streaming, but no journal of an
// answer that is already in the database.
func TestBackupIncludesJournalsAndConfiguration(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.backupPart.Archive.ConfigFile = filepath.Join(t.TempDir(), "config.toml")
	f.ok(os.WriteFile(f.backupPart.Archive.ConfigFile, []byte("[stream]\n"), 0o600))
	step := f.respond(f.accept(b.ID, "question"))
	f.journal(step.ID, "half an ans")
	f.journal(chat.StepID(chat.NewID(f.clock.Now())), "of nobody")
	path := f.backup(filepath.Join(t.TempDir(), "copy.db")).Path
	db, err := sqlite.Connect(path, sqlite.ReadBackPragmas, 1)
	f.ok(err)
	defer func() { f.ok(sqlite.Disconnect(db)) }()
	files, err := backup.FilesIn(db)
	f.ok(err)
	content := map[string]string{}
	for _, file := range files {
		content[file.Name] = string(file.Content)
	}
	if len(content) != 2 || content["config.toml"] != "[stream]\n" || content["streams/"+string(step.ID)+".jsonl"] != "half an ans" {
		t.Errorf("it contains %v", content)
	}
}

// If a step ends between the copy of the database and the copy of its journal, the copy would contain neither; the
// backup has to start over.
func TestBackupStartsOverIfAStepEnds(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	turn := f.accept(b.ID, "question")
	step := f.respond(turn)
	copyOf := f.backup(filepath.Join(t.TempDir(), "copy.db")).Path
	db, err := sqlite.Connect(copyOf, sqlite.ReadBackPragmas, 1)
	f.ok(err)
	defer func() { f.ok(sqlite.Disconnect(db)) }()
	if _, err := backup.NeededJournals(db, f.core.DB.Reader, nil); err != nil {
		t.Errorf("a running step without a journal: %v", err)
	}
	_, err = f.FailTurn(f.ctx, chat.TurnFailure{TurnID: turn.ID, Step: f.ended(step, chat.StepFailed, ""), Outcome: chat.OutcomeFailed, Failure: &chat.Failure{Code: chat.CodeProvider}})
	f.ok(err)
	if _, err := backup.NeededJournals(db, f.core.DB.Reader, nil); !errors.Is(err, backup.ErrChanged) {
		t.Errorf("a step that ended meanwhile: %v", err)
	}
}

// A copy that was damaged while it was written is not accepted as a backup.
func TestBackupIsReadBack(t *testing.T) {
	f := newFixture(t)
	seed(f)
	b := f.backup(filepath.Join(t.TempDir(), "copy.db"))
	data, err := os.ReadFile(b.Path)
	f.ok(err)
	for i := 4096; i < len(data); i += 8192 { // in the middle of each page
		copy(data[i:], bytes.Repeat([]byte{0xEE}, 2000))
	}
	f.ok(os.WriteFile(b.Path, data, 0o600))
	f.refused(f.backupPart.Archive.ReadBack(f.ctx, b.Path, b), chat.CodeCorrupt)
}

var sevenAndFour = backup.BackupPolicy{Daily: true, KeepDaily: 7, KeepWeekly: 4}

// daily makes the daily backup if it is due.
func (f *fixture) daily(want chat.BackupOutcome) chat.AutoBackup {
	f.Helper()
	out, err := f.AutoBackup(f.ctx, sevenAndFour)
	f.ok(err)
	if out.Outcome != want {
		f.Fatalf("a daily backup was %s, want %s", out.Outcome, want)
	}
	return out
}

func TestDailyBackup(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	dir := filepath.Join(f.dir, sqlite.BackupDir)
	f.ok(os.Mkdir(dir, 0o700))
	taken := filepath.Join(dir, backup.BackupName(backup.LabelDaily, start.Add(-time.Hour))) // left by a backup that was killed before it renamed its file
	f.ok(os.WriteFile(taken, nil, 0o600))
	f.daily(chat.BackupUnchanged) // an empty session is not worth a copy, which would put off the next one by a day
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: chat.UserText("half")}))
	made := f.daily(chat.BackupCreated).Made
	if !made.Checked || made.Kind != chat.BackupDaily || !strings.Contains(made.Path, "daily-"+start.Format("20060102")) {
		t.Errorf("made %+v", made)
	}
	f.accept(b.ID, "something new")
	f.clock.Advance(23 * time.Hour)
	f.daily(chat.BackupRecent)
	f.clock.Advance(time.Hour)
	f.daily(chat.BackupCreated)
	f.clock.Advance(48 * time.Hour)
	f.daily(chat.BackupUnchanged)
	f.ok(f.PutSetting(f.ctx, "last", "session")) // a change of this setting alone needs no backup
	f.daily(chat.BackupUnchanged)
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: chat.UserText("half a sent")}))
	f.daily(chat.BackupCreated)
	f.clock.Advance(-240 * time.Hour) // the clock was set back, so there is no backup of today
	f.daily(chat.BackupCreated)
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: chat.UserText("half a sentence")}))
	f.clock.Advance(25 * time.Hour)
	f.ok(os.WriteFile(filepath.Join(f.dir, sqlite.BackupDir, backup.BackupName("v3", f.clock.Now())), []byte("a copy"), 0o600))
	f.daily(chat.BackupRecent) // the upgrade made one
	f.ok(os.Remove(filepath.Join(f.dir, sqlite.BackupDir, backup.BackupName("v3", f.clock.Now()))))
	out, err := f.AutoBackup(f.ctx, backup.BackupPolicy{})
	f.ok(err)
	if out.Outcome != chat.BackupOff {
		t.Errorf("switched off it was %s", out.Outcome)
	}
	f.ok(os.Remove(taken))
	list, err := f.backupPart.Archive.Backups(f.ctx, true)
	f.ok(err)
	if len(list) != 4 || slices.ContainsFunc(list, func(b chat.Backup) bool { return b.Problem != "" || !b.Checked }) {
		t.Errorf("%+v", list)
	}
	ro, err := Open(f.ctx, Options{DataDir: f.dir, ReadOnly: true})
	f.ok(err)
	defer ro.Close()
	_, err = ro.AutoBackup(f.ctx, sevenAndFour)
	f.refused(err, chat.CodeLocked)
}

// A change of anything that a user would miss is a reason for the next daily backup, even if no turn was added.
func TestEveryUserChangeIsBackedUp(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.accept(b.ID, "something")
	f.daily(chat.BackupCreated)
	var project chat.Project
	for name, change := range map[string]func() error{
		"assistant": func() error {
			_, err := f.PutAssistant(f.ctx, chat.Assistant{Name: "Poet", Instructions: "Answer in rhymes."})
			return err
		},
		"saved prompt": func() error {
			_, err := f.PutSavedPrompts(f.ctx, []chat.SavedPrompt{{Name: "Review", Text: "Review this."}})
			return err
		},
		"project": func() (err error) {
			project, err = f.CreateProject(f.ctx, chat.ProjectSettings{Name: "Bakery", Facts: []string{"one"}})
			return err
		},
		"permission": func() error {
			return f.PutToolPermission(f.ctx, chat.ToolPermission{Source: "files", Decision: chat.DecisionNever})
		},
		"program": func() error {
			return f.AllowClient(f.ctx, chat.ClientChoice{Name: "Zed", Scope: chat.ClientChosen, Folders: []string{"Work"}})
		},
	} {
		f.clock.Advance(25 * time.Hour)
		f.daily(chat.BackupUnchanged)
		f.ok(change())
		if out := f.daily(chat.BackupCreated); out.Made.Path == "" {
			t.Errorf("%s: %+v", name, out)
		}
	}
	f.clock.Advance(25 * time.Hour)
	settings := project.Settings()
	settings.Facts = []string{"one", "two"}
	_, err := f.SetProject(f.ctx, project.ID, settings)
	f.ok(err)
	f.daily(chat.BackupCreated)
}

// Where a user waits for it, a backup is made only if the last one is old enough and the data is small; otherwise it
// is left to a program that keeps running.
func TestBriefBackup(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("s")
	f.accept(b.ID, "something")
	brief := sevenAndFour
	brief.Brief = true
	for _, c := range []struct {
		wait time.Duration
		text int
		want chat.BackupOutcome
	}{{0, 0, chat.BackupLater}, {25 * time.Hour, 0, chat.BackupCreated}, {25 * time.Hour, 40 << 20, chat.BackupLater}} {
		f.clock.Advance(c.wait)
		if c.text > 0 {
			f.file(s.ID, "large", strings.Repeat("word ", c.text/5))
		}
		out, err := f.AutoBackup(f.ctx, brief)
		f.ok(err)
		if out.Outcome != c.want {
			t.Errorf("after %v with %d bytes: %s, want %s", c.wait, c.text, out.Outcome, c.want)
		}
	}
	f.daily(chat.BackupCreated)
}

// The newest seven daily backups and one for each of the four weeks before them are kept, whatever days are missing,
// and the newest backup always.
func TestDailyBackupsKept(t *testing.T) {
	for _, pause := range []int{1, 2, 3, 9} {
		var list []backup.DailyFile
		for day := 0; day < 400; day += pause {
			at := start.Add(time.Duration(day) * 24 * time.Hour)
			list = backup.ToKeep(append([]backup.DailyFile{{Path: sqlite.Itoa(int64(day)), At: at}}, list...), sevenAndFour)
			if list[0].At != at || len(list) > 11 {
				t.Fatalf("every %d days, on day %d: %v", pause, day, list)
			}
			for i, d := range list[:min(7, len(list))] {
				if want := at.Add(-time.Duration(i*pause) * 24 * time.Hour); d.At != want {
					t.Fatalf("every %d days, on day %d: %v", pause, day, list)
				}
			}
			for i := 7; i < len(list); i++ { // one for each week, up to the day on which the week begins
				if gap := list[i-1].At.Sub(list[i].At).Hours() / 24; gap > float64(13+pause) {
					t.Fatalf("every %d days, on day %d: %v", pause, day, list)
				}
			}
		}
		if len(list) != 11 {
			t.Errorf("every %d days: at the end %v", pause, list)
		}
	}
}

// Only daily backups are removed, and the empty file of a killed one.
func TestDailyBackupRemovesOnlyItsOwn(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	dir := filepath.Join(f.dir, sqlite.BackupDir)
	f.ok(os.MkdirAll(dir, 0o700))
	others := []string{
		backup.BackupName("v1", start.Add(-48*time.Hour)), backup.BackupName("before-restore", start), backup.BackupName("", start.Add(-24*time.Hour)), "contextinfinity-daily-mine.db", "holiday.db",
		"notes.txt", ".contextinfinity-new.tmp-2",
	}
	for _, name := range others {
		f.ok(os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	taken := filepath.Join(dir, backup.BackupName(backup.LabelDaily, start.Add(-time.Hour))) // left by a backup that was killed before it renamed its file
	f.ok(os.WriteFile(taken, nil, 0o600))
	f.ok(os.Chtimes(taken, start, start))
	var removed []string
	for day := range 4 {
		f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: chat.UserText(strings.Repeat("x", day+1))}))
		out, err := f.AutoBackup(f.ctx, backup.BackupPolicy{Daily: true, KeepDaily: 1, KeepWeekly: 1})
		f.ok(err)
		removed = append(removed, out.Removed...)
		f.clock.Advance(24 * time.Hour)
	}
	list, _, err := f.backupPart.Archive.Dailies(dir)
	f.ok(err)
	if len(list) != 2 || len(removed) != 2 {
		t.Errorf("kept %v, removed %v", list, removed)
	}
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s was removed", name)
		}
	}
	if _, err := os.Stat(taken); err == nil {
		t.Errorf("%s, left by an interrupted copy, is still there", taken)
	}
}

// One list shows backups made by hand, backups of earlier versions, and files that are not valid backups.
func TestBackupsAreListed(t *testing.T) {
	f := newFixture(t)
	f.session("s")
	dir := filepath.Join(f.dir, sqlite.BackupDir)
	if list, err := f.backupPart.Archive.Backups(f.ctx, true); err != nil || len(list) != 0 {
		t.Fatalf("without a folder: %v %v", list, err)
	}
	f.ok(os.MkdirAll(dir, 0o700))
	f.backup(dir)
	f.clock.Advance(time.Hour)
	older := f.backup(filepath.Join(t.TempDir(), "x.db")).Path
	db, err := sqlite.Connect(older, sqlite.CommonPragmas, 1)
	f.ok(err)
	f.ok(errors.Join(db.Exec(`DROP TABLE backup_info`).Error, db.Exec(`DROP TABLE backup_files`).Error, sqlite.Disconnect(db)))
	f.ok(os.Rename(older, filepath.Join(dir, backup.BackupName("v1", f.clock.Now()))))
	f.ok(os.WriteFile(filepath.Join(dir, "broken.db"), []byte("no database"), 0o600))
	list, err := f.backupPart.Archive.Backups(f.ctx, false)
	f.ok(err)
	got := map[chat.BackupKind]chat.Backup{}
	for _, b := range list {
		if filepath.Base(b.Path) != "broken.db" {
			got[b.Kind] = b
		} else if b.Problem == "" {
			t.Errorf("a file that is not a backup is listed as %+v", b)
		}
	}
	hand, old := got[chat.BackupByHand], got[chat.BackupMigration]
	if len(list) != 3 || !hand.Checked || hand.Counts["sessions"] != 1 || old.Checked || old.Counts["sessions"] != 1 || old.Problem != "" || !old.At.Equal(f.clock.Now()) {
		t.Errorf("%+v", list)
	}
}

// Verify does not read the tables that only a backup has; a change in them is found all the same, and the records can
// still be restored.
func TestAChangedDescriptionOfABackupIsFound(t *testing.T) {
	f := newFixture(t)
	f.session("s")
	f.backupPart.Archive.ConfigFile = filepath.Join(t.TempDir(), "config.toml")
	f.ok(os.WriteFile(f.backupPart.Archive.ConfigFile, []byte("[stream]\n"), 0o600))
	dir := filepath.Join(f.dir, sqlite.BackupDir)
	f.ok(os.MkdirAll(dir, 0o700))
	path := f.backup(dir).Path
	found := func() []chat.Finding {
		t.Helper()
		list, err := f.backupPart.Archive.Backups(f.ctx, true)
		f.ok(err)
		if len(list) != 1 || list[0].Problem != "" || list[0].Problems != len(list[0].Findings) {
			t.Fatalf("%+v", list)
		}
		return list[0].Findings
	}
	if findings := found(); len(findings) != 0 {
		t.Fatalf("before the change: %v", findings)
	}
	original, err := os.ReadFile(path)
	f.ok(err)
	for _, change := range []string{
		`UPDATE backup_info SET value = 'daily' WHERE key = 'kind'`,
		`UPDATE backup_info SET key = 'kine' WHERE key = 'kind'`,
		`UPDATE backup_info SET key = 'sha255' WHERE key = 'sha256'`,
		`UPDATE backup_info SET value = 'x' WHERE key = 'fingerprint'`,
		`UPDATE backup_info SET value = replace(value, '2026', '2025') WHERE key = 'at'`,
		`DELETE FROM backup_files`,
	} {
		db, err := sqlite.Connect(path, sqlite.CommonPragmas, 1)
		f.ok(err)
		f.ok(errors.Join(db.Exec(change).Error, sqlite.Disconnect(db)))
		if findings := found(); len(findings) != 1 || findings[0].Kind != "integrity" || findings[0].Table != "backup_info" {
			t.Errorf("%s: %v", change, findings)
		}
		f.ok(errors.Join(os.WriteFile(path, original, 0o600), os.RemoveAll(path+"-wal"), os.RemoveAll(path+"-shm")))
	}
}
