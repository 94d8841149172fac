package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// If a restore undoes a permanent deletion, the confirmation and the document say so; otherwise deletions are not
// mentioned.
func TestRestoreMentionsUndoneDeletions(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "the first")
	path := filepath.Join(t.TempDir(), "copy.db")
	if out := h.run("backup", path).exits(0).out; !strings.Contains(out, "Written, and read back in full: "+path) {
		t.Errorf("%s", out)
	}
	if out := h.run("restore", path, "--yes").exits(0).out; strings.Contains(out, "deletion") {
		t.Errorf("none was deleted: %s", out)
	}
	for _, asJSON := range []bool{false, true} {
		h.run("delete", s.SessionID, "--hard", "--yes").exits(0)
		if !asJSON {
			out := h.run("restore", path, "--yes").exits(0).out
			if !strings.Contains(out, "1 permanent deletion is undone") || !strings.Contains(out, "session "+s.SessionID) {
				t.Errorf("%s", out)
			}
			continue
		}
		undone, _ := h.run("restore", path, "--yes", "--json").exits(0).document()["undone"].([]any)
		if len(undone) != 1 {
			t.Fatalf("%v", undone)
		}
		if r, _ := undone[0].(map[string]any); r["kind"] != "session" || r["subject"] != s.SessionID {
			t.Errorf("%v", r)
		}
	}
}
