package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Beside the program that receives an answer the session is exported as it is: Markdown
// leaves the turn out and says so, JSON has what has arrived. When it is over, a bundle
// of it is the same session on another machine.
func TestASessionIsExportedWhileItIsAnswered(t *testing.T) {
	t.Parallel()
	server := newHeldServer(t, true, openaiWire.saying(false, "Half.")...)
	h := newHome(t, shipped(t), openaiWire.model("held", server.url))
	p := h.start(nil, "send", "--new", "--model", "held", "Ships: sails?")
	p.awaitOutput("Half.")
	session := h.lastSession()
	var doc struct {
		Path  string
		Turns int
		Open  int `json:"open_turns"`
	}
	export := func(args ...string) string {
		t.Helper()
		h.ok(append([]string{"export", session, "--json", "--all-branches"}, args...)...).document(&doc)
		data, err := os.ReadFile(doc.Path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if text := export("--format", "md", "-o", filepath.Join(h.dir, "x.md")); doc.Open != 1 || doc.Turns != 0 || strings.Contains(text, "Half.") {
		t.Errorf("%+v holds\n%s", doc, text)
	}
	if text := export("--format", "json", "-o", filepath.Join(h.dir, "x.json")); doc.Open != 0 || doc.Turns != 1 || !strings.Contains(text, `"partial_text":"Half."`) {
		t.Errorf("%+v holds\n%s", doc, text)
	}
	p.kill()
	h.ok("reconcile")
	h.ok("keep", h.only(session).ID)
	h.ok("commit", session)
	export("--format", "html", "-o", filepath.Join(h.dir, "x.html"))
	if text := export("-o", filepath.Join(h.dir, "x.cinf")); filepath.Ext(doc.Path) != ".cinf" || doc.Turns != 1 || !strings.HasPrefix(text, "PK") {
		t.Errorf("%+v", doc)
	}
	other := newHome(t, shipped(t), "")
	other.ok("import", doc.Path)
	if got, want := other.ok("show", session, "--json").stdout, h.ok("show", session, "--json").stdout; got != want {
		t.Errorf("imported again it is\n%s\nnot\n%s", got, want)
	}
	other.clean()
}
