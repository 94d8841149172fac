package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

type projectDoc struct{ Project chat.Project }

func TestProjectsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var doc projectDoc
	h.run("projects", "new", "Garden", "--json", "--fact", "one", "--fact", "two", "--instructions", "Be brief.").exits(0).into(&doc)
	id := string(doc.Project.ID)
	h.run("projects", "new", "Garden").exits(1)
	h.run("projects", "new", "Kitchen", "--model", "none").exits(1)
	h.run("projects", "new", "Kitchen", "--tools-mode", "often").exits(1)

	h.run("projects", "set", "Garden", "--json", "--fact", "", "--name", "Orchard", "--tool", "builtin").exits(0).into(&doc)
	if p := doc.Project; p.Name != "Orchard" || len(p.Facts) != 0 || p.Instructions != "Be brief." || len(p.Tools) != 1 || string(p.ID) != id {
		t.Errorf("%+v", p)
	}
	if out := h.run("projects").exits(0).out; !strings.Contains(out, "Orchard") || strings.Contains(out, "Garden") {
		t.Error(out)
	}
	h.run("projects", "show", "Garden").exits(1)
	if out := h.run("projects", "show", id).exits(0).out; !strings.Contains(out, "Be brief.") {
		t.Error(out)
	}
}

func TestProjectFilesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.run("projects", "new", "Garden").exits(0)
	dir := t.TempDir()
	note := filepath.Join(dir, "note.md")
	if err := os.WriteFile(note, []byte("Roses want sun.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.run("projects", "watch", "Garden").exits(2)
	h.run("projects", "watch", "Garden", note).exits(1)
	if err := os.WriteFile(filepath.Join(dir, "empty.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.run("projects", "rescan", "Garden").exits(1)
	if out := h.run("projects", "watch", "Garden", dir).exits(0).out; !strings.Contains(out, "1 file, 1 new") || !strings.Contains(out, "Skipped, empty: 1\n  ! empty.md\n") {
		t.Error(out)
	}
	h.run("projects", "add", "Garden", note).exits(0)
	var files struct{ Files []chat.ProjectFile }
	h.run("projects", "files", "Garden", "--json").exits(0).into(&files)
	if len(files.Files) != 2 || files.Files[0].Kind != chat.ProjectDocument || files.Files[1].Path != "note.md" || !files.Files[1].Indexed {
		t.Errorf("%+v", files.Files)
	}
	h.run("projects", "remove", "Garden", "other.md").exits(1)
	h.run("projects", "remove", "Garden", "note.md").exits(0)
	if out := h.run("projects", "watch", "Garden", "--off").exits(0).out; !strings.Contains(out, "no folder") {
		t.Error(out)
	}
	if out := h.run("projects", "files", "Garden").exits(0).out; !strings.Contains(out, "No files.") {
		t.Error(out)
	}
	h.run("projects", "delete", "Garden").exits(2)
	h.run("projects", "delete", "Garden", "--yes").exits(0)
	h.run("projects").exits(0)
	h.run("verify").exits(0)
}

func TestTheScopeOfASession(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.run("projects", "new", "Garden").exits(0)
	h.run("send", "--project", "Garden", "hi").exits(2)
	s := h.send("--new", "--project", "Garden", "hi")
	scope := func(want string) {
		t.Helper()
		if out := strings.TrimSpace(h.run("sessions", "scope", s.SessionID).exits(0).out); out != want {
			t.Errorf("the scope is %q, want %q", out, want)
		}
	}
	scope("project (default)")
	h.run("sessions", "scope", s.SessionID, "everything").exits(2)
	h.run("sessions", "scope", s.SessionID, "lineage").exits(0)
	scope("lineage")
	h.run("sessions", "scope", s.SessionID, "default").exits(0)
	scope("project (default)")
	h.run("sessions", "folder", s.SessionID).exits(0)
	scope("lineage (default)")
}

// A project file is not a conversation: every command that takes an id refuses its session and names the project, and
// no list shows it.
func TestAProjectFileIsNotASession(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "table.md"), []byte("Roses want sun.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.run("projects", "new", "Garden", "--fact", "The oldest rose is Hildegard.").exits(0)
	h.run("projects", "watch", "Garden", dir).exits(0)
	s := h.send("--new", "--project", "Garden", "hi")
	var files struct{ Files []chat.ProjectFile }
	h.run("projects", "files", "Garden", "--json").exits(0).into(&files)
	id := string(files.Files[0].Session)
	var found struct {
		Chunks []struct {
			Turn string `json:"turn_id"`
		}
	}
	h.run("chunks", s.SessionID, "--scope", "project", "--text", "Roses", "--json").exits(0).into(&found)
	if len(found.Chunks) != 1 {
		t.Fatalf("%d chunks of the file", len(found.Chunks))
	}
	turn := found.Chunks[0].Turn
	for _, verb := range [][]string{
		{"fork", turn},
		{"delete", "--turn", turn, "--hard", "--yes"},
		{"send", "--session", id, "x"},
		{"show", id},
		{"tree", id},
		{"branches", id},
		{"pins", id},
		{"pin", id, "x"},
		{"export", id},
		{"context", id},
		{"metrics", id},
		{"states", id},
		{"summaries", id},
		{"commit", id},
		{"summarize", id},
		{"sessions", "rename", id, "x"},
		{"sessions", "duplicate", id},
		{"delete", id, "--hard", "--yes"},
		{"sessions", "archive", id},
		{"sessions", "folder", id, "x"},
		{"sessions", "scope", id},
	} {
		r := h.run(verb...)
		if output := r.err + r.out; r.code == 0 || !strings.Contains(output, `"table.md", a file of the project "Garden"`) {
			t.Errorf("%q exits with %d and prints %s", verb, r.code, output)
		}
	}
	for _, list := range [][]string{{"knows"}, {"sessions"}, {"sessions", "--archived"}, {"jobs"}} {
		if out := h.run(list...).exits(0).out; strings.Contains(out, "table.md") || strings.Contains(out, id) {
			t.Errorf("%q lists a file:\n%s", list, out)
		}
	}
	if out := h.run("knows", "--text", "hildegard").exits(0).out; !strings.Contains(out, "project Garden") {
		t.Errorf("a fact of the project is not known:\n%s", out)
	}
	if err := os.WriteFile(filepath.Join(dir, "table.md"), []byte("Roses want more sun.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.run("projects", "rescan", "Garden").exits(0)
	h.run("show", s.SessionID).exits(0)
	h.run("verify").exits(0)
}
