package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/store"
)

// A database that is gone while its history has left signs is no new one: send and verify
// say so, a restore brings it back, and only the word of a person begins another.
func TestALostDatabaseIsTold(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string) error{
		"missing":  os.Remove,
		"empty":    func(path string) error { return os.Truncate(path, 0) },
		"one byte": func(path string) error { return os.Truncate(path, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, shipped(t), "")
			session := h.ok("send", "--new", "--model", "recall", "Remember me.", "--json").sent().SessionID
			copied := filepath.Join(h.dir, "copy.db")
			h.ok("backup", copied)
			database := filepath.Join(h.dataDir(), store.DatabaseFile)
			if err := lose(database); err != nil {
				t.Fatal(err)
			}
			if e := h.run("send", "--model", "recall", "Hello?", "--json").fails(1, chat.CodeCorrupt); !strings.Contains(e.Message, database) || !strings.Contains(e.Hint, "restore") {
				t.Errorf("send says: %+v", e)
			}
			if out := h.run("verify").exits(3).stdout; !strings.Contains(out, "Nothing was written") {
				t.Errorf("verify says: %s", out)
			}
			h.ok("restore", copied, "--yes")
			if got := h.only(session); got.User.RenderedText() != "Remember me." {
				t.Errorf("restored: %q", got.User.RenderedText())
			}
			if err := os.Remove(database); err != nil {
				t.Fatal(err)
			}
			h.ok("restore", "--fresh", "--yes")
			h.ok("send", "--new", "--model", "recall", "A new beginning.")
			h.clean()
		})
	}
}

// The window of a lost database offers an empty history, keeps what is left, and opens the
// new one at its next start; of data that is open, or unreadable, nothing is moved.
func TestTheWindowStartsFresh(t *testing.T) {
	t.Parallel()
	p, o, data := keeping(t)
	p.say(api.SendRequest{Text: "Remember me.", Model: "m"})
	task := p.ended(must[api.TaskView](t)(p.storage.BackUp("")).ID)
	if _, err := p.storage.StartFresh(); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("while the data is open: %v", err)
	}
	if err := p.storage.Reopen(); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("while the data is open: %v", err)
	}
	p.window.Close()
	database := filepath.Join(data, store.DatabaseFile)
	write(t, database, []byte("no database at all, and longer than a page header has to be: nothing is lost, it cannot be read"))
	p = openPageWith(t, o)
	if s := p.settings.Startup(); s.Fatal == nil || s.Lost {
		t.Errorf("an unreadable database is taken for a lost one: %+v", s)
	}
	if _, err := p.storage.StartFresh(); err == nil {
		t.Error("an unreadable database was moved")
	}
	p.window.Close()

	if err := os.Remove(database); err != nil {
		t.Fatal(err)
	}
	p = openPageWith(t, o)
	if s := p.settings.Startup(); s.Fatal == nil || !s.Lost {
		t.Fatalf("%+v", s)
	}
	kept := must[string](t)(p.storage.StartFresh())
	if _, err := os.Stat(filepath.Join(kept, store.BackupDir, filepath.Base(task.Path))); err != nil {
		t.Errorf("the backup was not kept: %v", err)
	}
	p.window.Close()
	p = openPageWith(t, o)
	if s := p.settings.Startup(); s.Fatal != nil || s.Lost || !s.FirstRun {
		t.Errorf("%+v", s)
	}
	p.say(api.SendRequest{Text: "A new beginning.", Model: "m"})
	p.window.Close()
	verified(t, o)
}

// The window of data with a damaged log offers to drop it, keeps the files as they were, and
// opens the data at its next start.
func TestTheWindowDropsADamagedLog(t *testing.T) {
	t.Parallel()
	p, o, data := keeping(t)
	p.say(api.SendRequest{Text: "Remember me.", Model: "m"})
	if _, err := p.storage.DropLog(); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("while the data is open: %v", err)
	}
	crashed := map[string][]byte{} // the files as a crash at this moment leaves them
	for _, name := range []string{store.DatabaseFile, store.DatabaseFile + "-wal", "confirmed.mark"} {
		crashed[name] = must[[]byte](t)(os.ReadFile(filepath.Join(data, name)))
	}
	p.window.Close()
	log := crashed[store.DatabaseFile+"-wal"]
	log[len(log)/2] ^= 4
	for name, content := range crashed {
		write(t, filepath.Join(data, name), content)
	}
	p = openPageWith(t, o)
	if s := p.settings.Startup(); s.Fatal == nil || s.Lost || !s.DamagedLog {
		t.Fatalf("%+v", s)
	}
	kept := must[string](t)(p.storage.DropLog())
	if now, err := os.ReadFile(filepath.Join(kept, store.DatabaseFile+"-wal")); err != nil || !bytes.Equal(now, log) {
		t.Errorf("the damaged log was not kept: %v", err)
	}
	p.window.Close()
	p = openPageWith(t, o)
	if s := p.settings.Startup(); s.Fatal != nil || s.DamagedLog {
		t.Errorf("%+v", s)
	}
	p.window.Close()
	verified(t, o)
}

// A damaged log is not written over; restore --drop-log leaves out what cannot be read of it,
// keeps the files as they were, and the data can be written again.
func TestADamagedLogIsDropped(t *testing.T) {
	t.Parallel()
	h := newHome(t, shipped(t), "")
	session := h.ok("send", "--new", "--model", "recall", "Remember me.", "--json").sent().SessionID
	h.using(breakable(t)).with("CONTEXTINFINITY_FAULT=turn.settled:exit").run("send", "--session", session, "--model", "recall", "And this?").exits(137)
	log := filepath.Join(h.dataDir(), store.DatabaseFile+"-wal")
	damaged, err := os.ReadFile(log)
	if err != nil || len(damaged) < 1000 {
		t.Fatalf("%d bytes of a log: %v", len(damaged), err)
	}
	damaged[500] ^= 4 // in its first page
	write(t, log, damaged)
	if e := h.run("send", "--session", session, "--model", "recall", "Hello?", "--json").fails(1, chat.CodeCorrupt); !strings.Contains(e.Message, log) || !strings.Contains(e.Hint, "--drop-log") {
		t.Errorf("send says: %+v", e)
	}
	h.run("verify").exits(3)
	h.run("restore", "--drop-log").exits(2) // nobody is there to ask
	if now, err := os.ReadFile(log); err != nil || !bytes.Equal(now, damaged) {
		t.Fatalf("the log was changed before anybody agreed: %v", err)
	}
	h.ok("restore", "--drop-log", "--yes")
	kept, err := filepath.Glob(filepath.Join(h.dataDir(), "replaced", "*", store.DatabaseFile+"-wal"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept are %v: %v", kept, err)
	}
	if now, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(now, damaged) {
		t.Errorf("another log was kept: %v", err)
	}
	h.ok("send", "--session", session, "--model", "recall", "Hello again.")
	if doc := h.show(session); doc.Turns[0].User.RenderedText() != "Remember me." {
		t.Errorf("the first turn says %q", doc.Turns[0].User.RenderedText())
	}
	h.clean()
}
