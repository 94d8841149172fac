package turn_test

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"contextinfinity/backend/branches"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/storetest"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/store"
	"contextinfinity/backend/turn"
	"contextinfinity/test/testtier"
)

func TestMain(m *testing.M) {
	testtier.Checks(12)
	goleak.VerifyTestMain(m)
}

// env is an engine with a real database and real journals.
type env struct {
	t         testing.TB
	dir       string
	clock     clock.Clock // nil: the system clock
	store     *store.Store
	journals  *journal.Journals
	provider  *scripted
	log       *slog.Logger // nil: discarded
	engine    *turn.Engine
	jobs      *jobs.Runner
	branches  *branches.Service
	published *recorder
	settings  turn.Settings
	window    int
	// alwaysMode is the tools mode of the models themselves.
	alwaysMode llm.ToolsMode
	noTools    bool         // models cannot call tools
	called     atomic.Int64 // how often it was recorded that the model called tools
	cost       func(chat.Usage) chat.Cost
	retrieve   int // budget.max_retrieval_tokens
	memory     *fakeMemory
	tools      *toolbox
	redact     func(string) (string, []prompt.Redaction)
	// refuseEnds is how many ends of calls the database refuses.
	refuseEnds atomic.Int32
	// journalLimit is the maximum size of a journal in bytes; 0: unlimited.
	journalLimit int
	// lastTurnRead is called after the last turn of a branch was read, if set. Its error is returned to the reader.
	lastTurnRead atomic.Pointer[func() error]

	session chat.Session
	branch  chat.Branch
}

// recorder records what was published.
type recorder struct {
	mu       sync.Mutex
	frames   []chat.Frame
	changes  []chat.Change
	onChange func(chat.Change) // called for each change, if set
}

func (r *recorder) Frame(f chat.Frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frames = append(r.frames, f)
}

func (r *recorder) Change(c chat.Change) {
	r.mu.Lock()
	r.changes = append(r.changes, c)
	onChange := r.onChange
	r.mu.Unlock()
	if onChange != nil {
		onChange(c)
	}
}

func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frames, r.changes = nil, nil
}

func (r *recorder) all() []chat.Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]chat.Frame{}, r.frames...)
}

func (r *recorder) changed() []chat.Change {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]chat.Change{}, r.changes...)
}

// models resolves every name to the scripted provider.
type models struct{ w *env }

func (m models) Resolve(_ context.Context, name string) (turn.Model, error) {
	name = cmp.Or(name, "main")
	mode := m.w.alwaysMode
	mode = cmp.Or(mode, llm.ToolsDisabled)
	return turn.Model{
		Endpoint: llm.Endpoint{Name: name, Provider: "scripted", ModelID: name, Stream: true, ToolsMode: mode, CanContinue: true},
		Provider: m.w.provider,
		Limits:   prompt.Limits{ContextLimit: m.w.window, MaxOutput: 1000, ResponseReserve: 4000, SafetyMargin: 1500, WorkingSet: 50000, StateTarget: 1200, Retrieval: m.w.retrieve},
		NoTools:  m.w.noTools, Cost: m.w.cost,
		CalledTools: func() bool { return m.w.called.Add(1) == 1 },
	}, nil
}

func (m models) Provider(string) (llm.Provider, bool) { return m.w.provider, true }

type words struct{}

func (words) count(s string) int     { return len(strings.Fields(s)) }
func (words) Count(_, s string) int  { return words{}.count(s) }
func (words) Encoding(string) string { return "words" }

func newEnv(t testing.TB) *env {
	t.Helper()
	w := &env{t: t, dir: t.TempDir(), provider: &scripted{}, published: &recorder{}, window: 100000}
	w.settings = turn.Settings{
		IdleTimeout: time.Minute, FrameEvery: time.Millisecond, ProgressEvery: time.Hour,
		Backoff: func(int) time.Duration { return time.Millisecond }, ToolsMode: llm.ToolsDisabled,
		Policy: prompt.DefaultPolicy(),
	}
	storetest.Fill(t, w.dir)
	w.open()
	var err error
	if w.session, w.branch, err = w.store.CreateSession(t.Context(), chat.NewSession{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	return w
}

func (w *env) open() {
	w.t.Helper()
	s, err := store.Open(context.Background(), store.Options{DataDir: w.dir, Clock: w.clock})
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = s
	w.journals = journal.New(journal.Options{Dir: filepath.Join(w.dir, "streams"), FS: limitedFS{journal.OS(), w}})
	w.jobs = jobs.NewRunner(jobs.Deps{Queue: s, Store: s, Publish: w.published, Counter: words{}, TargetTokens: func() int { return 1200 }})
	w.branches = branches.New(s, w.jobs, w.published)
	d := turn.Deps{
		Turns: faultyStore{s, w}, History: faultyStore{s, w}, Contexts: faultyStore{s, w}, Drafts: faultyStore{s, w}, Calls: faultyStore{s, w}, Journals: w.journals, Models: models{w}, Branches: w.branches, Publish: w.published, Counter: words{},
		Settings: func() turn.Settings { return w.settings }, Clock: w.clock, Redact: w.redact, Log: w.log,
	}
	if w.memory != nil {
		w.memory.store, d.Memory = s, w.memory
	}
	if w.tools != nil {
		d.Tools = w.tools
	}
	w.engine = turn.NewEngine(d)
}

// faultyStore is a database that refuses the ends of some calls because the disk is full.
type faultyStore struct {
	*store.Store
	w *env
}

func (s faultyStore) LastTurn(ctx context.Context, branch chat.BranchID) (chat.Turn, bool, error) {
	t, ok, err := s.Store.LastTurn(ctx, branch)
	if read := s.w.lastTurnRead.Load(); read != nil {
		err = cmp.Or(err, (*read)())
	}
	return t, ok, err
}

func (s faultyStore) EndCall(ctx context.Context, e chat.CallEnd) error {
	if s.w.refuseEnds.Add(-1) >= 0 {
		return chat.Errorf(chat.CodeNoSpace, "test", "The disk is full.")
	}
	return s.Store.EndCall(ctx, e)
}

// limitedFS is a file system in which a journal has a maximum size; 0: unlimited.
type limitedFS struct {
	journal.FS
	w *env
}

func (f limitedFS) Create(path string) (journal.File, error) {
	file, err := f.FS.Create(path)
	return &limitedFile{File: file, limit: f.w.journalLimit}, err
}

type limitedFile struct {
	journal.File
	limit, written int
}

func (f *limitedFile) Write(b []byte) (int, error) {
	if f.limit > 0 && f.written+len(b) > f.limit {
		return 0, syscall.ENOSPC
	}
	f.written += len(b)
	return f.File.Write(b)
}

func (w *env) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.engine.Close(ctx); err != nil {
		w.t.Error(err)
	}
	w.jobs.Stop()
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

// send sends a message and waits for the end of the turn.
func (w *env) send(s string) chat.Turn {
	w.t.Helper()
	h := w.start(s)
	return w.wait(h)
}

func (w *env) start(s string) *turn.Handle {
	w.t.Helper()
	h, err := w.engine.Send(context.Background(), turn.Message{Branch: w.branch.ID, Content: chat.UserText(s)})
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

func (w *env) wait(h *turn.Handle) chat.Turn {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	t, err := h.Wait(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

// is checks the end of a turn.
func (w *env) is(t chat.Turn, phase chat.Phase, outcome chat.Outcome, answer string) {
	w.t.Helper()
	if t.Phase != phase || t.Outcome != outcome {
		w.t.Fatalf("turn is %s %q, want %s %q (failure %+v)", t.Phase, t.Outcome, phase, outcome, t.Failure)
	}
	m, err := w.engine.Answer(context.Background(), t)
	if err != nil {
		w.t.Fatal(err)
	}
	if got := m.RenderedText(); got != answer {
		w.t.Fatalf("answer is %q, want %q", got, answer)
	}
}

// clean runs verify.
func (w *env) clean() {
	w.t.Helper()
	found, err := w.store.Verify(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	contexts, err := w.engine.VerifyContexts(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range append(found, contexts...) {
		w.t.Errorf("verify: %+v", f)
	}
}
