package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store"
	"contextinfinity/test/harness"
)

// A backup that another process makes while an answer streams contains the text that had arrived. After a restore
// elsewhere the user can decide about the answer. Nothing is restored while a program has the data open.
func TestABackupOfARunningAnswerIsRestored(t *testing.T) {
	t.Parallel()
	server := harness.NewHeldServer(t, true, harness.OpenAIWire.TextStream(false, "Half.")...)
	model := harness.OpenAIWire.Model("held", server.URL)
	h := harness.NewHome(t, harness.Shipped(t), model)
	p := h.Start(nil, "send", "--new", "--model", "held", "First.")
	p.AwaitOutput("Half.")
	path := filepath.Join(h.Dir, "copy.db")
	h.OK("backup", path)
	if f := h.Run("restore", path, "--yes", "--json").Fails(1, chat.CodeLocked); !strings.Contains(f.Hint, "close") {
		t.Errorf("%+v", f)
	}
	session := h.LastSession()
	p.Kill()
	h.OK("discard", h.Only(session).ID)

	other := harness.NewHome(t, harness.Shipped(t), model)
	for _, target := range []*harness.Home{h, other} {
		target.OK("restore", path, "--yes")
		if turn := target.Only(session); turn.Text() != "Half." || turn.Phase != chat.PhaseResponding {
			t.Errorf("the restored answer is %q, %s", turn.Text(), turn.Phase)
		}
		target.OK("reconcile")
		if turn := target.Only(session); turn.Text() != "Half." || turn.Outcome != chat.OutcomeIncomplete {
			t.Errorf("the recovered answer is %q, %s", turn.Text(), turn.Outcome)
		}
		target.Clean()
	}
	kept := h.Copies() // newest first: the data before the restore, and the copy elsewhere
	if len(kept) != 2 || kept[0].Kind != chat.BackupBeforeRestore || kept[1].Path != path {
		t.Fatalf("kept: %+v", kept)
	}
	h.OK("restore", filepath.Base(kept[0].Path), "--yes")
	if turn := h.Only(session); turn.Outcome == chat.OutcomeIncomplete {
		t.Errorf("the replaced text is back as %s", turn.Outcome)
	}
}

// The command line also makes a daily backup, unless it is turned off or the data did not change.
func TestTheCommandLineMakesTheDailyBackup(t *testing.T) {
	t.Parallel()
	h := harness.NewHome(t, harness.Shipped(t), "[backup]\ndaily = false\n")
	harness.FirstVersion(t, filepath.Join(h.DataDir(), store.DatabaseFile))
	h.OK("reconcile")
	migration := h.Copies()
	if len(migration) != 1 || migration[0].Kind != chat.BackupMigration || !migration[0].Checked {
		t.Fatalf("%+v", migration)
	}
	if err := os.Remove(migration[0].Path); err != nil {
		t.Fatal(err)
	}
	h.OK("reconcile")
	if list := h.Copies(); len(list) != 0 {
		t.Errorf("turned off: %+v", list)
	}
	h.Configure("")
	for range 2 {
		h.OK("reconcile")
	}
	list := h.Copies()
	if len(list) != 1 || list[0].Kind != chat.BackupDaily || !list[0].Checked || list[0].Counts["turns"] == 0 {
		t.Errorf("turned on: %+v", list)
	}
	if names, err := os.ReadDir(filepath.Join(h.DataDir(), store.BackupDir)); err != nil || len(names) != 1 ||
		slices.ContainsFunc(names, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") }) {
		t.Errorf("the backup folder contains %v (%v)", names, err)
	}
}
