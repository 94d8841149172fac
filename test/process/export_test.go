package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/test/harness"
)

// While another process streams an answer, the session can be exported: Markdown has a note instead of the turn, and
// JSON contains the text that has arrived. A bundle exported afterwards results in the same session on another machine.
func TestASessionIsExportedWhileItIsAnswered(t *testing.T) {
	t.Parallel()
	server := harness.NewHeldServer(t, true, harness.OpenAIWire.TextStream(false, "Half.")...)
	h := harness.NewHome(t, harness.Shipped(t), harness.OpenAIWire.Model("held", server.URL))
	p := h.Start(nil, "send", "--new", "--model", "held", "Ships: sails?")
	p.AwaitOutput("Half.")
	session := h.LastSession()
	var doc struct {
		Path  string
		Turns int
		Open  int `json:"open_turns"`
	}
	export := func(args ...string) string {
		t.Helper()
		h.OK(append([]string{"export", session, "--json", "--all-branches"}, args...)...).Document(&doc)
		data, err := os.ReadFile(doc.Path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if text := export("--format", "md", "-o", filepath.Join(h.Dir, "x.md")); doc.Open != 1 || doc.Turns != 0 || strings.Contains(text, "Half.") {
		t.Errorf("%+v contains\n%s", doc, text)
	}
	if text := export("--format", "json", "-o", filepath.Join(h.Dir, "x.json")); doc.Open != 0 || doc.Turns != 1 || !strings.Contains(text, `"partial_text":"Half."`) {
		t.Errorf("%+v contains\n%s", doc, text)
	}
	p.Kill()
	h.OK("reconcile")
	h.OK("keep", h.Only(session).ID)
	h.OK("commit", session)
	export("--format", "html", "-o", filepath.Join(h.Dir, "x.html"))
	if text := export("-o", filepath.Join(h.Dir, "x.cinf")); filepath.Ext(doc.Path) != ".cinf" || doc.Turns != 1 || !strings.HasPrefix(text, "PK") {
		t.Errorf("%+v", doc)
	}
	other := harness.NewHome(t, harness.Shipped(t), "")
	other.OK("import", doc.Path)
	// Where its branch was begun is all that differs.
	got := strings.Replace(other.OK("show", session, "--json").Stdout, `,"elsewhere":true`, "", -1)
	if want := h.OK("show", session, "--json").Stdout; got != want {
		t.Errorf("the imported session is\n%s\nnot\n%s", got, want)
	}
	other.Clean()
}
