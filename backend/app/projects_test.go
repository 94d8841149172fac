package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
)

// project is a project with a watched folder, and a relay that records requests.
type project struct {
	*fixture
	wire   harness.WireProtocol
	relay  *harness.Relay
	folder string
	id     string
}

func newProject(t *testing.T) *project {
	t.Helper()
	w := harness.ChatWire
	relay := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, harness.Summarizing(w))
	p := &project{fixture: newFixture(t, w.Windowed("m", relay.URL, 32000)+"[librarian]\nmodel = \"\"\n"), wire: w, relay: relay, folder: t.TempDir()}
	var created struct {
		Project chat.Project `json:"project"`
	}
	p.OK("projects", "new", "Bakery", "--json", "--instructions", "Always answer as a baker would.", "--fact", "The oven is called Hildegard.",
		"--model", "m").Document(&created)
	p.id = string(created.Project.ID)
	return p
}

func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	harness.WriteFile(p.t, path, []byte(text))
}

func (p *project) rescan() chat.ProjectScan {
	p.t.Helper()
	var doc struct {
		Scan chat.ProjectScan `json:"scan"`
	}
	p.OK("projects", "rescan", "Bakery", "--json").Document(&doc)
	return doc.Scan
}

// ask sends a message in a new session of the project and returns it with its request.
func (p *project) ask(text string) (harness.Sent, string) {
	p.t.Helper()
	s := p.send("", "--project", "Bakery", text)
	return s, string(p.relay.LastBody(p.t))
}

// A project's instructions, facts and files are in the contexts of its sessions and of no others, and the X-ray shows
// every byte of them. Its files follow changes on disk.
func TestAProjectIsInTheContextsOfItsSessions(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("recipes/rye.md", "# Rye bread\n\nIntroduction.\n\nThe sourdough of the rye bread rests for nineteen hours.\n")
	p.write(".env", "OVEN_KEY=hunter2")
	p.write(".gitignore", "build/\n")
	p.write("build/out.txt", "The sourdough rests in the build folder.")
	p.OK("projects", "watch", "Bakery", p.folder)

	sent, body := p.ask("How long does the sourdough of the rye bread rest?")
	for _, want := range []string{"Always answer as a baker would.", "The oven is called Hildegard.", "nineteen hours", "file recipes/rye.md, line"} {
		if !strings.Contains(body, want) {
			t.Errorf("the request lacks %q:\n%s", want, body)
		}
	}
	for _, unwanted := range []string{"hunter2", "build folder"} {
		if strings.Contains(body, unwanted) {
			t.Errorf("the request contains %q", unwanted)
		}
	}
	v := p.contextView(sent.SessionID, "--turn", sent.TurnID)
	harness.EveryByteIsShown(t, p.wire, v, p.relay.LastBody(t), "the first turn")
	if sources := v.Sources(); sources["project"] != 1 || sources["project_fact"] != 1 || sources["chunk"] == 0 {
		t.Errorf("sources: %v", sources)
	}
	p.Clean()

	p.write("recipes/rye.md", "# Rye bread\n\nThe sourdough of the rye bread rests for thirty hours now.\n")
	p.write("recipes/wheat.md", "Wheat rolls are baked at dawn.\n")
	if scan := p.rescan(); strings.Join(scan.New, " ") != "recipes/wheat.md" || strings.Join(scan.Changed, " ") != "recipes/rye.md" || len(scan.Removed) != 0 {
		t.Errorf("after a change: %+v", scan)
	}
	if _, body = p.ask("How long does the sourdough of the rye bread rest?"); !strings.Contains(body, "thirty hours") || strings.Contains(strings.ReplaceAll(body, sent.TurnID, ""), "nineteen hours now") {
		t.Errorf("the change is not in the request:\n%s", body)
	}
	harness.EveryByteIsShown(t, p.wire, p.contextView(sent.SessionID, "--turn", sent.TurnID), p.firstBody(sent), "the first turn, after the file changed")
	p.Clean()

	if err := os.RemoveAll(filepath.Join(p.folder, "recipes")); err != nil {
		t.Fatal(err)
	}
	if scan := p.rescan(); len(scan.Removed) != 2 || scan.Found != 0 {
		t.Errorf("after the removal: %+v", scan)
	}
	if found := p.OK("search", "wheat rolls baked at dawn", "--session", sent.SessionID, "--scope", "project").Stdout; strings.Contains(found, "dawn") {
		t.Errorf("a removed file is found:\n%s", found)
	}
	p.Clean()

	other := p.send("", "How long does the sourdough of the rye bread rest?", "--model", "m")
	if body := string(p.relay.LastBody(t)); strings.Contains(body, "Hildegard") || strings.Contains(body, "as a baker") {
		t.Errorf("session %s, which is in no project, got the project's content:\n%s", other.SessionID, body)
	}
}

// firstBody returns the stored request of a turn.
func (p *project) firstBody(s harness.Sent) []byte {
	p.t.Helper()
	steps, err := p.Store.Steps(p.t.Context(), chat.TurnID(s.TurnID))
	if err != nil || len(steps) == 0 {
		p.t.Fatal(steps, err)
	}
	bodies, err := p.Store.StepBodies(p.t.Context(), steps[0].ID)
	if err != nil {
		p.t.Fatal(err)
	}
	return bodies.Request
}

// Sessions of a project share memory, and sessions outside do not see it. A session can limit its memory to itself,
// and archived ones are not searched.
func TestSessionsOfAProjectShareMemory(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	first := p.send("", "--project", "Bakery", "--wait", "indexed", "The delivery van is parked at the old granary.")
	const question = "Where is the delivery van parked?"
	second, body := p.ask(question)
	if !strings.Contains(body, "old granary") {
		t.Errorf("the project's memory is not in the request:\n%s", body)
	}
	if v := p.contextView(second.SessionID, "--turn", second.TurnID); v.Manifest.Inputs.Scope != chat.ScopeProject || v.Manifest.Inputs.Project == nil || v.Manifest.Inputs.Project.Name != "Bakery" {
		t.Errorf("the manifest names scope %q of %+v", v.Manifest.Inputs.Scope, v.Manifest.Inputs.Project)
	}
	alone := p.send("", "Hello there.", "--project", "Bakery").SessionID
	p.OK("sessions", "scope", alone, "lineage")
	p.send(alone, question)
	if body := string(p.relay.LastBody(t)); strings.Contains(body, "old granary") {
		t.Errorf("a session with its own scope remembers another session:\n%s", body)
	}
	outside := p.send("", "Hello there.", "--model", "m").SessionID
	p.send(outside, question)
	if body := string(p.relay.LastBody(t)); strings.Contains(body, "old granary") {
		t.Errorf("a session outside of the project remembers it:\n%s", body)
	}
	p.OK("sessions", "archive", first.SessionID)
	if _, body = p.ask(question); strings.Contains(body, "old granary") {
		t.Errorf("an archived session is remembered:\n%s", body)
	}
	p.OK("sessions", "scope", second.SessionID, "default")
	p.Clean()
}

// Deleting a project removes its files everywhere and keeps its sessions.
func TestAProjectIsDeletedPermanently(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("secret-recipe.txt", "The marzipan is rolled with xylophonewax.\n")
	p.OK("projects", "watch", "Bakery", p.folder)
	sent, body := p.ask("What is the marzipan rolled with?")
	if !strings.Contains(body, "xylophonewax") {
		t.Fatalf("the file is not in the request:\n%s", body)
	}
	p.OK("projects", "delete", "Bakery", "--yes")
	p.Clean()
	if out := p.OK("show", sent.SessionID).Stdout; !strings.Contains(out, "marzipan rolled with") {
		t.Errorf("the session is gone:\n%s", out)
	}
	if out := p.OK("projects").Stdout; !strings.Contains(out, "No projects") {
		t.Errorf("the project is still there:\n%s", out)
	}
	for _, name := range []string{"contextinfinity.db", "contextinfinity.db-wal"} {
		data, err := os.ReadFile(filepath.Join(p.dir, name))
		if err == nil && strings.Contains(string(data), "xylophonewax") {
			t.Errorf("%s still contains text of the file", name)
		}
	}
}

// For a chunk of a project file the window shows the path and position, and no turn.
func TestTheWindowNamesAFileOfAProject(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("plan.md", "# Plan\n\nThe mill wheel turns anticlockwise.\n")
	p.OK("projects", "watch", "Bakery", p.folder)
	sent, _ := p.ask("Which way does the mill wheel turn?")
	core := &api.Core{Set: &p.Set, Hub: api.NewHub()}
	page, err := api.NewMemory(core).Chunks(api.MemoryFilter{Scope: string(chat.ScopeProject), BranchID: sent.BranchID})
	if err != nil || len(page.Chunks) == 0 {
		t.Fatalf("%+v: %v", page, err)
	}
	for _, c := range page.Chunks {
		if strings.HasPrefix(c.Document, "plan.md, line") && c.TurnSeq == 0 {
			return
		}
	}
	t.Errorf("no chunk is of the file: %+v", page.Chunks)
}

// Without any model, a question about a pinned fact is answered with it: the example of docs/guide/projects.md.
func TestRecallAnswersFromPinnedFacts(t *testing.T) {
	t.Parallel()
	d := newFixture(t, "[librarian]\nmodel = \"\"\n")
	d.OK("projects", "new", "Bakery", "--fact", "The oven is called Hildegard.", "--model", "recall")
	s := d.send("", "--project", "Bakery", "What is our oven called?")
	if !strings.Contains(s.Text, "### Pinned facts of this project\n\n> The oven is called Hildegard.") {
		t.Errorf("recall says %s", s.Text)
	}
	d.OK("pin", s.SessionID, "The mixer is called Gertrud.")
	s = d.send(s.SessionID, "What is our mixer called?")
	if !strings.Contains(s.Text, "### Pinned facts of this session\n\n> The mixer is called Gertrud.") || strings.Contains(s.Text, "oven is called") {
		t.Errorf("recall says %s", s.Text)
	}
	d.Clean()
}
