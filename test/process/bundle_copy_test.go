package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
)

// A bundle of a session that was continued in two places becomes a copy with ids of its own, also in what the X-ray
// shows: its contexts can be assembled again without the original, and a turn deleted in the copy is deleted from the
// copy's requests.
func TestADivergedCopyIsIndependent(t *testing.T) {
	t.Parallel()
	server := harness.NewRelay(t, harness.OpenAIWire, func(n int) llmtest.Step { return harness.Reply(harness.OpenAIWire, n) }, harness.Summarizing(harness.OpenAIWire))
	config := harness.OpenAIWire.Model("relay", server.URL)
	h, other := harness.NewHome(t, harness.Shipped(t), config), harness.NewHome(t, harness.Shipped(t), config)
	notes, file := filepath.Join(h.Dir, "notes.txt"), filepath.Join(h.Dir, "session.cinf")
	if err := os.WriteFile(notes, []byte("The dog is called Rex."), 0o600); err != nil {
		t.Fatal(err)
	}
	say := func(h *harness.Home, words string, more ...string) string {
		return h.OK(append([]string{"send", "--model", "relay", "--wait", "indexed", "--json", words}, more...)...).Sent().SessionID
	}
	session := say(h, "The cat is called Otto.", "--new", "--attach", notes)
	h.OK("export", session, "--format", "bundle", "-o", file)
	other.OK("import", file)
	say(h, "Here it was continued.", "--session", session)
	say(other, "There it was continued.", "--session", session)
	say(other, "How is the cat called?", "--session", session)
	other.OK("export", session, "--format", "bundle", "--replace", "-o", file)
	var report struct {
		Files []struct {
			First string `json:"first_session"`
		} `json:"files"`
	}
	h.OK("import", file, "--json").Document(&report)
	copied := report.Files[0].First
	if copied == session {
		t.Fatal("it was not imported as a copy")
	}
	turns := h.Show(copied).Turns
	same := func(when string) {
		t.Helper()
		h.OK("verify")
		for _, turn := range turns {
			var seen struct{ Same bool }
			if h.OK("context", copied, "--turn", turn.ID, "--json").Document(&seen); !seen.Same {
				t.Errorf("%s, the context of turn %s is another", when, turn.ID)
			}
		}
	}
	same("after the import")
	h.OK("delete", session, "--hard", "--yes")
	same("without the original")
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
