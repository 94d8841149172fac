package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
	"contextinfinity/backend/vault"
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

// names are what a device shows, by name.
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

// inStep lets all exchange until nothing changes.
func inStep(t *testing.T, all ...*member) {
	t.Helper()
	settle(t, all)
}

// TestValuesTravel: what belongs to no session is the same on all devices, with its ids, whoever changes or deletes it, and the vault
// has nothing of what was deleted. Projects and their files stay on their device.
func TestValuesTravel(t *testing.T) {
	all, _ := members(t, 3, true)
	a, b, c := all[0], all[1], all[2]
	poet := a.assistant("", "Poet", "Rhyme.")
	greeting := a.prompt("", "Greeting", "Hello {{name}}")
	p := a.project("Garden")
	_, err := a.PutProjectFile(a.ctx, chat.NewProjectFile{
		Project: p.ID, Path: "soil.txt", Kind: chat.ProjectDocument, ModifiedAt: a.clock.Now(),
		NewFile: chat.NewFile{Name: "soil.txt", MediaType: "text/plain", Content: []byte("the soil is dry"), Tokens: 5},
	})
	a.ok(err)
	a.projectFile(p.ID, "watched.txt", "the watched soil")
	a.indexFiles()
	inStep(t, all...)
	for _, m := range all {
		m.shows("assistant Poet: Rhyme.", "prompt Greeting: Hello {{name}}")
		for name, text := range m.opened() {
			if strings.Contains(text, "soil") {
				t.Errorf("%s has a file of a project: %s", m.name, name)
			}
		}
	}
	// Each changes something, two of them the same.
	b.assistant(poet, "Bard", "Rhyme well.")
	c.assistant(poet, "Skald", "Rhyme badly.")
	b.prompt(greeting, "Greeting", "Hi")
	inStep(t, all...)
	won := "assistant Bard: Rhyme well."
	if c.core.Device().ID > b.core.Device().ID {
		won = "assistant Skald: Rhyme badly."
	}
	for _, m := range all {
		m.shows(won, "prompt Greeting: Hi")
	}
	c.ok(c.DeleteAssistant(c.ctx, poet))
	b.ok(b.DeleteSavedPrompt(b.ctx, greeting))
	inStep(t, all...)
	for _, m := range all {
		m.shows()
		for name, text := range m.opened() {
			for _, gone := range []string{"Rhyme", "Hello", "Hi\""} {
				if strings.Contains(text, gone) {
					t.Errorf("%s: %s has %q", m.name, name, gone)
				}
			}
		}
	}
	a.assistant("", "Poet", "Again.") // after all that, it still works
	inStep(t, all...)
	c.shows("assistant Poet: Again.")
}

// TestTwoOfOneName: of two things that got one name on two devices, the older keeps it, everywhere.
func TestTwoOfOneName(t *testing.T) {
	for _, order := range [][]int{{1, 0, 2}, {0, 1, 2}, {2, 1, 0}}[:testtier.Size(1, 3)] {
		all, _ := members(t, 3, true)
		for i, m := range all[:2] {
			m.assistant("", []string{"Poet", "poet"}[i], "by "+m.name)
			m.prompt("", "Greeting", "by "+m.name)
		}
		for range 3 {
			for _, i := range order {
				for _, other := range all {
					carry(t, other.folder, all[i].folder, nil)
				}
				all[i].sync()
			}
		}
		inStep(t, all...)
		for _, m := range all {
			m.shows("assistant Poet: by A", "assistant poet (2): by B", "prompt Greeting: by A", "prompt Greeting (2): by B")
		}
	}
}

// TestADeletionMeetsAChange: what was changed more often than it was when it was deleted elsewhere stays.
func TestADeletionMeetsAChange(t *testing.T) {
	all, _ := members(t, 2, true)
	a, b := all[0], all[1]
	poet := a.assistant("", "Poet", "one")
	inStep(t, all...)
	a.ok(a.DeleteAssistant(a.ctx, poet))
	b.assistant(poet, "Poet", "two")
	b.sync()
	b.assistant(poet, "Poet", "three")
	inStep(t, all...)
	for _, m := range all {
		m.shows("assistant Poet: three")
	}
}

// TestAFirstExchangeThatFails: what is deleted elsewhere after it is deleted here too, because it was known here.
func TestAFirstExchangeThatFails(t *testing.T) {
	all, _ := members(t, 2, true)
	a, b := all[0], all[1]
	poet := a.assistant("", "Poet", "one")
	a.sync()
	carry(t, a.folder, b.folder, nil)
	failing := b.with(b.Store, func(target vault.Target) (vault.Place, error) {
		place, err := b.place(target)
		return noValues{place}, err
	})
	if _, err := failing.Sync(b.ctx); err == nil {
		t.Fatal("the values of B were sent")
	}
	b.shows("assistant Poet: one")
	a.ok(a.DeleteAssistant(a.ctx, poet))
	inStep(t, all...)
	a.shows()
	b.shows()
}

// noValues is a place to which no values can be written.
type noValues struct{ vault.Place }

func (p noValues) PutNew(ctx context.Context, name string, content []byte) error {
	if strings.Contains(name, "/values-") {
		return errors.New("the disk is full")
	}
	return p.Place.PutNew(ctx, name, content)
}

// TestUnreadableValuesStopNothingElse: the logs are exchanged, and nothing is deleted or sent because values cannot be read here.
func TestUnreadableValuesStopNothingElse(t *testing.T) {
	all, _ := members(t, 2, true)
	a, b := all[0], all[1]
	a.assistant("", "Poet", "one")
	inStep(t, all...)
	session, branch := a.session("another")
	a.full(branch.ID, "a question", "an answer")
	a.assistant("", "Bard", "two")
	a.sync()
	carry(t, a.folder, b.folder, nil)
	for _, broken := range []vault.Records{unreadable{b.Store, true, false}, unreadable{b.Store, false, true}} {
		b.vault.Records = broken
		out, err := b.vault.Sync(b.ctx)
		if b.ok(err); len(out.Problems) != 1 || chat.CodeOf(out.Problems[0]) != chat.CodeCorrupt || out.SentValues > 0 || !b.has(session.ID) {
			t.Errorf("%+v", out)
		}
		b.shows("assistant Poet: one")
	}
	b.vault.Records = b.Store
	inStep(t, all...)
	b.shows("assistant Poet: one", "assistant Bard: two")
}

// unreadable are records that cannot be read when they are asked for all, or when some are taken.
type unreadable struct {
	*Store
	all, taken bool
}

func (u unreadable) Values(ctx context.Context) ([]bundle.Value, int, error) {
	if u.all {
		return nil, 0, sqlite.CorruptRecord("assistants", "1", errors.New("it is not text"))
	}
	return u.Store.Values(ctx)
}

func (u unreadable) TakeValues(ctx context.Context, list []bundle.Value, keep bool) (int, []error, error) {
	if u.taken {
		return 0, nil, sqlite.CorruptRecord("assistants", "1", errors.New("it is not text"))
	}
	return u.Store.TakeValues(ctx, list, keep)
}

// TestMoreThanThereCanBe: what has no room is one problem, changes nothing here, is not read again before something changes, and
// is taken once there is room.
func TestMoreThanThereCanBe(t *testing.T) {
	all, _ := members(t, 2, true)
	a, b := all[0], all[1]
	a.assistant("", "Poet", "by A") // it has the smaller id
	a.assistant("", "Bard", "by A")
	a.sync()
	var last chat.AssistantID
	for i := range chat.MaxAssistants {
		last = b.assistant("", fmt.Sprintf("B %d", i), "by B")
	}
	b.assistant(last, "Poet", "by B")
	carry(t, a.folder, b.folder, nil)
	gets := 0
	b.vault = b.with(b.Store, func(target vault.Target) (vault.Place, error) {
		place, err := b.place(target)
		return counted{place, &gets}, err
	})
	for i, want := range []int{1, 0} {
		gets = 0
		out, err := b.vault.Sync(b.ctx)
		if b.ok(err); len(out.Problems) != 1 || chat.CodeOf(out.Problems[0]) != chat.CodeTooLarge || !strings.Contains(out.Problems[0].Error(), ": 2. ") || gets != want {
			t.Errorf("exchange %d: %d values were read; %q", i, gets, out.Problems)
		}
		if got := b.names(); len(got) != chat.MaxAssistants || !slices.Contains(got, "assistant Poet: by B") {
			t.Errorf("exchange %d: %d assistants", i, len(got))
		}
	}
	some, err := b.Assistants(b.ctx)
	b.ok(err)
	for _, other := range some[:2] {
		b.ok(b.DeleteAssistant(b.ctx, other.ID))
	}
	if out := b.sync(); len(out.Problems) > 0 || out.ReceivedValues != 2 {
		t.Errorf("with room: %+v", out)
	}
	if got := b.names()[chat.MaxAssistants-3:]; !slices.Contains(got, "assistant Poet: by A") || !slices.Contains(got, "assistant Poet (2): by B") || !slices.Contains(got, "assistant Bard: by A") {
		t.Errorf("with room: %q", got)
	}
}

// counted is a place that counts the values that are read.
type counted struct {
	vault.Place
	gets *int
}

func (p counted) Get(ctx context.Context, name string) ([]byte, error) {
	if strings.Contains(name, "/values-") {
		*p.gets++
	}
	return p.Place.Get(ctx, name)
}

// TestMoreThanAnObjectHolds: the largest values are not sent, and a deletion is.
func TestMoreThanAnObjectHolds(t *testing.T) {
	if !testtier.Exhaustive() {
		t.Skip("72 MB of values; what is left out is tested with few in backend/vault")
	}
	all, _ := members(t, 2, true)
	a, b := all[0], all[1]
	poet := a.assistant("", "Poet", "one")
	inStep(t, all...)
	a.ok(a.DeleteAssistant(a.ctx, poet))
	list := []chat.SavedPrompt{{Name: "short", Text: "Hi"}}
	for i := range 1100 {
		list = append(list, chat.SavedPrompt{Name: fmt.Sprint(i), Text: strings.Repeat("word ", 13_000)})
	}
	_, err := a.PutSavedPrompts(a.ctx, list)
	a.ok(err)
	for range 2 {
		out, err := a.vault.Sync(a.ctx)
		if a.ok(err); len(out.Problems) != 1 || chat.CodeOf(out.Problems[0]) != chat.CodeTooLarge {
			t.Fatalf("%+v", out)
		}
	}
	for name := range objects(t, b.folder) {
		if strings.Contains(name, "/values-") {
			b.ok(os.Remove(filepath.Join(b.folder, name)))
		}
	}
	carry(t, a.folder, b.folder, nil)
	b.sync()
	got := b.names()
	if len(got) < 1000 || len(got) > 1100 || !slices.Contains(got, "prompt short: Hi") || slices.Contains(got, "assistant Poet: one") {
		t.Errorf("B has %d values", len(got))
	}
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
	switch kind := r.Intn(5); kind {
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
	case 4:
		if all, err := m.SavedPrompts(m.ctx); err == nil && len(all) > 0 {
			m.ok(m.DeleteSavedPrompt(m.ctx, all[r.Intn(len(all))].ID))
		}
	}
}

// TestNothingIsConcludedFromMissingValues: without its values, or with those of another place, an older state, another device or a
// newer program, the vault deletes and changes nothing; what can be read is taken, and what is gone is sent again.
func TestNothingIsConcludedFromMissingValues(t *testing.T) {
	all, _ := members(t, 2, true)
	a, b := all[0], all[1]
	a.assistant("", "Poet", "one")
	a.prompt("", "Greeting", "Hi")
	a.sync()
	carry(t, a.folder, b.folder, nil)
	first := objects(t, b.folder)
	inStep(t, a, b)
	want := []string{"assistant Poet: one", "prompt Greeting: Hi"}
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
			if problems, err := run(); err != nil || len(problems) != 1 || (chat.CodeOf(problems[0]) == chat.CodeNewer) != (what == "newer") {
				t.Errorf("%s: %v, %v", what, problems, err)
			}
		}
		b.shows(want...)
	}
	put(news, content)
	inStep(t, a, b)
	b.shows(append(want, "assistant Bard: two")...)
}

// TestValuesOfNoUse: what is invalid or of a newer program is counted, and the rest of the same device is taken.
func TestValuesOfNoUse(t *testing.T) {
	all, _ := members(t, 1, true)
	m := all[0]
	id, device := func() string { return chat.NewID(m.clock.Now()) }, chat.NewID(m.clock.Now())
	good := bundle.Value{Kind: "prompt", ID: id(), Revision: 1, Device: device, Body: []byte(`{"name":"Greeting","text":"Hi \\u0000"}`)}
	list := []bundle.Value{good}
	for _, change := range []func(*bundle.Value){
		func(v *bundle.Value) { v.Kind = "setting" }, // of a newer program
		func(v *bundle.Value) { v.Body = []byte(`{"name":"x","text":"x","watch":"/etc"}`) },
		func(v *bundle.Value) { v.ID = "../" + v.ID }, // invalid
		func(v *bundle.Value) { v.ID += "/x" },
		func(v *bundle.Value) { v.Revision = 0 },
		func(v *bundle.Value) { v.Revision = 1 << 60 },
		func(v *bundle.Value) { v.Device = "" },
		func(v *bundle.Value) { v.Deleted = true },
		func(v *bundle.Value) { v.Body = nil },
		func(v *bundle.Value) { v.Body = []byte(`{"name":"x","text":"a\u0000b"}`) },
		func(v *bundle.Value) { v.Body = append(slices.Clone(v.Body), " {}"...) },
		func(v *bundle.Value) { v.Body = []byte(`{"name":"/x","text":"x"}`) },
		func(v *bundle.Value) { v.Kind, v.Body = "assistant", []byte(`{"name":"x","tools_mode":"all"}`) },
	} {
		v := good
		v.ID = id()
		change(&v)
		list = append(list, v)
	}
	changed, refused, err := m.TakeValues(m.ctx, list, false)
	m.ok(err)
	if changed != 1 || len(refused) != 2 || chat.CodeOf(refused[0]) != chat.CodeInvalid || !strings.Contains(refused[0].Error(), fmt.Sprintf(": %d. ", len(list)-3)) ||
		chat.CodeOf(refused[1]) != chat.CodeNewer || !strings.Contains(refused[1].Error(), ": 2. ") {
		t.Errorf("%d were taken, and refused: %q", changed, refused)
	}
	m.shows(`prompt Greeting: Hi \u0000`)
	if changed, refused, err = m.TakeValues(m.ctx, list[:1], false); err != nil || changed+len(refused) != 0 {
		t.Errorf("taken again: %d %v %v", changed, refused, err)
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
	inStep(t, a, b)
	saved := a.saved()
	a.ok(a.DeleteAssistant(a.ctx, poet))
	greeting := a.prompt("", "Greeting", "Hi")
	inStep(t, a, b)
	b.shows("prompt Greeting: Hi")
	a.ok(a.Store.Close())
	a = a.from(saved, true)
	inStep(t, a, b)
	for _, m := range []*member{a, b} {
		m.shows("assistant Poet: one", "prompt Greeting: Hi")
	}
	b.ok(b.DeleteAssistant(b.ctx, poet))
	b.ok(b.DeleteSavedPrompt(b.ctx, greeting))
	inStep(t, a, b)
	a.shows()
}

// TestAGrownImportFollowsTheLastOne: the branch that an import continued last is active, whatever the clocks of the devices say.
func TestAGrownImportFollowsTheLastOne(t *testing.T) {
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		all, _ := members(t, 2, true)
		a, b := all[0], all[1]
		a.clock.Advance(2 * time.Hour)
		b.clock.Advance(2*time.Hour + ahead)
		session := a.imports(foreign("t2", "t1 - one 1", "t2 t1 two 2")).Session
		inStep(t, all...)
		b.imports(foreign("t3", "t1 - one 1", "t2 t1 two 2", "t3 t2 three 3"))
		inStep(t, all...)
		a.imports(foreign("t4", "t1 - one 1", "t2 t1 two 2", "t3 t2 three 3", "t4 t3 four 4"))
		s, err := a.Session(a.ctx, session)
		a.ok(err)
		turns, err := a.Lineage(a.ctx, chat.LineageQuery{Branch: s.ActiveBranch})
		if err != nil || len(turns) != 4 || brief(turns[3]) != "four > 4" {
			t.Errorf("%v ahead: the active branch has %d turns (%v)", ahead, len(turns), err)
		}
	}
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
