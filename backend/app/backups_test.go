package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store"
)

// copies are the backups of a home, newest first.
func (h *home) copies() []chat.Backup {
	h.t.Helper()
	var doc struct {
		Backups []chat.Backup `json:"backups"`
	}
	h.ok("backups", "--check", "--json").document(&doc)
	return doc.Backups
}

// A backup made while an answer streams, beside the program that receives it, holds
// what had arrived of it; restored elsewhere it stands there to be decided on. Where
// a program has the data open nothing is restored.
func TestABackupOfARunningAnswerIsRestored(t *testing.T) {
	t.Parallel()
	server := newHeldServer(t, true, openaiWire.saying(false, "Half.")...)
	model := openaiWire.model("held", server.url)
	h := newHome(t, shipped(t), model)
	p := h.start(nil, "send", "--new", "--model", "held", "First.")
	p.awaitOutput("Half.")
	path := filepath.Join(h.dir, "copy.db")
	h.ok("backup", path)
	if f := h.run("restore", path, "--yes", "--json").fails(1, chat.CodeLocked); !strings.Contains(f.Hint, "close") {
		t.Errorf("%+v", f)
	}
	session := h.lastSession()
	p.kill()
	h.ok("discard", h.only(session).ID)

	other := newHome(t, shipped(t), model)
	for _, to := range []*home{h, other} {
		to.ok("restore", path, "--yes")
		if turn := to.only(session); turn.text() != "Half." || turn.Phase != chat.PhaseResponding {
			t.Errorf("restored is %q, %s", turn.text(), turn.Phase)
		}
		to.ok("reconcile")
		if turn := to.only(session); turn.text() != "Half." || turn.Outcome != chat.OutcomeIncomplete {
			t.Errorf("recovered is %q, %s", turn.text(), turn.Outcome)
		}
		to.clean()
	}
	if kept := h.copies(); len(kept) != 1 || kept[0].Kind != chat.BackupBeforeRestore {
		t.Fatalf("kept: %+v", kept)
	}
	h.ok("restore", filepath.Base(h.copies()[0].Path), "--yes")
	if turn := h.only(session); turn.Outcome == chat.OutcomeIncomplete {
		t.Errorf("what was replaced came back as %s", turn.Outcome)
	}
}

// Who uses the command line alone has a backup each day, too, unless it is turned
// off, and none of data that did not change.
func TestTheCommandLineMakesTheDailyBackup(t *testing.T) {
	t.Parallel()
	h := newHome(t, shipped(t), "[backup]\ndaily = false\n")
	firstVersion(t, filepath.Join(h.dataDir(), store.DatabaseFile))
	h.ok("reconcile")
	migration := h.copies()
	if len(migration) != 1 || migration[0].Kind != chat.BackupMigration || !migration[0].Checked {
		t.Fatalf("%+v", migration)
	}
	if err := os.Remove(migration[0].Path); err != nil {
		t.Fatal(err)
	}
	h.ok("reconcile")
	if list := h.copies(); len(list) != 0 {
		t.Errorf("turned off: %+v", list)
	}
	h.configure("")
	for range 2 {
		h.ok("reconcile")
	}
	list := h.copies()
	if len(list) != 1 || list[0].Kind != chat.BackupDaily || !list[0].Checked || list[0].Counts["turns"] == 0 {
		t.Errorf("turned on: %+v", list)
	}
	if names, err := os.ReadDir(filepath.Join(h.dataDir(), store.BackupDir)); err != nil || len(names) != 1 ||
		slices.ContainsFunc(names, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") }) {
		t.Errorf("there: %v %v", names, err)
	}
}
