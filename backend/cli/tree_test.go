package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// turnsOf returns the turns of a session from show --json.
func (h *home) turnsOf(session string) []any {
	h.t.Helper()
	turns, _ := h.run("show", "--json", session).exits(0).document()["turns"].([]any)
	return turns
}

// TestTheTreeIsDrawn: forks, the active branch, and archived branches only on request.
func TestTheTreeIsDrawn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.send("--new", "how to sail")
	second := h.send("--session", first.SessionID, "and against the wind")
	h.run("fork", first.TurnID, "--label", "what if").exits(0)
	h.run("fork", second.TurnID, "--label", "spare").exits(0)
	doc := h.run("tree", "--json", first.SessionID).exits(0).document()
	branches, _ := doc["branches"].([]any)
	if len(branches) != 3 {
		t.Fatalf("%v", doc)
	}
	out := h.run("tree", first.SessionID).exits(0).out
	for _, want := range []string{"└─ main  #1  how to sail", "   ├─ * main  #2  and against the wind", "   └─ what if  no turns of its own", "spare"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	var spare string
	for _, b := range branches {
		if row := b.(map[string]any); row["label"] == "spare" {
			spare = row["branch_id"].(string)
		}
	}
	h.run("branches", "archive", first.BranchID).exits(1)
	h.run("branches", "archive", spare).exits(0)
	for _, verb := range []string{"tree", "branches"} {
		if out := h.run(verb, first.SessionID).exits(0).out; strings.Contains(out, "spare") {
			t.Errorf("%s shows an archived branch:\n%s", verb, out)
		}
		if out := h.run(verb, first.SessionID, "--archived").exits(0).out; !strings.Contains(out, "spare") {
			t.Errorf("%s --archived does not show it:\n%s", verb, out)
		}
	}
	h.run("branches", "unarchive", spare).exits(0)
	compared := h.run("compare", "--json", first.BranchID, spare).exits(0).document()
	if compared["shared"] != 2.0 || compared["last_turn"] != second.TurnID {
		t.Errorf("%v", compared)
	}
	if out := h.run("compare", first.BranchID, spare).exits(0).out; !strings.Contains(out, "They share 2 turns, up to #2") {
		t.Errorf("%s", out)
	}
	h.run("rollback", first.SessionID, "--turn", first.TurnID, "--to", "x").exits(2)
	if out := h.run("rollback", first.SessionID, "--turn", first.TurnID).exits(0).out; !strings.Contains(out, "rollback to #1: ") || !strings.Contains(out, "1 later turn stays on main") {
		t.Errorf("%s", out)
	}
	h.run("rollback", first.SessionID, "--turn", second.TurnID).exits(1) // a turn of the branch that was left
	h.run("verify").exits(0)
}

func TestFindInASession(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "the Albatross flies")
	h.send("--session", s.SessionID, "an albatross, and another ALBATROSS")
	doc := h.run("find", "--json", "albatross", "--session", s.SessionID).exits(0).document()
	if turns, _ := doc["turns"].([]any); len(turns) != 2 || doc["total"].(float64) < 3 {
		t.Errorf("%v", doc)
	}
	if out := h.run("find", "Albatross", "--case", "--session", s.SessionID).exits(0).out; !strings.Contains(out, "#1") || strings.Contains(out, "#2") {
		t.Errorf("%s", out)
	}
	if out := h.run("find", "pelican", "--session", s.SessionID).exits(0).out; !strings.Contains(out, "Nothing found") {
		t.Errorf("%s", out)
	}
	h.run("find", "albatross").exits(2)
	h.run("find", " ", "--session", s.SessionID).exits(2)
}

func TestSessionsAreOrganized(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "Please help me bake a sourdough bread.")
	folder := func() string {
		rows := h.run("sessions", "--json").exits(0).document()["sessions"].([]any)
		return rows[len(rows)-1].(map[string]any)["folder"].(string)
	}
	h.run("sessions", "folder", s.SessionID, " Kitchen ").exits(0)
	if got := folder(); got != "Kitchen" {
		t.Errorf("folder %q", got)
	}
	h.run("sessions", "folder", s.SessionID, strings.Repeat("x", 61)).exits(1)
	duplicate := h.run("sessions", "duplicate", "--json", s.SessionID).exits(0).document()
	copied := duplicate["session"].(map[string]any)
	if duplicate["turns"] != 1.0 || duplicate["left_out"] != 0.0 || copied["folder"] != "Kitchen" || copied["session_id"] == s.SessionID {
		t.Errorf("%v", duplicate)
	}
	if turns := h.turnsOf(copied["session_id"].(string)); len(turns) != 1 {
		t.Errorf("%v", turns)
	}
	h.run("sessions", "folder", s.SessionID).exits(0)
	if out := h.run("sessions", "title", s.SessionID, "--set").exits(0).out; strings.TrimSpace(out) != "Bake a sourdough bread" {
		t.Errorf("%q", out)
	}
	if out := h.run("sessions", "--title", "Bake a sourdough").exits(0).out; !strings.Contains(out, s.SessionID) {
		t.Errorf("%s", out)
	}
	h.run("verify").exits(0)
}

// TestALineContinuesOnAnotherMachine: a session that went on elsewhere is one line, with the machine's name where it
// changes; where both went on, it forks.
func TestALineContinuesOnAnotherMachine(t *testing.T) {
	t.Parallel()
	machine, _ := os.Hostname()
	a, b := newHome(t), newHome(t)
	file := filepath.Join(t.TempDir(), "travelled.cinf")
	first := a.send("--new", "how to sail")
	a.run("export", first.SessionID, "--format", "bundle", "-o", file).exits(0)
	b.run("import", file).exits(0)
	second := b.send("--session", first.SessionID, "and against the wind")
	if second.BranchID == first.BranchID {
		t.Fatal("it was written to a branch of another machine")
	}
	tree := b.run("tree", first.SessionID).exits(0).out
	if want := "└─ * main · " + machine + "  #1-#2  how to sail … and against the wind  from #2 on " + machine; !strings.Contains(tree, want) {
		t.Errorf("%q is not in\n%s", want, tree)
	}
	if n := strings.Count(tree, "─ "); n != 1 {
		t.Errorf("%d lines are drawn:\n%s", n, tree)
	}
	shown := b.run("show", first.SessionID).exits(0).out
	if n := strings.Count(shown, "on "+machine); n != 1 {
		t.Errorf("the machine is named %d times:\n%s", n, shown)
	}
	a.send("--session", first.SessionID, "or with oars")
	b.run("export", first.SessionID, "--format", "bundle", "--replace", "-o", file).exits(0)
	a.run("import", file).exits(0)
	tree = a.run("tree", first.SessionID).exits(0).out
	for _, want := range []string{"└─ main  #1  how to sail", "   ├─ main  #2  or with oars", "   └─ * main · " + machine + "  #2  and against the wind"} {
		if !strings.Contains(tree, want) {
			t.Errorf("%q is not in\n%s", want, tree)
		}
	}
}
