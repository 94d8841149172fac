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

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/prompt"
)

// Deps are what an Engine is built from; all are required but Log and Clock.
type Deps struct {
	Turns    TurnStore
	History  HistoryStore
	Contexts ContextStore
	Drafts   DraftStore
	Calls    CallStore
	Journals *journal.Journals
	Models   Models
	Branches Brancher
	Publish  Publisher
	Counter  Counter
	Settings func() Settings
	// Redact takes secrets out of what leaves (SPEC 13); nil leaves it.
	Redact func(string) (string, []prompt.Redaction)
	// Shrink asks the librarian for a head summary of at most target tokens, for
	// one request; "" if it has none. nil: it is trimmed.
	Shrink func(ctx context.Context, t chat.Turn, summary string, target int) string
	// Memory is searched for each turn; nil: nothing is remembered.
	Memory Memory
	// Tools are what models may call; nil: there are none.
	Tools Tools
	// ReadOnly: nothing may be written; turns can be looked at and previewed.
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
	branches  Brancher
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

	queueMu sync.Mutex // see sendQueued
	// startMu is held, shared, from when a turn is made open in the database until its
	// run is known; recovery holds it alone, and so takes no turn that is about to run
	// for one that nobody runs.
	startMu sync.RWMutex

	extracts extracts

	mu   sync.Mutex
	runs map[chat.TurnID]*run
	// calls are the tool calls that run
	calls map[chat.ToolCallID]*runningCall
	// approved are calls that a person allowed since the program started, see mayExecute.
	approved map[chat.ToolCallID]bool
	// behind are the branches on which a message was queued behind a turn whose calls wait
	behind map[chat.BranchID]bool
	// unsaved are turns whose end could not be written, and what there is of them
	unsaved map[chat.TurnID]unsaved
	// unsavedAdded says that one was added
	unsavedAdded chan struct{}
	// claims counts, by branch, who is about to send or keep a queued message itself
	claims map[chat.BranchID]int
	closed bool
	wg     sync.WaitGroup
	// temporary chats whose answer is arriving
	temporary map[*Temporary]bool
}

// NewEngine returns an engine that runs nothing yet.
func NewEngine(d Deps) *Engine {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	return &Engine{
		turns: d.Turns, past: d.History, contexts: d.Contexts, drafts: d.Drafts, toolCalls: d.Calls,
		journals: d.Journals, models: d.Models, branches: d.Branches, publish: d.Publish, counter: d.Counter,
		settings: d.Settings, redact: d.Redact, shrink: d.Shrink, memory: d.Memory, tools: d.Tools, readOnly: d.ReadOnly, clock: d.Clock, log: d.Log, runs: map[chat.TurnID]*run{},
		calls: map[chat.ToolCallID]*runningCall{}, approved: map[chat.ToolCallID]bool{}, behind: map[chat.BranchID]bool{}, unsaved: map[chat.TurnID]unsaved{}, unsavedAdded: make(chan struct{}, 1), claims: map[chat.BranchID]int{}, temporary: map[*Temporary]bool{},
	}
}

// IncompletePolicy says the outcome of an incomplete or unsent turn that blocks
// its branch when the next message is sent (SPEC 4).
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
	// FromDraft: the text was the branch's draft, which the acceptance clears.
	FromDraft bool
}

// Handle is a turn under way.
type Handle struct {
	Turn chat.Turn // as accepted
	run  *run
}

// Wait returns the turn when its answer is final, incomplete or failed. The
// error is of ctx or of the database; a failed turn is not an error.
func (h *Handle) Wait(ctx context.Context) (chat.Turn, error) {
	select {
	case <-h.run.done:
		return h.run.turn, h.run.settleErr
	case <-ctx.Done():
		return h.Turn, ctx.Err()
	}
}

// Send makes the message durable and starts the turn. When it returns without
// error the prompt is safe; the answer follows through the Publisher.
func (e *Engine) Send(ctx context.Context, m Message) (*Handle, error) {
	if err := checkContent(m.Content); err != nil {
		return nil, err
	}
	model, err := e.modelFor(ctx, m.Branch, m.Model)
	if err != nil {
		return nil, err
	}
	if m.Effort != "" {
		model.Endpoint.Effort = m.Effort
	}
	if m.Content, err = e.freeze(ctx, m.Content, model); err != nil {
		return nil, err
	}
	return e.accept(ctx, m, model)
}

// accept runs TX-0 and starts the turn. A turn that blocks the branch is settled by the
// policy, once.
func (e *Engine) accept(ctx context.Context, m Message, model Model) (*Handle, error) {
	in := chat.Acceptance{
		BranchID: m.Branch, User: m.Content, Provider: model.Endpoint.Provider, Model: model.Endpoint.Name,
		RetryOf: m.RetryOf, ClearDraft: m.FromDraft,
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
	return e.begin(ctx, in, model) // what blocks it now may be another thing than before
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

// resolveBlockingTurn settles the turn that blocks a branch, if the policy says how. A turn
// that no run of this process owns is first recovered from its journal.
func (e *Engine) resolveBlockingTurn(ctx context.Context, branch chat.BranchID, policy IncompletePolicy) (bool, error) {
	last, ok, err := e.past.LastTurn(ctx, branch)
	if err != nil || !ok || e.IsRunning(last.ID) {
		return false, err
	}
	if waits, err := e.suspended(ctx, last); err != nil || waits {
		return false, cmp.Or(err, waitsForPerson(last))
	}
	if last.Phase == chat.PhaseResponding && !last.Incomplete() {
		if _, err := e.recoverLeft(ctx, last.ID); err != nil {
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

// CanUse reports why a model cannot be used now; nil if it can. An empty name is
// the default.
func (e *Engine) CanUse(ctx context.Context, model string) error {
	_, err := e.models.Resolve(ctx, model)
	return err
}

// checkContent refuses what cannot be kept as it is.
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

// modelFor resolves the model a message goes to, with the session's own settings.
func (e *Engine) modelFor(ctx context.Context, branch chat.BranchID, name string) (Model, error) {
	b, err := e.past.Branch(ctx, branch)
	if err != nil {
		return Model{}, err
	}
	s, err := e.past.Session(ctx, b.SessionID)
	if err != nil {
		return Model{}, err
	}
	if name == "" {
		name = s.Model
	}
	m, err := e.models.Resolve(ctx, name)
	if err != nil {
		return m, err
	}
	ep := &m.Endpoint
	mode, err := e.toolsMode(ctx, s)
	if err != nil {
		return m, err
	}
	if mode != "" {
		ep.ToolsMode = mode
	}
	ep.CacheKey, ep.Branch, ep.Temperature, ep.Effort = string(branch), branch, s.Temperature, s.Effort
	return m, nil
}

// start begins a run at its first state. index is the step to make.
func (e *Engine) start(turn chat.Turn, model Model, index int) (*Handle, error) {
	return e.startAt(turn, model, index, (*run).prepare)
}

// startAt is start at another state.
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

// finished is called once by each run when its turn is in the database.
func (e *Engine) finished(r *run) {
	e.left(r)
	r.cancel(nil)
	close(r.done)
	e.changed(chat.ChangeTurn, string(r.turn.ID), r.turn.SessionID)
	e.changed(chat.ChangeSessions, string(r.turn.SessionID), r.turn.SessionID)
	e.changed(chat.ChangeJobs, "", r.turn.SessionID)
	e.afterRun(r)
	e.wg.Done()
}

// afterRun sends the branch's queued message once the answer before it is final.
// After a failure it stays a draft: the user may want to change it.
func (e *Engine) afterRun(r *run) {
	defer e.releaseQueue(r.turn.BranchID) // left counted it
	if r.settleErr != nil || e.isClosed() {
		return
	}
	if r.waits { // what was queued stays queued
		if err := e.continueTurn(context.Background(), r.turn.ID); err != nil { // a decision came while the run ended
			e.log.Warn("a turn with tool calls could not continue", "turn", r.turn.ID, "err", err)
		}
		return
	}
	e.sendQueued(context.Background(), r.turn.BranchID, r.turn.SessionID, r.turn.Phase.Finalized())
}

// sendQueued sends the branch's queued draft, or with send false, and when it
// cannot be sent, turns it back into a plain draft. One at a time: two callers
// must not send one draft twice.
func (e *Engine) sendQueued(ctx context.Context, branch chat.BranchID, session chat.SessionID, send bool) {
	e.queueMu.Lock()
	defer e.queueMu.Unlock()
	d, ok, err := e.drafts.Draft(ctx, branch)
	if err != nil || !ok || !d.Queued {
		return
	}
	if send {
		_, err = e.Send(ctx, Message{Branch: branch, Content: d.Message, FromDraft: true})
		if err == nil || chat.CodeOf(err) == chat.CodeBusy { // busy: whoever runs will send it
			e.changed(chat.ChangeDraft, string(branch), session)
			return
		}
		e.log.Warn("the queued message was not sent", "branch", branch, "err", err)
		if _, still, derr := e.drafts.Draft(ctx, branch); derr == nil && !still {
			return // it was accepted before the program closed: it is a turn now
		}
	}
	e.release(ctx, d, session)
}

// release turns a queued draft back into a plain one, unless another took its place.
func (e *Engine) release(ctx context.Context, d chat.Draft, session chat.SessionID) {
	released, err := e.drafts.ReleaseDraft(ctx, d)
	if err != nil {
		e.log.Warn("the queued message could not be kept as a draft", "branch", d.BranchID, "err", err)
	}
	if released {
		e.changed(chat.ChangeDraft, string(d.BranchID), session)
	}
}

// SendOrQueue is Send, but while another turn of the branch runs the message
// becomes its queued draft, sent as soon as that answer is final. The handle is
// nil then.
func (e *Engine) SendOrQueue(ctx context.Context, m Message) (*Handle, error) {
	h, err := e.Send(ctx, m)
	if chat.CodeOf(err) != chat.CodeBusy {
		return h, err
	}
	b, berr := e.past.Branch(ctx, m.Branch)
	if berr != nil {
		return nil, berr
	}
	e.claimQueue(m.Branch)
	defer e.releaseQueue(m.Branch)
	if err := e.drafts.SaveDraft(ctx, chat.Draft{BranchID: m.Branch, Message: m.Content, Queued: true}); err != nil {
		return nil, err
	}
	e.changed(chat.ChangeDraft, string(m.Branch), b.SessionID)
	// The running turn may have ended before the draft was there to be found.
	if last, ok, err := e.past.LastTurn(ctx, m.Branch); err == nil && ok && !e.IsRunning(last.ID) && !e.queuesBehind(ctx, last) {
		e.sendQueued(ctx, m.Branch, b.SessionID, last.Phase.Finalized())
	}
	return nil, nil
}

// queuesBehind reports a turn whose calls wait, and keeps in mind that a message waits
// behind it.
func (e *Engine) queuesBehind(ctx context.Context, last chat.Turn) bool {
	waits, err := e.suspended(ctx, last)
	if err != nil || !waits {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.behind[last.BranchID] = true
	return true
}

// claimQueue says that a branch's queued message is being seen to, until followed: recovery
// then leaves it alone.
func (e *Engine) claimQueue(branch chat.BranchID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.claims[branch]++
}

func (e *Engine) releaseQueue(branch chat.BranchID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.claims[branch]--; e.claims[branch] == 0 {
		delete(e.claims, branch)
	}
}

// isClaimed reports that a turn runs or is still to be written, or that what follows it
// is being seen to: between these there is no moment.
func (e *Engine) isClaimed(last chat.Turn, branch chat.BranchID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.runs[last.ID] != nil || e.unsaved[last.ID].write != nil || e.claims[branch] > 0
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

// LiveStep is Live by the step that streams.
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

// Running lists the turns this process runs.
func (e *Engine) Running() []chat.TurnID {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]chat.TurnID, 0, len(e.runs))
	for id := range e.runs {
		out = append(out, id)
	}
	return out
}

// Close ends every stream, keeps what arrived, and waits for the database to
// hold it or for ctx. It is safe to call twice.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	temporary := slices.Collect(maps.Keys(e.temporary))
	for _, r := range e.runs {
		r.cancel(errClosing)
	}
	e.mu.Unlock()
	for _, t := range temporary { // not under mu: a chat takes its own lock before ours
		t.cancelled(errClosing)
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
