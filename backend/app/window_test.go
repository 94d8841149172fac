package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/config"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/secrets"
	"contextinfinity/test/harness"
)

// page has the window's services as its page uses them, and records the events that the page was sent.
type page struct {
	t        *testing.T
	window   desktop.Window
	sessions *api.Sessions
	chat     *api.Chat
	inspect  *api.Inspect
	memory   *api.Memory
	settings *api.Settings
	work     *api.Work
	transfer *api.Transfer
	storage  *api.Storage

	mu      sync.Mutex
	frames  []api.Frame
	changes []api.Change
}

// serviceIn returns the service of a type that a window binds; nil if there is none.
func serviceIn[T any](w desktop.Window) (service T) {
	for _, b := range w.Bind {
		if s, ok := b.(T); ok {
			return s
		}
	}
	return service
}

func openPage(t *testing.T, dir string) *page {
	t.Helper()
	return openPageWith(t, cli.OpenOptions{DataDir: dir, ConfigPath: filepath.Join(dir, "config.toml")})
}

func openPageWith(t *testing.T, o cli.OpenOptions) *page {
	t.Helper()
	w := window(o, handover{}, nil)
	p := &page{
		t: t, window: w, sessions: serviceIn[*api.Sessions](w), chat: serviceIn[*api.Chat](w), inspect: serviceIn[*api.Inspect](w), memory: serviceIn[*api.Memory](w),
		settings: serviceIn[*api.Settings](w), work: serviceIn[*api.Work](w), transfer: serviceIn[*api.Transfer](w), storage: serviceIn[*api.Storage](w),
	}
	p.window.Ready(p.event)
	t.Cleanup(p.window.Close)
	return p
}

func (p *page) event(_ string, data any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch d := data.(type) {
	case api.Frame:
		p.frames = append(p.frames, d)
	case api.Change:
		p.changes = append(p.changes, d)
	}
}

func (p *page) seen() ([]api.Frame, []api.Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]api.Frame{}, p.frames...), append([]api.Change{}, p.changes...)
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// say sends a message and waits until its turn is committed and indexed.
func (p *page) say(req api.SendRequest) api.SendResult {
	p.t.Helper()
	r := must[api.SendResult](p.t)(p.chat.Send(req))
	p.eventually("the turn was not finished", func() bool {
		v, err := p.sessions.Turn(r.BranchID, r.TurnID)
		return err == nil && v.Phase == chat.PhaseDone
	})
	return r
}

func (p *page) eventually(msg string, ok func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(harness.Patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatal(msg)
		}
	}
}

// A first session without a key: first start, a message, its answer, pins, state summaries, a fork, and the same data
// after a restart.
func TestWindowConversation(t *testing.T) {
	dir := t.TempDir()
	p := openPage(t, dir)
	if s := p.settings.Startup(); !s.FirstRun || s.Fatal != nil || s.DataDir != dir {
		t.Fatalf("startup %+v", s)
	}
	if err := p.settings.FinishFirstRun("recall"); err != nil {
		t.Fatal(err)
	}
	first := p.say(api.SendRequest{Text: "We decided to deploy Orders on Sunday at 05:00."})
	snap := must[api.SessionSnapshot](t)(p.sessions.Open(first.SessionID, ""))
	if len(snap.Turns) != 1 || snap.Turns[0].State != "head" || len(snap.Turns[0].Assistant) == 0 || snap.Session.Title == "" {
		t.Fatalf("snapshot %+v", snap)
	}
	if h := snap.Header; h.HeadSeq != 1 || h.Pending != 0 || h.Durable == 0 || h.Durable != h.Displayed || h.ContextCeiling == 0 || h.Model != "recall" || h.ContextMemory != 0 { // recall searches itself
		t.Fatalf("header %+v", h)
	}
	p.checkFrames(snap.Turns[0])

	second := p.say(api.SendRequest{SessionID: first.SessionID, Text: "When do we deploy Orders?"})
	v := must[api.TurnView](t)(p.sessions.Turn(second.BranchID, second.TurnID))
	if !strings.Contains(v.Assistant[0].Text, "Sunday at 05:00") || !strings.Contains(v.Assistant[0].Text, first.TurnID) {
		t.Fatalf("recall did not quote what was said: %s", v.Assistant[0].Text)
	}

	pin := must[api.PinView](t)(p.inspect.AddPin(first.BranchID, "Never on a Friday"))
	edited := must[api.PinView](t)(p.inspect.EditPin(first.BranchID, pin.ID, "Never on a Friday or Monday"))
	state := must[api.StatePanel](t)(p.inspect.State(first.BranchID))
	if len(state.Pins) != 1 || state.Pins[0].Text != edited.Text || state.Pins[0].Version != 2 || len(state.History) != 3 || !state.Head.Head {
		t.Fatalf("state %+v", state)
	}

	next := must[api.ContextView](t)(p.inspect.NextContext(first.BranchID, "", api.Draft{Text: " "}))
	sent := map[string]int{}
	for _, section := range next.Sections {
		sent[section.Name] = section.Tokens
	}
	if os.Getenv("CONTEXTINFINITY") == "0" { // plain chat sends no state summary
		sent["state"] = state.Head.Tokens
	}
	if sent["state"] == 0 || sent["pinned"] == 0 || state.Head.Tokens != sent["state"] || state.PinTokens != sent["pinned"] {
		t.Errorf("the State tab counts %d and %d tokens, the X-ray %v", state.Head.Tokens, state.PinTokens, sent)
	}

	fork := must[api.BranchView](t)(p.sessions.Fork(first.TurnID, false, "what if"))
	if other := must[api.SessionSnapshot](t)(p.sessions.Open(first.SessionID, "")); other.Header.BranchID != fork.ID || len(other.Turns) != 1 || len(other.Branches) != 2 {
		t.Fatalf("the fork is not open: %+v", other.Header)
	}
	if _, err := p.sessions.Rollback(first.SessionID, state.History[1].ID); chat.CodeOf(err) != chat.CodeConflict {
		t.Fatalf("the fork ends there already: %v", err)
	}
	if err := p.sessions.Switch(first.SessionID, first.BranchID); err != nil {
		t.Fatal(err)
	}
	back := must[api.BranchView](t)(p.sessions.Rollback(first.SessionID, state.History[1].ID))
	if back.ID == fork.ID || back.Turns != 1 {
		t.Fatalf("rollback %+v", back)
	}
	if err := p.sessions.Switch(first.SessionID, first.BranchID); err != nil {
		t.Fatal(err)
	}

	p.checkOpensWhereWritten(first.SessionID, first.BranchID, fork.ID)
	active := must[api.SessionSnapshot](t)(p.sessions.Open(first.SessionID, "")).Header.BranchID
	edit := must[api.BranchView](t)(p.sessions.Fork(second.TurnID, true, ""))
	if now := must[api.SessionSnapshot](t)(p.sessions.Open(first.SessionID, "")).Header.BranchID; now != active || now == edit.ID {
		t.Errorf("before an edit is sent, the active branch is %s, not %s", now, active)
	}

	steps := must[[]api.StepView](t)(p.inspect.Steps(second.TurnID))
	raw := must[api.RawStep](t)(p.inspect.RawStep(steps[0].ID))
	if !strings.Contains(raw.Request, "When do we deploy") || len(raw.Events) == 0 {
		t.Fatalf("raw step %+v", raw)
	}
	p.window.Close()
	again := openPage(t, dir)
	if s := again.settings.Startup(); s.FirstRun || s.LastSession != first.SessionID {
		t.Fatalf("second start %+v", s)
	}
	if snap := must[api.SessionSnapshot](t)(again.sessions.Open(first.SessionID, "")); len(snap.Turns) != 2 {
		t.Fatalf("after the restart there are %d turns", len(snap.Turns))
	}
}

// checkOpensWhereWritten checks at which branch a session opens: the one with the newest message, or one that was made
// active after it.
func (p *page) checkOpensWhereWritten(session, main, fork string) {
	p.t.Helper()
	opensAt := func(branch string) {
		p.t.Helper()
		if got := must[api.SessionSnapshot](p.t)(p.sessions.Open(session, "")).Header.BranchID; got != branch {
			p.t.Fatalf("the session opens at %s, not at %s", got, branch)
		}
	}
	opensAt(main)
	p.say(api.SendRequest{SessionID: session, BranchID: fork, Text: "And if it rains?", Model: "recall"})
	opensAt(fork)
	if err := p.sessions.Switch(session, main); err != nil { // as a command does
		p.t.Fatal(err)
	}
	opensAt(main)
}

// checkFrames checks that the streamed text is the stored text, and that the revisions of the changes have no gaps.
func (p *page) checkFrames(v api.TurnView) {
	p.t.Helper()
	frames, changes := p.seen()
	var sb strings.Builder
	for _, f := range frames {
		if f.Turn == v.ID {
			sb.WriteString(f.Text)
		}
	}
	if sb.String() != v.Assistant[0].Text {
		p.t.Errorf("frames add up to %q, the turn says %q", sb.String(), v.Assistant[0].Text)
	}
	// Changes of two goroutines may arrive in another order, and the last ones later.
	slices.SortFunc(changes, func(a, b api.Change) int { return cmp.Compare(a.Rev, b.Rev) })
	for i, c := range changes[1:] {
		if c.Rev == changes[i].Rev {
			p.t.Fatalf("two changes have revision %d", c.Rev)
		}
	}
}

// Listing, renaming, archiving and pinning sessions, and their drafts.
func TestWindowSessions(t *testing.T) {
	p := openPage(t, t.TempDir())
	a := must[api.SessionRow](t)(p.sessions.Create("Alpha"))
	b := must[api.SessionRow](t)(p.sessions.Create("Beta"))
	if err := p.sessions.Pin(a.ID, true); err != nil {
		t.Fatal(err)
	}
	if rows := must[[]api.SessionRow](t)(p.sessions.List(false, "")); len(rows) != 2 || rows[0].ID != a.ID {
		t.Fatalf("%+v", rows)
	}
	if err := p.sessions.Rename(b.ID, "Gamma"); err != nil {
		t.Fatal(err)
	}
	if err := p.sessions.Rename(b.ID, "  "); err == nil {
		t.Fatal("an empty title was accepted")
	}
	if rows := must[[]api.SessionRow](t)(p.sessions.List(false, "gam")); len(rows) != 1 || rows[0].ID != b.ID {
		t.Fatalf("%+v", rows)
	}
	if err := p.sessions.Archive(b.ID, true); err != nil {
		t.Fatal(err)
	}
	if rows := must[[]api.SessionRow](t)(p.sessions.List(true, "")); len(rows) != 1 || !rows[0].Archived {
		t.Fatalf("%+v", rows)
	}
	png := api.ImageUpload{MediaType: "image/png", Data: "iVBORw0KGgo=", Name: "chart.png"}
	if err := p.sessions.SaveDraft(a.ActiveBranch, api.Draft{Text: "half a thought", Images: []api.ImageUpload{png}}); err != nil {
		t.Fatal(err)
	}
	if d := must[api.Draft](t)(p.sessions.Draft(a.ActiveBranch)); d.Text != "half a thought" || len(d.Images) != 1 || d.Images[0] != png || d.Edit != nil {
		t.Fatalf("%+v", d)
	}
	edit := api.DraftEdit{TurnID: "01TURN", Seq: 3, Text: "better words", Images: []api.ImageUpload{png, png}}
	if err := p.sessions.SaveDraft(a.ActiveBranch, api.Draft{Text: "half a thought", Images: []api.ImageUpload{png}, Edit: &edit}); err != nil {
		t.Fatal(err)
	}
	d := must[api.Draft](t)(p.sessions.Draft(a.ActiveBranch))
	if d.Text != "half a thought" || len(d.Images) != 1 || d.Edit == nil || d.Edit.TurnID != edit.TurnID || d.Edit.Seq != 3 || d.Edit.Text != edit.Text || len(d.Edit.Images) != 2 {
		t.Fatalf("the edit and the draft that it replaced: %+v", d)
	}
	if err := p.sessions.SaveDraft(a.ActiveBranch, api.Draft{Edit: &api.DraftEdit{TurnID: "01TURN", Seq: 3, Text: "  "}}); err != nil {
		t.Fatal(err)
	}
	if d := must[api.Draft](t)(p.sessions.Draft(a.ActiveBranch)); d.Edit != nil || len(d.Images) != 0 {
		t.Fatalf("an empty edit of nothing: %+v", d)
	}
}

// Settings and links are checked, and keys never reach the page.
func TestWindowSettings(t *testing.T) {
	const key = "sk-canary-0123456789abcdef"
	t.Setenv("OPENAI_API_KEY", key)
	p := openPage(t, t.TempDir())
	if _, err := p.settings.Set("budget.compact_at", "7"); chat.CodeOf(err) != chat.CodeInvalid && chat.CodeOf(err) != chat.CodeConfig {
		t.Fatalf("a value out of range: %v", err)
	}
	view := must[api.SettingsView](t)(p.settings.Set("budget.working_set_tokens", "30000"))
	found := false
	for _, s := range view.Settings {
		if s.Key == "budget.working_set_tokens" {
			found = s.Value == "30000" && s.Origin == "file" && s.Default == "50000" && s.Help != ""
		}
	}
	if !found {
		t.Fatal("the setting was not changed")
	}
	models := must[[]api.ModelView](t)(p.settings.SaveModel(api.ModelView{Name: "local", Provider: "chatcompletions", ModelID: "m", BaseURL: "http://127.0.0.1:9/v1", Stream: true, ContextLimit: 8000}))
	names := map[string]bool{}
	for _, m := range models {
		names[m.Name] = m.Usable
	}
	if !names["local"] || !names["recall"] || !names["gpt"] {
		t.Fatalf("models %+v", models)
	}
	all, _ := json.Marshal([]any{p.settings.Keys(), models, view, p.settings.Startup()})
	if bytes.Contains(all, []byte(key)) {
		t.Fatal("the key reached the page")
	}
	for _, link := range []string{"file:///etc/passwd", "javascript:alert(1)", "http://", "x"} {
		if err := p.settings.OpenExternal(link); err == nil {
			t.Errorf("%s would be opened", link)
		}
	}
}

// If the database cannot be read, the window says so and binds only the services that its page then needs. They refuse
// operations that need the data, and the file does not change.
func TestWindowWithoutData(t *testing.T) {
	dir := t.TempDir()
	garbage := bytes.Repeat([]byte("this is not a database. "), 500)
	openPage(t, dir).window.Close()
	matches, _ := filepath.Glob(filepath.Join(dir, "*.db"))
	if len(matches) != 1 {
		t.Fatalf("databases: %v", matches)
	}
	for _, f := range []string{matches[0] + "-wal", matches[0] + "-shm"} {
		_ = os.Remove(f)
	}
	if err := os.WriteFile(matches[0], garbage, 0o600); err != nil {
		t.Fatal(err)
	}
	p := openPage(t, dir)
	s := p.settings.Startup()
	if s.Fatal == nil || s.Fatal.Code != chat.CodeCorrupt || s.Fatal.Hint.IsZero() {
		t.Fatalf("startup %+v", s.Fatal)
	}
	if len(p.window.Bind) != 4 || p.settings == nil || p.storage == nil || p.transfer == nil {
		t.Errorf("bound: %T", p.window.Bind)
	}
	if _, err := p.storage.Storage(); chat.CodeOf(err) != chat.CodeCorrupt {
		t.Errorf("the storage page: %v", err)
	}
	if now, _ := os.ReadFile(matches[0]); !bytes.Equal(now, garbage) {
		t.Error("the unreadable file was changed")
	}
}

// A second window does not touch the data of the first.
func TestSecondWindow(t *testing.T) {
	watchRaise(t)
	dir := socketDir(t)
	first := openPage(t, dir)
	second := window(cli.OpenOptions{DataDir: dir, ConfigPath: filepath.Join(dir, "config.toml")}, handover{}, nil)
	if !second.ShownElsewhere || len(second.Bind) != 0 {
		t.Fatalf("a second window opened: %+v", second)
	}
	first.say(api.SendRequest{Text: "still works"})
}

// After a model of a server was saved, the list contains the model information that the server reports, so that the user
// is not asked for its context window.
func TestASavedModelHasTheInformationOfItsServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":[{"id":"alpha","context_length":32768,"supported_parameters":["tools"]}]}`))
	}))
	t.Cleanup(server.Close)
	p := openPage(t, t.TempDir())
	for _, v := range must[[]api.ModelView](t)(p.settings.SaveModel(api.ModelView{Name: "alpha", Provider: "chatcompletions", ModelID: "alpha", BaseURL: server.URL + "/v1", Stream: true})) {
		if v.Name == "alpha" {
			if v.ContextLimit != 32768 || v.LimitSource != "server" || v.Tools != "yes" {
				t.Errorf("%+v", v)
			}
			return
		}
	}
	t.Error("the model was not saved")
}

// A key that was kept only for one run is missing after a restart. The server is then not called without a key, and the
// model says what is missing.
func TestAKeyOfOneRunIsReportedAsMissing(t *testing.T) {
	t.Parallel()
	dir, server := t.TempDir(), "http://127.0.0.1:9"
	p := openPage(t, dir)
	model := func(p *page) api.ModelView {
		for _, v := range p.settings.Models() {
			if v.Name == "alpha" {
				return v
			}
		}
		t.Fatal("the model is missing")
		return api.ModelView{}
	}
	must[[]api.KeyView](t)(p.settings.SetKey("127.0.0.1:9", "key-of-this-run"))
	must[[]api.ModelView](t)(p.settings.SaveModel(api.ModelView{Name: "alpha", Provider: "chatcompletions", ModelID: "alpha", BaseURL: server, Stream: true}))
	if keys := p.settings.Keys(); !model(p).Usable || !slices.ContainsFunc(keys, func(k api.KeyView) bool { return k.Provider == "127.0.0.1:9" && k.Needed && k.Source == "this run" }) {
		t.Fatalf("%+v, keys %+v", model(p), keys)
	}
	must[[]api.ModelView](t)(p.settings.SaveModel(model(p))) // as the model's form does
	p.window.Close()
	again := openPage(t, dir)
	if v := model(again); v.Usable || !strings.Contains(v.Reason.String(), "No key") {
		t.Errorf("after a restart without the key: %+v", v)
	}
	must[api.SettingsView](t)(again.settings.Set("models.alpha.key_required", "false"))
	if v := model(again); !v.Usable {
		t.Errorf("when no key is required: %+v", v)
	}
}

// keyring is a keyring in memory. The program reads from it in the background.
type keyring struct{ keys *sync.Map }

func (k keyring) Set(_, user, key string) error { k.keys.Store(user, key); return nil }
func (k keyring) Delete(_, user string) error   { k.keys.Delete(user); return nil }
func (k keyring) Get(_, user string) (string, error) {
	if key, ok := k.keys.Load(user); ok {
		return key.(string), nil
	}
	return "", secrets.ErrNotFound
}

// users lists whose keys it has.
func (k keyring) users() (users []string) {
	k.keys.Range(func(user, _ any) bool { users = append(users, user.(string)); return true })
	return users
}

// Storing and removing a key changes whether the models of a server need one.
func TestTheCommandLineRequiresKeysToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := cli.OpenOptions{DataDir: dir, ConfigPath: filepath.Join(dir, "config.toml")}
	s := openSetup(o,
		secrets.NewWith(secrets.Options{Keyring: keyring{new(sync.Map)}, Getenv: func(string) string { return "" }}))
	if err := s.Config.SaveModel(config.Model{Name: "alpha", Provider: "chatcompletions", ModelID: "alpha", BaseURL: "http://127.0.0.1:9"}); err != nil {
		t.Fatal(err)
	}
	required := func() bool {
		again := openSetup(o, secrets.New()).Config.Config() // from the file
		return len(again.Configured) == 1 && again.Configured[0].KeyRequired
	}
	if _, err := s.StoreKey("127.0.0.1:9", "a-key"); err != nil || !required() {
		t.Errorf("after keys set: %v, required: %v", err, required())
	}
	if err := s.RemoveKey("127.0.0.1:9"); err != nil || required() {
		t.Errorf("after keys remove: %v, required: %v", err, required())
	}
}
