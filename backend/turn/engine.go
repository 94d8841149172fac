package turn

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"contextinfinity/backend/branches"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/prompt"
)

// Deps are an Engine's dependencies; all are required except Log and Clock.
type Deps struct {
	Turns    TurnStore
	History  HistoryStore
	Contexts ContextStore
	Drafts   DraftStore
	Calls    CallStore
	Journals *journal.Journals
	Models   Models
	Branches *branches.Service
	Publish  Publisher
	Counter  Counter
	Settings func() Settings
	// Redact removes secrets from what is sent (SPEC 13); nil: nothing is removed.
	Redact func(string) (string, []prompt.Redaction)
	// Shrink shortens a state summary to at most target tokens with the librarian, for one request; "" if it cannot.
	// nil: it is trimmed.
	Shrink func(ctx context.Context, t chat.Turn, summary string, target int) string
	// Memory is searched for each turn; nil: there is none.
	Memory Memory
	// Tools are what models may call; nil: there are none.
	Tools Tools
	// ReadOnly: nothing can be written; turns can be read and previewed.
	ReadOnly bool
	Clock    clock.Clock
	Log      *slog.Logger
}

// Engine runs turns: any number at once, one at a time per branch.
type Engine struct {
	turns     TurnStore
	past      HistoryStore
	contexts  ContextStore
	drafts    DraftStore
	toolCalls CallStore
	journals  *journal.Journals
	models    Models
	branches  *branches.Service
	publish   Publisher
	counter   Counter
	settings  func() Settings
	redact    func(string) (string, []prompt.Redaction)
	shrink    func(context.Context, chat.Turn, string, int) string
	memory    Memory
	tools     Tools
	readOnly  bool
	clock     clock.Clock
	log       *slog.Logger

	queueMu sync.Mutex // see continueQueue
	// startMu is read-locked from when a turn becomes open in the database until its run is registered; recovery
	// locks it, so that it does not take a turn that is about to run for an abandoned one.
	startMu sync.RWMutex

	extracts extracts
	lines    lines // callers that wait to send

	mu   sync.Mutex
	runs map[chat.TurnID]*run
	// calls are the running tool calls
	calls map[chat.ToolCallID]*runningCall
	// approved are calls that the user allowed since the program started, see mayExecute.
	approved map[chat.ToolCallID]bool
	// queues says for each branch whether its queued messages are sent, see queue.go; without an entry they are held
	queues map[chat.BranchID]queueState
	// unsaved are turns whose end could not be saved, with their content
	unsaved map[chat.TurnID]unsaved
	// unsavedAdded receives a signal when a turn was added to unsaved
	unsavedAdded chan struct{}
	// claims are the claimed queues, by branch
	claims map[chat.BranchID]*claim
	closed bool
	wg     sync.WaitGroup
	// temporary chats with a running answer
	temporary map[*Temporary]bool
}

// NewEngine returns an engine without running turns.
func NewEngine(d Deps) *Engine {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	return &Engine{
		turns: d.Turns, past: d.History, contexts: d.Contexts, drafts: d.Drafts, toolCalls: d.Calls,
		journals: d.Journals, models: d.Models, branches: d.Branches, publish: d.Publish, counter: d.Counter,
		settings: d.Settings, redact: d.Redact, shrink: d.Shrink, memory: d.Memory, tools: d.Tools, readOnly: d.ReadOnly, clock: d.Clock, log: d.Log, runs: map[chat.TurnID]*run{},
		calls: map[chat.ToolCallID]*runningCall{}, approved: map[chat.ToolCallID]bool{}, queues: map[chat.BranchID]queueState{}, unsaved: map[chat.TurnID]unsaved{}, unsavedAdded: make(chan struct{}, 1), claims: map[chat.BranchID]*claim{}, temporary: map[*Temporary]bool{},
	}
}

// IncompletePolicy says what to do with an incomplete or unsent turn that blocks its branch when the next message is
// sent (SPEC 4).
type IncompletePolicy string

const (
	IncompleteRefuse  IncompletePolicy = "fail"
	IncompleteKeep    IncompletePolicy = "keep"
	IncompleteDiscard IncompletePolicy = "discard"
)

// Message is a message to send.
type Message struct {
	Branch     chat.BranchID
	Content    chat.Message
	Model      string // configured name; empty: the session's, else the default
	Effort     string // of this message; empty: the session's
	Incomplete IncompletePolicy
	RetryOf    chat.TurnID
	// FromDraft: the text was the branch's draft, which acceptance deletes.
	FromDraft bool
	queued    chat.QueuedID // it waited in the queue, from which acceptance removes it
}

// Handle is a running turn.
type Handle struct {
	Turn chat.Turn // as accepted
	run  *run
}

// Wait returns the turn when its answer is final, incomplete or failed. An error comes from ctx or the database; a
// failed turn is not an error.
func (h *Handle) Wait(ctx context.Context) (chat.Turn, error) {
	select {
	case <-h.run.done:
		return h.run.turn, h.run.endErr
	case <-ctx.Done():
		return h.Turn, ctx.Err()
	}
}

// Send makes the message durable and starts the turn. When it returns without error the prompt is saved; the answer
// is sent to the Publisher.
func (e *Engine) Send(ctx context.Context, m Message) (*Handle, error) {
	if err := checkContent(m.Content); err != nil {
		return nil, err
	}
	model, err := e.ownBranch(ctx, &m)
	if err != nil {
		return nil, err
	}
	model.Endpoint.Effort = cmp.Or(m.Effort, model.Endpoint.Effort)
	if m.Content, err = e.freeze(ctx, m.Content, model); err != nil {
		return nil, err
	}
	return e.accept(ctx, m, model)
}

// ownBranch resolves a message's model and, once it can be used, the branch to which this device writes: a branch of
// another device continues here on one that begins at its end.
func (e *Engine) ownBranch(ctx context.Context, m *Message) (Model, error) {
	model, err := e.modelFor(ctx, m.Branch, m.Model)
	if err != nil {
		return model, err
	}
	b, err := e.past.Branch(ctx, m.Branch)
	if err != nil || !b.Elsewhere {
		return model, err
	}
	if m.Branch, err = e.branches.Own(ctx, m.Branch); err != nil {
		return model, err
	}
	return e.modelFor(ctx, m.Branch, m.Model)
}

// accept runs TX-0 and starts the turn. A turn that blocks the branch is resolved once, according to the policy.
func (e *Engine) accept(ctx context.Context, m Message, model Model) (*Handle, error) {
	in := chat.Acceptance{
		BranchID: m.Branch, User: m.Content, Provider: model.Endpoint.Provider, Model: model.Endpoint.Name,
		RetryOf: m.RetryOf, ClearDraft: m.FromDraft, Queued: m.queued,
	}
	h, err := e.begin(ctx, in, model)
	if code := chat.CodeOf(err); code != chat.CodeIncomplete && code != chat.CodeBusy {
		return h, err
	}
	cleared, cerr := e.resolveBlockingTurn(ctx, m.Branch, m.Incomplete)
	if cerr != nil {
		return nil, cerr
	}
	if !cleared && chat.CodeOf(err) == chat.CodeIncomplete {
		return nil, err
	}
	return e.begin(ctx, in, model) // a different turn may block it now
}

func (e *Engine) begin(ctx context.Context, in chat.Acceptance, model Model) (*Handle, error) {
	e.startMu.RLock()
	defer e.startMu.RUnlock()
	turn, err := e.turns.Accept(ctx, in)
	if err != nil {
		return nil, err
	}
	e.changed(chat.ChangeTurn, string(turn.ID), turn.SessionID)
	e.changed(chat.ChangeSessions, string(turn.SessionID), turn.SessionID)
	return e.start(turn, model, 0)
}

// resolveBlockingTurn resolves the turn that blocks a branch, if the policy allows it, and reports whether none blocks
// it now. A turn without a run in this process is first recovered from its journal.
func (e *Engine) resolveBlockingTurn(ctx context.Context, branch chat.BranchID, policy IncompletePolicy) (bool, error) {
	e.startMu.Lock() // a turn that another caller is starting is registered then
	last, ok, err := e.past.LastTurn(ctx, branch)
	running := e.IsRunning(last.ID)
	e.startMu.Unlock()
	if err != nil || !ok || running {
		return false, err
	}
	if suspended, err := e.suspended(ctx, last); err != nil || suspended {
		return false, cmp.Or(err, waitsForDecision(last))
	}
	if last.Phase == chat.PhaseResponding && !last.Incomplete() {
		if _, err := e.recoverIdle(ctx, last.ID); err != nil {
			return false, err
		}
		if last, err = e.past.Turn(ctx, last.ID); err != nil {
			return false, err
		}
	}
	switch {
	case last.Phase.Finalized() || last.Phase == chat.PhaseFailed:
		return true, nil
	case policy == IncompleteKeep && last.Incomplete():
		_, err = e.Keep(ctx, last.ID)
		return err == nil, err
	case policy == IncompleteKeep || policy == IncompleteDiscard:
		_, err = e.Discard(ctx, last.ID)
		return err == nil, err
	}
	return false, nil
}

// CanUse returns why a model cannot be used now; nil if it can. An empty name is the default.
func (e *Engine) CanUse(ctx context.Context, model string) error {
	_, err := e.models.Resolve(ctx, model)
	return err
}

// CanMerge returns why the model of a message on a branch cannot combine answers: it cannot be used, or it is recall,
// which only quotes.
func (e *Engine) CanMerge(ctx context.Context, branch chat.BranchID, model string) error {
	m, err := e.modelFor(ctx, branch, model)
	if err == nil && m.Provider.Name() == recallModel {
		err = chat.Errorf(chat.CodeInvalid, "answers.merge", "recall quotes your history and cannot merge answers. Nothing was sent.").
			WithHint("choose another model; on the command line, with --model")
	}
	return err
}

// checkContent refuses content that cannot be stored unchanged.
func checkContent(m chat.Message) error {
	if m.Role != chat.RoleUser || m.IsEmpty() {
		return chat.Errorf(chat.CodeInvalid, "turn.send", "The message is empty; nothing was sent.")
	}
	for _, b := range m.Blocks {
		t, ok := b.(chat.Text)
		if ok && !utf8.ValidString(t.Text) {
			at := strings.IndexFunc(t.Text, func(r rune) bool { return r == utf8.RuneError })
			return chat.Errorf(chat.CodeInvalid, "turn.send", "The message is not valid UTF-8 (near byte %d); nothing was sent.", at).
				WithHint("convert it first, for instance with iconv -t UTF-8")
		}
	}
	return nil
}

// modelFor resolves the model for a message, with the session's settings.
func (e *Engine) modelFor(ctx context.Context, branch chat.BranchID, name string) (Model, error) {
	b, err := e.past.Branch(ctx, branch)
	if err != nil {
		return Model{}, err
	}
	s, err := e.past.Session(ctx, b.SessionID)
	if err != nil {
		return Model{}, err
	}
	name = cmp.Or(name, s.Model)
	m, err := e.models.Resolve(ctx, name)
	if err != nil {
		return m, err
	}
	ep := &m.Endpoint
	mode, err := e.toolsMode(ctx, s)
	if err != nil {
		return m, err
	}
	ep.ToolsMode = cmp.Or(mode, ep.ToolsMode)
	ep.CacheKey, ep.Branch, ep.Temperature, ep.Effort = string(branch), branch, s.Temperature, s.Effort
	_, inProject, err := e.projectOf(ctx, s)
	ep.Scope = e.scopeOf(s, inProject, ep.Provider)
	return m, err
}

// start starts a run in its first state. index is the step to run.
func (e *Engine) start(turn chat.Turn, model Model, index int) (*Handle, error) {
	return e.startAt(turn, model, index, (*run).prepare)
}

// startAt is start in another state.
func (e *Engine) startAt(turn chat.Turn, model Model, index int, first func(*run, context.Context) state) (*Handle, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, chat.Errorf(chat.CodeCancelled, "turn.start", "The program is closing. Your message is saved and shown as not sent at the next start.")
	}
	if e.runs[turn.ID] != nil {
		return nil, chat.Errorf(chat.CodeBusy, "turn.start", "This turn is already running.")
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &run{e: e, turn: turn, accepted: turn, model: model, index: index, first: first, cancel: cancel, done: make(chan struct{})}
	e.runs[turn.ID] = r
	delete(e.unsaved, turn.ID)
	e.wg.Add(1)
	go r.loop(ctx)
	return &Handle{Turn: turn, run: r}, nil
}

// finished is called once by each run when its turn is saved.
func (e *Engine) finished(r *run) {
	e.unregister(r)
	r.cancel(nil)
	close(r.done)
	e.changed(chat.ChangeTurn, string(r.turn.ID), r.turn.SessionID)
	e.changed(chat.ChangeSessions, string(r.turn.SessionID), r.turn.SessionID)
	e.changed(chat.ChangeJobs, "", r.turn.SessionID)
	e.afterRun(r)
	e.wg.Done()
}

func (e *Engine) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

// IsRunning reports whether this process runs the turn.
func (e *Engine) IsRunning(id chat.TurnID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.runs[id] != nil
}

// Live returns the stream of a running turn as shown so far.
func (e *Engine) Live(id chat.TurnID) (Live, bool) {
	e.mu.Lock()
	r := e.runs[id]
	e.mu.Unlock()
	if r == nil {
		return Live{}, false
	}
	return r.live()
}

// LiveStep is Live for the running step.
func (e *Engine) LiveStep(id chat.StepID) (Live, bool) {
	e.mu.Lock()
	runs := make([]*run, 0, len(e.runs))
	for _, r := range e.runs {
		runs = append(runs, r)
	}
	e.mu.Unlock()
	for _, r := range runs {
		if l, ok := r.live(); ok && l.Frame.Step == id {
			return l, true
		}
	}
	return Live{}, false
}

// Running lists the running turns of this process.
func (e *Engine) Running() []chat.TurnID {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]chat.TurnID, 0, len(e.runs))
	for id := range e.runs {
		out = append(out, id)
	}
	return out
}

// Close ends every stream, keeps the partial answers, and waits until it is saved or ctx ends. It may be called twice.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	temporary := slices.Collect(maps.Keys(e.temporary))
	for _, r := range e.runs {
		r.cancel(errClosing)
	}
	e.mu.Unlock()
	for _, t := range temporary { // not under mu: a chat locks itself first
		t.cancelWith(errClosing)
	}
	done := make(chan struct{})
	go func() { e.wg.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("turns still running: %w", ctx.Err())
	}
}

func (e *Engine) changed(kind chat.ChangeKind, id string, s chat.SessionID) {
	e.publish.Change(chat.Change{Kind: kind, ID: id, Session: s})
}
