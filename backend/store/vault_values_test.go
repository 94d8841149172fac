package store

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/transfer/bundle"
	"contextinfinity/test/testtier"
)

// values are those of a device, by kind and id.
func (m *member) values() map[string]bundle.Value {
	m.Helper()
	all, _, err := m.Values(m.ctx)
	m.ok(err)
	out := map[string]bundle.Value{}
	for _, v := range all {
		out[v.Kind+" "+v.ID] = v
	}
	return out
}

// names are what a device shows, by name: projects with their documents.
func (m *member) names() []string {
	m.Helper()
	out := []string{}
	assistants, err := m.Assistants(m.ctx)
	m.ok(err)
	for _, a := range assistants {
		out = append(out, "assistant "+a.Name+": "+a.Instructions)
	}
	prompts, err := m.SavedPrompts(m.ctx)
	m.ok(err)
	for _, p := range prompts {
		out = append(out, "prompt "+p.Name+": "+p.Text)
	}
	projects, err := m.Projects(m.ctx)
	m.ok(err)
	for _, p := range projects {
		out = append(out, "project "+p.Name+": "+strings.Join(p.Settings().Facts, ", "))
		files, err := m.ProjectFiles(m.ctx, p.ID)
		m.ok(err)
		for _, f := range files {
			text, err := m.FileText(m.ctx, f.File)
			m.ok(err)
			out = append(out, string(f.Kind)+" "+p.Name+"/"+f.Path+": "+text)
		}
	}
	slices.Sort(out)
	return out
}

func (m *member) shows(want ...string) {
	m.Helper()
	want = append([]string{}, want...)
	slices.Sort(want)
	if got := m.names(); !reflect.DeepEqual(got, want) {
		m.Errorf("%s has %q, not %q", m.name, got, want)
	}
}

// shared are the sessions of a device without those of watched files.
func (m *member) shared() []chat.SessionID {
	m.Helper()
	watched, err := core.All[chat.SessionID](m.ctx, m.core, "test", `SELECT session_id FROM project_files WHERE kind = 'watched'`)
	m.ok(err)
	return slices.DeleteFunc(m.allSessions(), func(s chat.SessionID) bool { return slices.Contains(watched, s) })
}

func (m *member) assistant(id chat.AssistantID, name, instructions string) chat.AssistantID {
	m.Helper()
	a, err := m.PutAssistant(m.ctx, chat.Assistant{ID: id, Name: name, Instructions: instructions})
	m.ok(err)
	return a.ID
}

func (m *member) prompt(id chat.SavedPromptID, name, text string) chat.SavedPromptID {
	m.Helper()
	p, err := m.PutSavedPrompts(m.ctx, []chat.SavedPrompt{{ID: id, Name: name, Text: text}})
	m.ok(err)
	return p[0].ID
}

func (m *member) document(p chat.ProjectID, path, text string) {
	m.Helper()
	_, err := m.PutProjectFile(m.ctx, chat.NewProjectFile{
		Project: p, Path: path, Kind: chat.ProjectDocument, ModifiedAt: m.clock.Now(),
		NewFile: chat.NewFile{Name: path, MediaType: "text/plain", Content: []byte(text), Tokens: 5},
	})
	m.ok(err)
}

// inStep lets all exchange until nothing changes.
func inStep(t *testing.T, all ...*member) {
	t.Helper()
	settle(t, all)
}

// TestValuesTravel: what belongs to no session is the same on all devices, with its ids, its documents and the sessions of its
// projects, whoever changes or deletes it, and the vault has nothing of what was deleted.
func TestValuesTravel(t *testing.T) {
	all, _ := members(t, 3, true)
	a, b, c := all[0], all[1], all[2]
	poet := a.assistant("", "Poet", "Rhyme.")
	greeting := a.prompt("", "Greeting", "Hello {{name}}")
	p := a.project("Garden")
	a.document(p.ID, "soil.txt", "the canary soil is dry")
	a.projectFile(p.ID, "watched.txt", "of this machine only")
	a.indexFiles()
	s := a.inFolder("Garden")
	garden := []string{"assistant Poet: Rhyme.", "prompt Greeting: Hello {{name}}", "project Garden: one, two", "document Garden/soil.txt: the canary soil is dry"}
	inStep(t, all...)
	a.shows(append(garden, "watched Garden/watched.txt: of this machine only")...)
	for _, m := range all[1:] {
		m.shows(garden...)
		if sessions, _, err := m.ProjectSessions(m.ctx, s.ID); err != nil || !slices.Equal(sessions, []chat.SessionID{s.ID}) {
			t.Errorf("%s: the project has the sessions %v (%v)", m.name, sessions, err)
		}
		here := chat.Within{Scope: chat.ScopeProject, Branch: s.ActiveBranch}
		if got := m.chunksIn(here); !slices.Equal(got, []string{"the canary soil is dry"}) {
			t.Errorf("%s finds %q in the document", m.name, got)
		}
		for name, text := range m.opened() {
			if strings.Contains(text, "of this machine only") {
				t.Errorf("%s has a watched file", name)
			}
		}
	}
	// Each changes something, two of them the same.
	b.assistant(poet, "Bard", "Rhyme well.")
	c.assistant(poet, "Skald", "Rhyme badly.")
	b.prompt(greeting, "Greeting", "Hi")
	b.document(p.ID, "soil.txt", "the soil is wet")
	c.document(p.ID, "water.txt", "rain")
	settings := p.Settings()
	settings.Name, settings.Facts = "Park", []string{"three"}
	_, err := c.SetProject(c.ctx, p.ID, settings)
	c.ok(err)
	inStep(t, all...)
	won := "assistant Bard: Rhyme well."
	if c.core.Device().ID > b.core.Device().ID {
		won = "assistant Skald: Rhyme badly."
	}
	park := []string{won, "prompt Greeting: Hi", "project Park: three", "document Park/soil.txt: the soil is wet", "document Park/water.txt: rain"}
	b.shows(park...)
	c.shows(park...)
	for _, m := range all {
		if now, err := m.Session(m.ctx, s.ID); err != nil || now.Folder != "Park" {
			t.Errorf("%s: the session is in %q (%v)", m.name, now.Folder, err)
		}
		for name, text := range m.opened() {
			for _, gone := range []string{"Hello", "canary soil", "Garden/"} {
				if strings.Contains(text, gone) {
					t.Errorf("%s: %s has %q", m.name, name, gone)
				}
			}
		}
	}
	c.ok(c.DeleteAssistant(c.ctx, poet))
	b.ok(b.DeleteSavedPrompt(b.ctx, greeting))
	b.ok(b.DeleteProjectFiles(b.ctx, p.ID, chat.ProjectDocument, []string{"water.txt"}))
	inStep(t, all...)
	for _, m := range all[1:] {
		m.shows("project Park: three", "document Park/soil.txt: the soil is wet")
	}
	_, err = b.Delete(b.ctx, chat.DeletionProject, string(p.ID))
	b.ok(err)
	inStep(t, all...)
	for _, m := range all {
		m.shows()
		receipts, err := m.Receipts(m.ctx)
		m.ok(err)
		if len(receipts) != 1 || receipts[0].Kind != chat.DeletionProject {
			t.Errorf("%s has the receipts %+v", m.name, receipts)
		}
		for name, text := range m.opened() {
			for _, gone := range []string{"Rhyme", "soil", "rain", "three", "Park\""} {
				if strings.Contains(text, gone) && !strings.Contains(text, `"session_folder_set"`) {
					t.Errorf("%s: %s has %q", m.name, name, gone)
				}
			}
		}
	}
	a.assistant("", "Poet", "Again.") // after all that, it still works
	inStep(t, all...)
	c.shows("assistant Poet: Again.")
}

// TestTwoOfOneName: of two things that got one name on two devices, the older keeps it, everywhere; each session stays with
// its project.
func TestTwoOfOneName(t *testing.T) {
	for _, order := range [][]int{{1, 0, 2}, {0, 1, 2}, {2, 1, 0}}[:testtier.Size(1, 3)] {
		all, _ := members(t, 3, true)
		a, b, c := all[0], all[1], all[2]
		var sessions []chat.Session
		for i, m := range []*member{a, b} {
			m.assistant("", []string{"Poet", "poet"}[i], "by "+m.name)
			m.prompt("", "Greeting", "by "+m.name)
			_, err := m.CreateProject(m.ctx, chat.ProjectSettings{Name: "Work", Facts: []string{"by " + m.name}})
			m.ok(err)
			sessions = append(sessions, m.inFolder("Work"))
		}
		c.inFolder("Work (2)") // a plain folder: it becomes nobody's
		c.sync()
		carry(t, c.folder, b.folder, nil)
		carry(t, c.folder, a.folder, nil)
		for range 3 {
			for _, i := range order {
				for _, other := range all {
					carry(t, other.folder, all[i].folder, nil)
				}
				all[i].sync()
			}
		}
		inStep(t, all...)
		second := "Work (2)"
		if got := a.names(); slices.Contains(got, "project Work (3): by B") {
			second = "Work (3)"
		}
		for _, m := range all {
			m.shows("assistant Poet: by A", "assistant poet (2): by B", "prompt Greeting: by A", "prompt Greeting (2): by B", "project Work: by A", "project "+second+": by B")
			for i, want := range []string{"Work", second} {
				if s, err := m.Session(m.ctx, sessions[i].ID); err != nil || s.Folder != want {
					t.Errorf("%v: on %s the session of %s is in %q, not %q (%v)", order, m.name, all[i].name, s.Folder, want, err)
				}
			}
		}
	}
}

// TestADeletionMeetsAChange: what was changed more often than it was when it was deleted elsewhere stays, and so does a project with a
// document that who deleted it did not know.
func TestADeletionMeetsAChange(t *testing.T) {
	all, _ := members(t, 2, true)
	a, b := all[0], all[1]
	poet := a.assistant("", "Poet", "one")
	p := a.project("Garden")
	a.document(p.ID, "soil.txt", "dry")
	inStep(t, all...)
	a.ok(a.DeleteAssistant(a.ctx, poet))
	_, err := a.Delete(a.ctx, chat.DeletionProject, string(p.ID))
	a.ok(err)
	b.assistant(poet, "Poet", "two")
	b.sync()
	b.assistant(poet, "Poet", "three")
	b.document(p.ID, "water.txt", "rain")
	inStep(t, all...)
	for _, m := range all {
		m.shows("assistant Poet: three", "project Garden: one, two", "document Garden/water.txt: rain")
	}
}

// TestAReplacedDocumentArrivesInParts: the deletion of the earlier document does not delete the new one, whichever part of what
// the other device wrote arrives first.
func TestAReplacedDocumentArrivesInParts(t *testing.T) {
	for _, first := range []string{"values", "log"} {
		all, _ := members(t, 2, true)
		a, b := all[0], all[1]
		if a.core.Device().ID > b.core.Device().ID { // the deletion would count
			a, b = b, a
		}
		p := a.project("Garden")
		a.document(p.ID, "soil.txt", "dry")
		inStep(t, a, b)
		a.document(p.ID, "soil.txt", "wet")
		a.sync()
		carry(t, a.folder, b.folder, nil)
		held := t.TempDir()
		for name := range objects(t, b.folder) {
			if now := objects(t, a.folder)[name]; now == nil && strings.HasPrefix(name, "log/") {
				b.ok(os.Remove(filepath.Join(b.folder, name))) // as the program that synchronizes does
			} else if strings.HasPrefix(name, "log/") && strings.Contains(name, "values-") != (first == "values") && now != nil && a.since(b, name) {
				b.ok(os.MkdirAll(filepath.Dir(filepath.Join(held, name)), 0o700))
				b.ok(os.Rename(filepath.Join(b.folder, name), filepath.Join(held, name)))
			}
		}
		_, err := b.vault.Sync(b.ctx)
		b.ok(err)
		inStep(t, a, b)
		for _, m := range all {
			m.shows("project Garden: one, two", "document Garden/soil.txt: wet")
		}
	}
}

// since reports whether another device has not read a file of this one yet.
func (m *member) since(other *member, name string) bool {
	m.Helper()
	raw, err := other.VaultState(m.ctx)
	m.ok(err)
	var state struct {
		Logs   map[string]struct{ Number int64 }
		Values map[string]int64
	}
	m.ok(json.Unmarshal(raw, &state))
	parts := strings.Split(name, "/")
	var number int64
	if _, err := fmt.Sscanf(strings.TrimPrefix(parts[2], "values-"), "%d", &number); err != nil {
		return false
	}
	if strings.HasPrefix(parts[2], "values-") {
		return number > state.Values[parts[1]]
	}
	return number > state.Logs[parts[1]].Number
}

// valueTexts are the texts of steps in what belongs to no session.
func (m *member) valueTexts() map[string]bool {
	m.Helper()
	out := map[string]bool{}
	for _, text := range written.FindAllString(strings.Join(m.names(), "\n"), -1) {
		out[text] = true
	}
	return out
}

// valueStep makes one random change of what belongs to no session.
func (m *member) valueStep(r *rand.Rand) {
	m.Helper()
	name := []string{"One", "one", "Two", "Three"}[r.Intn(4)]
	text := func(what string) string { return fmt.Sprintf("%s by %s %d", what, m.name, r.Intn(1_000_000)) }
	switch kind := r.Intn(8); kind {
	case 0, 1:
		a := chat.Assistant{Name: name, Instructions: text("set")}
		if all, err := m.Assistants(m.ctx); err == nil && len(all) > 0 && kind == 0 {
			a.ID = all[r.Intn(len(all))].ID
		}
		_, _ = m.PutAssistant(m.ctx, a) // the name may be in use
	case 2:
		if all, err := m.Assistants(m.ctx); err == nil && len(all) > 0 {
			m.ok(m.DeleteAssistant(m.ctx, all[r.Intn(len(all))].ID))
		}
	case 3:
		_, _ = m.PutSavedPrompts(m.ctx, []chat.SavedPrompt{{Name: name, Text: text("prompt")}})
	default:
		all, err := m.Projects(m.ctx)
		m.ok(err)
		if len(all) == 0 {
			_, err := m.CreateProject(m.ctx, chat.ProjectSettings{Name: name, Facts: []string{text("fact")}})
			m.ok(err)
			return
		}
		p := all[r.Intn(len(all))]
		switch kind {
		case 4:
			_, _ = m.SetProject(m.ctx, p.ID, chat.ProjectSettings{Name: name, Facts: []string{text("fact")}})
		case 5, 6:
			m.document(p.ID, name, text("answer"))
		case 7:
			if r.Intn(2) == 0 {
				_, err := m.Delete(m.ctx, chat.DeletionProject, string(p.ID))
				m.ok(err)
			} else {
				m.ok(m.DeleteProjectFiles(m.ctx, p.ID, chat.ProjectDocument, []string{name}))
			}
		}
	}
}

// TestNothingIsConcludedFromMissingValues: without its values, or with those of another place, an older state, another device or a
// newer program, the vault deletes and changes nothing; what can be read is taken, and what is gone is sent again.
func TestNothingIsConcludedFromMissingValues(t *testing.T) {
	all, _ := members(t, 2, true)
	a, b := all[0], all[1]
	a.assistant("", "Poet", "one")
	p := a.project("Garden")
	a.document(p.ID, "soil.txt", "dry")
	a.sync()
	carry(t, a.folder, b.folder, nil)
	first := objects(t, b.folder)
	inStep(t, a, b)
	want := []string{"assistant Poet: one", "project Garden: one, two", "document Garden/soil.txt: dry"}
	snapshots := func(m *member) (found []string) {
		for name := range objects(m, m.folder) {
			if strings.Contains(name, "/values-") {
				found = append(found, name)
			}
		}
		slices.Sort(found)
		return found
	}
	put := func(name string, content []byte) {
		b.ok(os.WriteFile(filepath.Join(b.folder, filepath.FromSlash(name)), content, 0o600))
	}
	for _, name := range snapshots(b) {
		b.ok(os.Remove(filepath.Join(b.folder, name)))
	}
	if out := b.sync(); out.SentValues+out.ReceivedValues > 0 || len(snapshots(b)) != 1 {
		t.Errorf("without values: %+v, %q", out, snapshots(b))
	}
	b.shows(want...)
	for name, content := range first { // an older state
		if strings.Contains(name, "/values-") {
			put(name, content)
		}
	}
	b.sync()
	b.shows(want...)
	inStep(t, a, b)
	known := snapshots(b)
	a.assistant("", "Bard", "two")
	a.sync()
	carry(t, a.folder, b.folder, nil)
	i := slices.IndexFunc(snapshots(b), func(name string) bool { return !slices.Contains(known, name) })
	news, content := snapshots(b)[i], objects(t, b.folder)[snapshots(b)[i]]
	raw, err := b.VaultState(b.ctx)
	b.ok(err)
	var state struct {
		Key []byte `json:"key"`
	}
	b.ok(json.Unmarshal(raw, &state))
	z, err := zstd.NewWriter(nil)
	b.ok(err)
	newer := seal.Key(state.Key).SealObject(news, z.EncodeAll([]byte(`{"version":9,"device":"x","values":[]}`), nil))
	other := seal.Key(state.Key).SealObject(news, z.EncodeAll([]byte(`{"version":1,"device":"`+b.core.Device().ID+`","values":[]}`), nil))
	flipped := slices.Clone(content)
	flipped[len(flipped)/2] ^= 1
	for what, bad := range map[string][]byte{"another": first[known[0]], "newer": newer, "of another": other, "flipped": flipped, "cut": content[:20]} {
		put(news, bad)
		for _, run := range []func() ([]error, error){
			func() ([]error, error) { out, err := b.vault.Sync(b.ctx); return out.Problems, err },
			func() ([]error, error) { out, err := b.vault.Check(b.ctx); return out.Problems, err },
		} {
			if problems, err := run(); err != nil || len(problems) != 1 {
				t.Errorf("%s: %v, %v", what, problems, err)
			}
		}
		b.shows(want...)
	}
	put(news, content)
	inStep(t, a, b)
	b.shows(append(want, "assistant Bard: two")...)
}

// TestValuesOfNoUse: invalid values are named, and the others of the same device are taken.
func TestValuesOfNoUse(t *testing.T) {
	all, _ := members(t, 1, true)
	m := all[0]
	id, device := func() string { return chat.NewID(m.clock.Now()) }, chat.NewID(m.clock.Now())
	good := bundle.Value{Kind: "prompt", ID: id(), Revision: 1, Device: device, Body: []byte(`{"name":"Greeting","text":"Hi"}`)}
	list := []bundle.Value{good}
	for _, change := range []func(*bundle.Value){
		func(v *bundle.Value) { v.Kind = "setting" },
		func(v *bundle.Value) { v.ID = "../" + v.ID },
		func(v *bundle.Value) { v.ID += "/x" },
		func(v *bundle.Value) { v.Revision = 0 },
		func(v *bundle.Value) { v.Revision = 1 << 60 },
		func(v *bundle.Value) { v.Device = "" },
		func(v *bundle.Value) { v.Deleted = true },
		func(v *bundle.Value) { v.Body = nil },
		func(v *bundle.Value) { v.Body = []byte(`{"name":"x","text":"x","watch":"/etc"}`) },
		func(v *bundle.Value) { v.Body = []byte(`{"name":"x","text":"a\u0000b"}`) },
		func(v *bundle.Value) { v.Body = append(slices.Clone(v.Body), " {}"...) },
		func(v *bundle.Value) { v.Body = []byte(`{"name":"/x","text":"x"}`) },
		func(v *bundle.Value) { v.Kind, v.Body = "assistant", []byte(`{"name":"x","tools_mode":"all"}`) },
		func(v *bundle.Value) { v.Kind, v.Body = "project", []byte(`{"name":""}`) },
		func(v *bundle.Value) {
			v.Kind, v.Body = "document", []byte(`{"project_id":"x","path":"y","session_id":"z"}`)
		},
	} {
		v := good
		v.ID = id()
		change(&v)
		list = append(list, v)
	}
	out, err := m.TakeValues(m.ctx, list, false)
	m.ok(err)
	if out.Changed != 1 || len(out.Left) != len(list)-1 {
		t.Errorf("%d were taken, and %d of %d named: %v", out.Changed, len(out.Left), len(list)-1, out.Left)
	}
	m.shows("prompt Greeting: Hi")
	out, err = m.TakeValues(m.ctx, list[:1], false)
	if err != nil || out.Changed != 0 {
		t.Errorf("taken again: %+v %v", out, err)
	}
}

// TestACopyWithValues: two copies of data under one name that only change values do not lose any, and come to an end.
func TestACopyWithValues(t *testing.T) {
	all, _ := members(t, 1, true)
	a := all[0]
	poet := a.assistant("", "Poet", "one")
	a.sync()
	b := a.from(a.saved(), false)
	a.assistant(poet, "Poet", "of the original")
	a.prompt("", "Greeting", "of the original")
	b.assistant(poet, "Poet", "of the copy")
	b.prompt("", "Farewell", "of the copy")
	inStep(t, a, b)
	for _, m := range []*member{a, b} {
		if got := m.names(); len(got) != 3 || got[0] != "assistant Poet: of the original" && got[0] != "assistant Poet: of the copy" {
			t.Errorf("%s has %q", m.name, got)
		}
	}
}

// TestARestoreBringsBack: what a backup has is not deleted again because it was deleted since.
func TestARestoreBringsBack(t *testing.T) {
	all, _ := members(t, 2, true)
	a, b := all[0], all[1]
	poet := a.assistant("", "Poet", "one")
	p := a.project("Garden")
	a.document(p.ID, "soil.txt", "dry")
	inStep(t, a, b)
	saved := a.saved()
	a.ok(a.DeleteAssistant(a.ctx, poet))
	_, err := a.Delete(a.ctx, chat.DeletionProject, string(p.ID))
	a.ok(err)
	greeting := a.prompt("", "Greeting", "Hi")
	inStep(t, a, b)
	b.shows("prompt Greeting: Hi")
	a.ok(a.Store.Close())
	a = a.from(saved, true)
	inStep(t, a, b)
	for _, m := range []*member{a, b} {
		m.shows("assistant Poet: one", "project Garden: one, two", "prompt Greeting: Hi")
	}
	b.ok(b.DeleteAssistant(b.ctx, poet))
	b.ok(b.DeleteSavedPrompt(b.ctx, greeting))
	inStep(t, a, b)
	a.shows("project Garden: one, two")
}

// TestAnImportTravels: what was imported on one device is not imported again on another. If it has grown, the rest goes to a branch of
// the other device.
func TestAnImportTravels(t *testing.T) {
	all, _ := members(t, 2, true)
	a, b := all[0], all[1]
	first := foreign("t2", "t1 - one 1", "t2 t1 two 2")
	grown := foreign("t3", "t1 - one 1", "t2 t1 two 2", "t3 t2 three 3")
	session := a.imports(first).Session
	inStep(t, a, b)
	if out := b.imports(first); out.Outcome != chat.ImportAlready || out.Session != session {
		t.Errorf("the same again: %+v", out)
	}
	if out := b.imports(grown); out.Outcome != chat.ImportGrown || out.Session != session || out.Turns != 1 {
		t.Errorf("grown: %+v", out)
	}
	inStep(t, a, b)
	for _, m := range all {
		s, err := m.Session(m.ctx, session)
		m.ok(err)
		turns, err := m.Lineage(m.ctx, chat.LineageQuery{Branch: s.ActiveBranch})
		if err != nil || len(turns) != 3 || brief(turns[2]) != "three > 3" {
			t.Errorf("%s has %d turns (%v)", m.name, len(turns), err)
		}
		if out := m.imports(grown); out.Outcome != chat.ImportAlready || out.Session != session {
			t.Errorf("%s: grown again: %+v", m.name, out)
		}
	}
	a.erased(session)
	inStep(t, a, b)
	for name, text := range a.opened() {
		if strings.Contains(text, "content t1") {
			t.Errorf("%s has keys of what was deleted", name)
		}
	}
}
