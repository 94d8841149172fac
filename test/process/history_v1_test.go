package process

import (
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/store"
	"contextinfinity/test/harness"
)

// The program opens a database of the first version: it migrates it after a backup, verifies it, shows the contexts
// of its turns, and continues.
func TestADatabaseOfTheFirstVersionIsUpgraded(t *testing.T) {
	t.Parallel()
	w := harness.ChatWire
	r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, nil)
	h := harness.NewHome(t, harness.Shipped(t), "[general]\ndefault_model = \"m\"\n"+w.Windowed("m", r.URL, 8192))
	harness.FirstVersion(t, filepath.Join(h.DataDir(), store.DatabaseFile))
	h.OK("reconcile")
	backups, err := store.NewArchive(store.ArchiveOptions{DataDir: h.DataDir()}).Backups(t.Context(), true)
	if err != nil || len(backups) != 1 || !strings.Contains(backups[0].Path, "-v1-") {
		t.Errorf("backups %+v (%v)", backups, err)
	}
	h.Clean()
	var list struct {
		Sessions []struct {
			ID    string `json:"session_id"`
			Turns int    `json:"turns"`
		}
	}
	h.OK("sessions", "--json").Document(&list)
	if len(list.Sessions) == 0 {
		t.Fatal("there are no sessions after the upgrade")
	}
	for _, s := range list.Sessions {
		before := h.Show(s.ID)
		next := harness.ViewOf(h.OK("context", s.ID, "--json"))
		if len(next.Items) == 0 || next.Manifest.TotalTokens == 0 {
			t.Errorf("context shows nothing of session %s", s.ID)
		}
		sent := h.OK("send", "--json", "--session", s.ID, "--model", "m", "--wait", "indexed", "And it goes on.").Sent()
		harness.EveryByteIsShown(t, w, harness.ViewOf(h.OK("context", s.ID, "--turn", sent.TurnID, "--json")), r.LastBody(t), "the next turn")
		after := h.Show(s.ID)
		if len(after.Turns) != len(before.Turns)+1 {
			t.Errorf("%d turns, after %d and one new", len(after.Turns), len(before.Turns))
		}
		for i, turn := range before.Turns {
			if after.Turns[i].User.RenderedText() != turn.User.RenderedText() {
				t.Errorf("turn %d differs", i+1)
			}
		}
	}
	h.Clean()
}
