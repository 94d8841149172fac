package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
)

// A bundle of a session that one machine continued in two ways is imported as a copy with its own ids, also in the X-ray. The
// copy's contexts can be assembled again without the original, and a turn deleted in the copy is deleted from the
// copy's requests.
func TestADivergedCopyIsIndependent(t *testing.T) {
	t.Parallel()
	server := harness.NewRelay(t, harness.OpenAIWire, func(n int) llmtest.Step { return harness.Reply(harness.OpenAIWire, n) }, harness.Summarizing(harness.OpenAIWire))
	config := harness.OpenAIWire.Model("relay", server.URL)
	h := harness.NewHome(t, harness.Shipped(t), config)
	notes, file := filepath.Join(h.Dir, "notes.txt"), filepath.Join(h.Dir, "session.cinf")
	if err := os.WriteFile(notes, []byte("The dog is called Rex."), 0o600); err != nil {
		t.Fatal(err)
	}
	send := func(h *harness.Home, text string, flags ...string) string {
		return h.OK(append([]string{"send", "--model", "relay", "--wait", "indexed", "--json", text}, flags...)...).Sent().SessionID
	}
	session := send(h, "The cat is called Otto.", "--new", "--attach", notes)
	before := filepath.Join(t.TempDir(), "before")
	if err := os.CopyFS(before, os.DirFS(h.DataDir())); err != nil {
		t.Fatal(err)
	}
	send(h, "Continued there.", "--session", session)
	send(h, "What is the cat called?", "--session", session)
	h.OK("export", session, "--format", "bundle", "-o", file)
	if err := errors.Join(os.RemoveAll(h.DataDir()), os.CopyFS(h.DataDir(), os.DirFS(before))); err != nil {
		t.Fatal(err)
	}
	send(h, "Continued here.", "--session", session)
	var report struct {
		Files []struct {
			First string `json:"first_session"`
		} `json:"files"`
	}
	h.OK("import", file, "--json").Document(&report)
	copied := report.Files[0].First
	if copied == session {
		t.Fatal("the bundle was not imported as a copy")
	}
	turns := h.Show(copied).Turns
	checkContexts := func(when string) {
		t.Helper()
		h.OK("verify")
		for _, turn := range turns {
			var doc struct{ Same bool }
			if h.OK("context", copied, "--turn", turn.ID, "--json").Document(&doc); !doc.Same {
				t.Errorf("%s, the context of turn %s differs", when, turn.ID)
			}
		}
	}
	checkContexts("after the import")
	h.OK("delete", session, "--hard", "--yes")
	checkContexts("without the original")
	last := turns[2].ID
	if !strings.Contains(requestOf(t, h, copied, last), "Otto") {
		t.Fatal("the last request did not contain the first turn, so the test proves nothing")
	}
	h.OK("delete", "--turn", turns[0].ID, "--hard", "--yes")
	if raw := requestOf(t, h, copied, last); strings.Contains(raw, "Otto") || strings.Contains(raw, "Rex") {
		t.Errorf("the last request still contains the deleted turn:\n%s", raw)
	}
	h.OK("verify")
}
