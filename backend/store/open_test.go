package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/migrations"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

func TestFilesAreAccessibleOnlyToTheirOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on Windows")
	}
	f := newFixture(t)
	f.session("s")
	for name, want := range map[string]os.FileMode{"": 0o700, sqlite.DatabaseFile: 0o600, sqlite.DatabaseFile + "-wal": 0o600, sqlite.LockFile: 0o600} {
		info, err := os.Stat(filepath.Join(f.dir, name))
		f.ok(err)
		if got := info.Mode().Perm(); got != want && name != "" || got&0o077 != 0 {
			t.Errorf("%q has mode %v, want %v", name, got, want)
		}
	}
}

func TestConnectionsAreSetUp(t *testing.T) {
	f := newFixture(t)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "trusted_schema": "0"} {
		got, err := sqlite.One[string](f.core.DB.Writer, pragma, "", "PRAGMA "+pragma)
		f.ok(err)
		if got != want {
			t.Errorf("writer %s = %s, want %s", pragma, got, want)
		}
	}
	if err := f.core.DB.Reader.Exec(`INSERT INTO settings VALUES ('a', 'b', 'c')`).Error; err == nil {
		t.Error("a reading connection wrote")
	}
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"a b", "per%20cent", "q?uestion", "ha#sh", "ümläut 数据", "amp&=x"} {
		if runtime.GOOS == "windows" && strings.Contains(name, "?") {
			continue
		}
		dir := filepath.Join(t.TempDir(), name)
		s, err := Open(t.Context(), Options{DataDir: dir})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, sqlite.DatabaseFile)); err != nil {
			t.Errorf("%s: the database is in another place: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOneWriterManyReaders(t *testing.T) {
	f := newFixture(t)
	session, _ := f.session("seen")
	_, err := Open(f.ctx, Options{DataDir: f.dir})
	f.refused(err, chat.CodeLocked)
	if !strings.Contains(err.Error(), "pid "+strconv.Itoa(os.Getpid())) {
		t.Errorf("%v does not name the holder", err)
	}
	ro, err := Open(f.ctx, Options{DataDir: f.dir, ReadOnly: true})
	f.ok(err)
	defer ro.Close()
	got, err := ro.Session(f.ctx, session.ID)
	f.ok(err)
	if got.Title != "seen" {
		t.Errorf("read %+v", got)
	}
	f.refused(ro.RenameSession(f.ctx, session.ID, "x"), chat.CodeLocked)
	later, _ := f.session("later")
	if _, err := ro.Session(f.ctx, later.ID); err != nil {
		t.Errorf("a running reader does not see a new commit: %v", err)
	}
}

func TestReadOnlyNeedsData(t *testing.T) {
	_, err := Open(t.Context(), Options{DataDir: t.TempDir(), ReadOnly: true})
	if chat.CodeOf(err) != chat.CodeNotFound {
		t.Fatalf("got %v", err)
	}
}

// TestLockEndsWithItsProcess: the lock file of a killed writer contains a pid that may belong to any process by now;
// only the operating system's lock counts.
func TestLockEndsWithItsProcess(t *testing.T) {
	if dir := os.Getenv("CONTEXTINFINITY_TEST_HOLD"); dir != "" {
		holdLock(dir)
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockEndsWithItsProcess$")
	cmd.Env = append(os.Environ(), "CONTEXTINFINITY_TEST_HOLD="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, 6)
	if _, err := out.Read(ready); err != nil || string(ready) != "locked" {
		t.Fatalf("child said %q, %v", ready, err)
	}
	_, err = Open(t.Context(), Options{DataDir: dir})
	if chat.CodeOf(err) != chat.CodeLocked || !strings.Contains(err.Error(), strconv.Itoa(cmd.Process.Pid)) {
		t.Errorf("while locked: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	text, _ := os.ReadFile(filepath.Join(dir, sqlite.LockFile))
	if strings.TrimSpace(string(text)) != strconv.Itoa(cmd.Process.Pid) {
		t.Fatalf("the killed process should have left its pid, not %q", text)
	}
	// The pid now belongs to another process that certainly runs.
	if err := os.WriteFile(filepath.Join(dir, sqlite.LockFile), []byte(strconv.Itoa(os.Getppid())), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatalf("after kill: %v", err)
	}
	sessions, err := s.Sessions(t.Context(), chat.SessionQuery{})
	if err != nil || len(sessions) != 1 {
		t.Errorf("what was acknowledged before the kill: %d sessions, %v", len(sessions), err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// holdLock runs in the child: it opens the store, writes, reports it and waits to be killed.
func holdLock(dir string) {
	s, err := Open(context.Background(), Options{DataDir: dir})
	if err == nil {
		_, _, err = s.CreateSession(context.Background(), chat.NewSession{Title: "before the kill"})
	}
	if err != nil {
		_, _ = os.Stdout.WriteString("failed")
		return
	}
	runtime.GC() // the lock must hold even if nothing refers to s
	runtime.GC()
	_, _ = os.Stdout.WriteString("locked")
	time.Sleep(time.Minute)
}

func TestCloseTwice(t *testing.T) {
	f := newFixture(t)
	f.ok(f.Store.Close())
	f.ok(f.Store.Close())
	if _, err := f.Sessions(f.ctx, chat.SessionQuery{}); err == nil {
		t.Error("a closed store answered")
	}
}

// TestAnUnreadableDatabaseIsNotChanged: whatever is wrong with the file, no byte of it changes.
func TestAnUnreadableDatabaseIsNotChanged(t *testing.T) {
	good := newFixture(t)
	seed(good)
	good.checkpoint()
	good.ok(good.Store.Close())
	original, err := os.ReadFile(filepath.Join(good.dir, sqlite.DatabaseFile))
	good.ok(err)
	torn := bytes.Clone(original)
	copy(torn[100:], bytes.Repeat([]byte{0xEE}, 3000))
	for name, c := range map[string]struct {
		data []byte
		code chat.Code
	}{
		"text":               {[]byte("this is not a database, it only has the name of one, and is longer than a header of a hundred bytes is"), chat.CodeCorrupt},
		"header overwritten": {append([]byte("garbage garbage!"), original[16:]...), chat.CodeCorrupt},
		"first page torn":    {torn, chat.CodeCorrupt},
		"cut short":          {original[:50], chat.CodeCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, sqlite.DatabaseFile)
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, ro := range []bool{false, true} {
				_, err := Open(t.Context(), Options{DataDir: dir, ReadOnly: ro})
				if chat.CodeOf(err) != c.code {
					t.Errorf("read-only %v: code %q of %v", ro, chat.CodeOf(err), err)
				}
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(after, c.data) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestForeignDatabaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, sqlite.DatabaseFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Connect(filepath.Join(dir, sqlite.DatabaseFile), nil, 1)
	if err == nil {
		err = errors.Join(db.Exec(`CREATE TABLE bookmarks (url TEXT)`).Error, sqlite.Disconnect(db))
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Options{DataDir: dir})
	if chat.CodeOf(err) != chat.CodeCorrupt {
		t.Fatalf("got %v", err)
	}
}

// nextSchema returns the migrations with an additional one, as in a later version.
func nextSchema(t *testing.T, sql string) fstest.MapFS {
	t.Helper()
	steps := fstest.MapFS{"9999_next.sql": {Data: []byte("-- +goose Up\n" + sql + ";\n")}}
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(migrations.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		steps[name] = &fstest.MapFile{Data: data}
	}
	return steps
}

func TestUpgradeMakesABackupAndNewerIsRefused(t *testing.T) {
	f := newFixture(t)
	d := seed(f)
	f.ok(f.Store.Close())
	next, err := open(f.ctx, Options{DataDir: f.dir, Clock: f.clock.Now}, nextSchema(t, "ALTER TABLE sessions ADD COLUMN mood TEXT NOT NULL DEFAULT ''"))
	f.ok(err)
	turn, err := next.Turn(f.ctx, d.Turns[0].ID)
	f.ok(err)
	if turn.User.RenderedText() != "where does the lineage start" {
		t.Errorf("after the upgrade: %+v", turn)
	}
	f.ok(next.Close())
	backups, err := f.backupPart.Archive.Backups(f.ctx, true)
	f.ok(err)
	if len(backups) != 1 || !strings.Contains(backups[0].Path, fmt.Sprintf("-v%d-", schema.NewestVersion(migrations.Files))) || backups[0].Bytes == 0 {
		t.Fatalf("backups %+v", backups)
	}
	before, err := os.ReadFile(filepath.Join(f.dir, sqlite.DatabaseFile))
	f.ok(err)
	_, err = Open(f.ctx, Options{DataDir: f.dir})
	f.refused(err, chat.CodeNewer)
	_, err = Open(f.ctx, Options{DataDir: f.dir, ReadOnly: true})
	f.refused(err, chat.CodeNewer)
	after, err := os.ReadFile(filepath.Join(f.dir, sqlite.DatabaseFile))
	f.ok(err)
	if !bytes.Equal(before, after) {
		t.Error("a newer database was changed")
	}
	restored := &fixture{TB: t, ctx: f.ctx, clock: f.clock, dir: t.TempDir()}
	data, err := os.ReadFile(backups[0].Path)
	f.ok(err)
	f.ok(os.WriteFile(filepath.Join(restored.dir, sqlite.DatabaseFile), data, 0o600))
	restored.open()
	restored.verifyClean()
	f.ok(restored.Store.Close())
}

func TestFailedUpgradeLeavesTheOldSchema(t *testing.T) {
	f := newFixture(t)
	f.session("kept")
	f.ok(f.Store.Close())
	fails := func(want int) []chat.Backup {
		t.Helper()
		_, err := open(f.ctx, Options{DataDir: f.dir, Clock: f.clock.Now},
			nextSchema(t, "ALTER TABLE sessions ADD COLUMN mood TEXT; INSERT INTO nowhere VALUES (1)"))
		if err == nil {
			t.Fatal("a broken migration passed")
		}
		f.clock.Advance(time.Minute)
		list, err := f.backupPart.Archive.Backups(f.ctx, true)
		f.ok(err)
		if len(list) != want {
			t.Fatalf("%d backups, want %d", len(list), want)
		}
		return list
	}
	fails(1)
	copies := fails(1) // nothing was written since
	f.ok(os.Truncate(copies[0].Path, copies[0].Bytes/2))
	fails(2) // the copy is damaged, so another is made
	f.open()
	f.verifyClean()
	f.session("new")
	f.ok(f.Store.Close())
	fails(3)
	f.open()
	columns, err := sqlite.All[string](f.core.DB.Reader, `SELECT name FROM pragma_table_info('sessions') WHERE name = 'mood'`)
	f.ok(err)
	if len(columns) != 0 {
		t.Error("part of a failed migration was kept")
	}
}

func TestReadOnlyDoesNotMigrate(t *testing.T) {
	f := newFixture(t)
	_, err := open(f.ctx, Options{DataDir: f.dir, ReadOnly: true}, nextSchema(t, "SELECT 1"))
	f.refused(err, chat.CodeConflict)
}

// TestFullDisk: without free pages each write fails with CodeNoSpace and changes nothing; with free space everything
// continues.
func TestFullDisk(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	turn := f.accept(b.ID, "before")
	pages, err := sqlite.One[int64](f.core.DB.Writer, "", "", `PRAGMA page_count`)
	f.ok(err)
	f.ok(f.core.DB.Writer.Exec(`PRAGMA max_page_count = ` + sqlite.Itoa(pages)).Error)
	step := chat.StepStart{TurnID: turn.ID, Provider: "p", ModelID: "m", Request: []byte(randomText(1 << 20))}
	f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: turn.ID}))
	_, err = f.BeginStep(f.ctx, step)
	f.refused(err, chat.CodeNoSpace)
	if steps, err := f.Steps(f.ctx, turn.ID); err != nil || len(steps) != 0 {
		t.Fatalf("half a step: %v %v", steps, err)
	}
	f.verifyClean()
	f.ok(f.core.DB.Writer.Exec(`PRAGMA max_page_count = 1000000`).Error)
	_, err = f.BeginStep(f.ctx, step)
	f.ok(err)
	f.verifyClean()
}

func TestCancelledWriteChangesNothing(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	_, err := f.Accept(ctx, chat.Acceptance{BranchID: b.ID, User: chat.UserText("x")})
	f.refused(err, chat.CodeCancelled)
	if turns, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: b.ID}); err != nil || len(turns) != 0 {
		t.Fatalf("%v %v", turns, err)
	}
	f.accept(b.ID, "and the store still works")
}

func TestCheckpointEmptiesTheLog(t *testing.T) {
	f := newFixture(t)
	seed(f)
	f.checkpoint()
	if info, err := os.Stat(filepath.Join(f.dir, sqlite.DatabaseFile+"-wal")); err != nil || info.Size() != 0 {
		t.Errorf("the log was not emptied: %v", err)
	}
}
