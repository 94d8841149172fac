package app

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/store"
	"contextinfinity/test/harness"
)

// If the database is lost, the window can start with an empty history: it keeps the remaining files and opens the new
// data at its next start. Data that is open or unreadable is not moved.
func TestTheWindowStartsFresh(t *testing.T) {
	t.Parallel()
	p, o, data := openStoragePage(t)
	p.say(api.SendRequest{Text: "Remember me.", Model: "m"})
	task := p.awaitTaskEnd(must[api.TaskView](t)(p.storage.BackUp("")).ID)
	if _, err := p.storage.StartFresh(); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("while the data is open: %v", err)
	}
	if err := p.storage.Reopen(); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("while the data is open: %v", err)
	}
	p.window.Close()
	database := filepath.Join(data, store.DatabaseFile)
	harness.WriteFile(t, database, []byte("no database at all, and longer than a page header has to be: nothing is lost, it cannot be read"))
	p = openPageWith(t, o)
	if s := p.settings.Startup(); s.Fatal == nil || s.Lost {
		t.Errorf("an unreadable database is treated as lost: %+v", s)
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
	keptDir := must[string](t)(p.storage.StartFresh())
	if _, err := os.Stat(filepath.Join(keptDir, store.BackupDir, filepath.Base(task.Path))); err != nil {
		t.Errorf("the backup was not kept: %v", err)
	}
	p.window.Close()
	p = openPageWith(t, o)
	if s := p.settings.Startup(); s.Fatal != nil || s.Lost || !s.FirstRun {
		t.Errorf("%+v", s)
	}
	p.say(api.SendRequest{Text: "A new beginning.", Model: "m"})
	p.window.Close()
	checkData(t, o)
}

// If the log is damaged, the window can drop it: it keeps a copy of the files and opens the data at its next start.
func TestTheWindowDropsADamagedLog(t *testing.T) {
	t.Parallel()
	p, o, data := openStoragePage(t)
	session := p.say(api.SendRequest{Text: "Remember me.", Model: "m"}).SessionID
	p.window.Close() // this checkpoints the log
	p = openPageWith(t, o)
	p.say(api.SendRequest{Text: "And this?", Model: "m"})
	if _, err := p.storage.DropLog(); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("while the data is open: %v", err)
	}
	crashed := map[string][]byte{} // the files as a crash at this moment would leave them
	for _, name := range []string{store.DatabaseFile, store.DatabaseFile + "-wal", "confirmed.mark"} {
		crashed[name] = must[[]byte](t)(os.ReadFile(filepath.Join(data, name)))
	}
	p.window.Close()
	log := crashed[store.DatabaseFile+"-wal"]
	log[500] ^= 4 // in its first page
	for name, content := range crashed {
		harness.WriteFile(t, filepath.Join(data, name), content)
	}
	p = openPageWith(t, o)
	if s := p.settings.Startup(); s.Fatal == nil || s.Lost || !s.DamagedLog {
		t.Fatalf("%+v", s)
	}
	keptDir := must[string](t)(p.storage.DropLog())
	if now, err := os.ReadFile(filepath.Join(keptDir, store.DatabaseFile+"-wal")); err != nil || !bytes.Equal(now, log) {
		t.Errorf("the damaged log was not kept: %v", err)
	}
	p.window.Close()
	p = openPageWith(t, o)
	if s := p.settings.Startup(); s.Fatal != nil || s.DamagedLog {
		t.Errorf("%+v", s)
	}
	if rows := must[[]api.SessionRow](t)(p.sessions.List(false, "")); !slices.ContainsFunc(rows, func(r api.SessionRow) bool { return r.ID == session }) {
		t.Errorf("the session before the log is not among %+v", rows)
	}
	p.window.Close()
	checkData(t, o)
}
