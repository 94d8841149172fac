package cli_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"contextinfinity/backend/cli"
)

// exported is the document of export.
type exported struct {
	Path     string
	Format   string
	Bytes    int64
	Sessions int
	Branches int
	Turns    int
	Open     int `json:"open_turns"`
}

// runIn runs a command in a folder.
func (h *home) runIn(dir string, args ...string) result {
	h.t.Helper()
	var out, errs bytes.Buffer
	app := h.app()
	app.In, app.Out, app.Err, app.Dir = strings.NewReader(""), &out, &errs, dir
	code := cli.Run(h.t.Context(), app, append([]string{"--data-dir", h.dir, "--config", h.config}, args...))
	return result{h.t, code, out.String(), errs.String()}
}

func (h *home) fileText(path string) string {
	h.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(data)
}

// twoBranches returns a home with a session of two turns, which has another branch after the first turn, and the two
// turns.
func twoBranches(t *testing.T) (*home, sent, sent) {
	h := newHome(t)
	h.provider.script(say("first answer"), say("second answer"), say("third answer"))
	first := h.send("--new", "Ships & sails")
	second := h.send("--session", first.SessionID, "And masts?")
	h.run("commit", first.SessionID).exits(0)
	h.run("fork", first.TurnID, "--label", "other", "--switch").exits(0)
	h.send("--session", first.SessionID, "And oars?")
	h.run("pin", first.SessionID, "The ship is blue.").exits(0)
	return h, first, second
}

func TestExportAsJSONIsWhatShowPrints(t *testing.T) {
	h, first, second := twoBranches(t)
	h.provider.script(cut("half"), cut("half"), cut("half"), cut("half"), cut("half"), cut("half"))
	h.run("send", "--session", first.SessionID, "fails").exits(1)
	for name, args := range map[string][]string{"active": nil, "other": {"--branch", second.BranchID}} {
		show := h.run(append([]string{"show", "--json", first.SessionID}, args...)...).exits(0)
		out := h.run(append([]string{"export", first.SessionID, "--format", "json", "-o", "-"}, args...)...).exits(0)
		if show.out != out.out || !strings.Contains(out.out, "Ships & sails") || strings.Contains(out.out, `"partial_text":"half"`) != (name == "active") {
			t.Errorf("%s: export\n%s\nshow\n%s", name, out.out, show.out)
		}
	}
}

func TestExportToAFile(t *testing.T) {
	h, first, second := twoBranches(t)
	dir := t.TempDir()
	for _, c := range []struct {
		args            []string
		name            string
		branches, turns int
	}{
		{[]string{first.SessionID}, "Ships + sails.cinf", 2, 3},
		{[]string{first.SessionID, "--format", "md"}, "Ships + sails.md", 1, 2},
		{[]string{first.SessionID, "--format", "md"}, "Ships + sails (2).md", 1, 2},
		{[]string{first.SessionID, "--format", "md", "--replace", "--all-branches"}, "Ships + sails.md", 2, 3},
		{[]string{first.SessionID, "--branch", second.BranchID}, "Ships + sails - main.md", 1, 2},
		{[]string{first.SessionID, "--turn", second.TurnID, "--format", "html"}, "Ships + sails - turn 2.html", 1, 1},
		{[]string{first.SessionID, "--format", "html", "-o", "named.html"}, "named.html", 1, 2},
	} {
		var got exported
		h.runIn(dir, append([]string{"export", "--json"}, c.args...)...).exits(0).into(&got)
		info, err := os.Stat(filepath.Join(dir, c.name))
		if err != nil || got.Path != filepath.Join(dir, c.name) || got.Bytes != info.Size() || got.Sessions != 1 || got.Branches != c.branches || got.Turns != c.turns {
			t.Errorf("%v: %+v, %v", c.args, got, err)
		}
	}
	if out := h.runIn(dir, "export", first.SessionID, "--format", "md").exits(0).out; !strings.Contains(out, "Written: ") || !strings.Contains(out, "1 session, 1 branch, 2 turns, ") {
		t.Errorf("%s", out)
	}
	if f := h.runIn(dir, "export", "--json", first.SessionID, "--format", "html", "-o", "named.html").exits(1).failure(); f.Code != "conflict" || f.Hint == "" {
		t.Errorf("over a file: %+v", f)
	}
	text := h.fileText(filepath.Join(dir, "Ships + sails.md"))
	for _, want := range []string{"# Ships \\& sails\n", "## main\n", "## other\n", "Continues after turn 1 of main", "third answer", "The ship is blue."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestExportOfAll(t *testing.T) {
	h, _, _ := twoBranches(t)
	dir := t.TempDir()
	var got exported
	h.runIn(dir, "export", "--all", "--format", "html", "--json", "-o", "all.zip").exits(0).into(&got)
	z, err := zip.OpenReader(filepath.Join(dir, "all.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	if len(z.File) != 2 || z.File[0].Name != "Ships + sails.html" || z.File[1].Name != "index.html" || got.Sessions != 1 || got.Turns != 2 {
		t.Errorf("%+v, %d files", got, len(z.File))
	}
	h.run("sessions", "archive", string(h.onlySession().Session.ID)).exits(0)
	if r := h.runIn(dir, "export", "--all", "--format", "md").exits(1); !strings.Contains(r.err, "1 session (--archived") {
		t.Errorf("what is archived is left out silently: %s", r.err)
	}
}

// Export works while a window is open, because it only reads.
func TestExportWhileAWriterRuns(t *testing.T) {
	h, first, _ := twoBranches(t)
	h.writer()
	if out := h.run("export", first.SessionID, "--format", "md", "-o", "-").exits(0).out; !strings.Contains(out, "first answer") {
		t.Errorf("%s", out)
	}
}

func TestExportRejectsInvalidRequests(t *testing.T) {
	h, first, second := twoBranches(t)
	for name, args := range map[string][]string{
		"nothing": {}, "both": {first.SessionID, "--all"}, "a part of all": {"--all", "--branch", second.BranchID}, "a part and all branches": {first.SessionID, "--turn", second.TurnID, "--all-branches"},
		"archived with a session": {first.SessionID, "--archived"}, "two documents": {first.SessionID, "--json", "-o", "-"}, "too much": {first.SessionID, "x"},
	} {
		if r := h.run(append([]string{"export"}, args...)...); r.code != 2 || r.err+r.out == "" {
			t.Errorf("%s: exit code %d, %q", name, r.code, r.err)
		}
	}
	other := h.send("--new", "Another")
	for name, args := range map[string][]string{
		"no such session": {"0000"}, "another's turn": {other.SessionID, "--turn", second.TurnID}, "another's branch": {other.SessionID, "--branch", second.BranchID},
		"a bundle of a branch": {first.SessionID, "--branch", second.BranchID, "--format", "bundle", "-o", "-"},
	} {
		if r := h.run(append([]string{"export"}, args...)...).exits(1); r.err == "" || r.out != "" {
			t.Errorf("%s: %q, %q", name, r.out, r.err)
		}
	}
}

// If the reader of the output goes away, export stops without an error message.
func TestExportIntoAClosedPipe(t *testing.T) {
	h, first, _ := twoBranches(t)
	var errs bytes.Buffer
	if code := h.runTo(strings.NewReader(""), closedPipe{}, &errs, "export", first.SessionID, "--format", "md", "-o", "-"); code != 1 || errs.Len() > 0 {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) {
	return 0, errors.Join(errors.New("write"), syscall.EPIPE)
}
