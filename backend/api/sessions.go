package api

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/untrusted"
	"contextinfinity/backend/prompt"
)

// Sessions lists, opens and organizes conversations.
type Sessions struct{ c *Core }

// NewSessions returns the service.
func NewSessions(c *Core) *Sessions { return &Sessions{c} }

// firstPage is how many of the newest turns Open returns; maxPage limits Turns.
const (
	firstPage = 60
	maxPage   = 200
)

// maxListed limits the sessions that the window lists. Older ones are found by title, as the page tells the user.
const maxListed = 5_000

// List returns sessions, pinned first, newest first, at most maxListed. title filters.
func (s *Sessions) List(archived bool, title string) ([]SessionRow, error) {
	ctx := s.c.ctx()
	sums, err := s.c.Sessions.Sessions(ctx, chat.SessionQuery{Archived: archived, Title: strings.TrimSpace(title), Limit: maxListed})
	if err != nil {
		return nil, err
	}
	running := s.c.runningSessions(ctx)
	waiting, err := s.c.waitingSessions(ctx)
	if err != nil {
		return nil, err
	}
	return lists.Map(sums, func(sum chat.SessionSummary) SessionRow { return sessionRow(sum, running[sum.ID], waiting[sum.ID]) }), nil
}

// waitingSessions returns the sessions with a tool call that waits for the user.
func (c *Core) waitingSessions(ctx context.Context) (map[chat.SessionID]bool, error) {
	calls, err := c.Store.WaitingCalls(ctx)
	out := make(map[chat.SessionID]bool, len(calls))
	for _, call := range calls {
		out[call.SessionID] = true
	}
	return out, err
}

func (c *Core) runningSessions(ctx context.Context) map[chat.SessionID]bool {
	out := map[chat.SessionID]bool{}
	for _, id := range c.Turns.Running() {
		if t, err := c.Store.Turn(ctx, id); err == nil {
			out[t.SessionID] = true
		}
	}
	return out
}

func (c *Core) row(ctx context.Context, id chat.SessionID) (SessionRow, error) {
	found, err := c.Sessions.Sessions(ctx, chat.SessionQuery{ID: id})
	if err == nil && len(found) == 0 {
		_, err = c.Sessions.Session(ctx, id)
	}
	if err != nil || len(found) == 0 {
		return SessionRow{}, err
	}
	waiting, err := c.waitingSessions(ctx)
	return sessionRow(found[0], c.runningSessions(ctx)[id], waiting[id]), err
}

// Create creates an empty session.
func (s *Sessions) Create(title string) (SessionRow, error) {
	ctx := s.c.ctx()
	sess, _, err := s.c.Sessions.CreateSession(ctx, chat.NewSession{Title: title})
	if err != nil {
		return SessionRow{}, err
	}
	return s.c.row(ctx, sess.ID)
}

// Rename changes a session's title.
func (s *Sessions) Rename(id, title string) error {
	return s.c.Sessions.RenameSession(s.c.ctx(), chat.SessionID(id), title)
}

// Archive hides a session or shows it again. Nothing is deleted.
func (s *Sessions) Archive(id string, archived bool) error {
	return s.c.Sessions.ArchiveSession(s.c.ctx(), chat.SessionID(id), archived)
}

// Pin keeps a session at the top of the list.
func (s *Sessions) Pin(id string, pinned bool) error {
	return s.c.Sessions.PinSession(s.c.ctx(), chat.SessionID(id), pinned)
}

// lastSession is the key of the setting that stores which session was open.
const lastSession = "window.last_session"

// Open returns everything that the first paint of a session needs, with the newest 60 turns. An empty branch means the
// active one.
func (s *Sessions) Open(sessionID, branchID string) (SessionSnapshot, error) {
	var snap SessionSnapshot
	ctx := s.c.ctx()
	snap.Rev = s.c.Hub.Rev()
	sess, err := s.c.Sessions.Session(ctx, chat.SessionID(sessionID))
	if err != nil {
		return snap, err
	}
	branch := chat.BranchID(branchID)
	branch = cmp.Or(branch, sess.ActiveBranch)
	if err := s.fill(ctx, &snap, sess, branch); err != nil {
		return snap, err
	}
	if s.c.Additional {
		return snap, nil // only the first window's session is opened at the next start
	}
	if err := s.c.Store.PutSetting(ctx, lastSession, sessionID); err != nil {
		s.c.Log.Warn("the open session could not be remembered", "err", err)
	}
	return snap, nil
}

func (s *Sessions) fill(ctx context.Context, snap *SessionSnapshot, sess chat.Session, branch chat.BranchID) error {
	b, err := s.c.Sessions.Branch(ctx, branch)
	if err != nil {
		return err
	}
	if b.SessionID != sess.ID {
		return chat.Errorf(chat.CodeNotFound, "session.open", "Branch %s belongs to another session.", branch)
	}
	if snap.Session, err = s.c.row(ctx, sess.ID); err != nil {
		return err
	}
	bs, err := s.c.Sessions.Branches(ctx, sess.ID)
	if err != nil {
		return err
	}
	snap.Branches = make([]BranchView, 0, len(bs))
	for _, x := range bs {
		snap.Branches = append(snap.Branches, branchView(x, sess.ActiveBranch))
	}
	if snap.FirstSeq, snap.LastSeq, _, err = s.c.Store.LineageBounds(ctx, branch); err != nil {
		return err
	}
	if snap.Turns, err = s.c.page(ctx, b, chat.LineageQuery{Branch: branch, Limit: firstPage, Newest: true}); err != nil {
		return err
	}
	if snap.Header, err = s.c.header(ctx, sess, b, sess.Model); err != nil {
		return err
	}
	if snap.Queue, err = s.c.queue(ctx, branch); err != nil {
		return err
	}
	snap.Draft, err = s.c.draft(ctx, branch)
	return err
}

func (c *Core) page(ctx context.Context, b chat.Branch, q chat.LineageQuery) ([]TurnView, error) {
	turns, err := c.Store.Lineage(ctx, q)
	if err != nil {
		return nil, err
	}
	views, err := c.turnViews(ctx, b, turns)
	if err != nil {
		return nil, err
	}
	return views, c.notices(ctx, b.ID, views)
}

// Turns returns the lineage between two turn_seqs, inclusive, at most 200.
func (s *Sessions) Turns(branchID string, fromSeq, toSeq int64) (TurnPage, error) {
	ctx, rev := s.c.ctx(), s.c.Hub.Rev()
	b, err := s.c.Sessions.Branch(ctx, chat.BranchID(branchID))
	if err != nil {
		return TurnPage{}, err
	}
	turns, err := s.c.page(ctx, b, chat.LineageQuery{Branch: b.ID, FromSeq: fromSeq, ToSeq: toSeq, Limit: maxPage})
	return TurnPage{Rev: rev, Turns: turns}, err
}

// Turn returns one turn as a branch sees it.
func (s *Sessions) Turn(branchID, turnID string) (TurnView, error) {
	ctx := s.c.ctx()
	b, err := s.c.Sessions.Branch(ctx, chat.BranchID(branchID))
	if err != nil {
		return TurnView{}, err
	}
	t, err := s.c.Store.Turn(ctx, chat.TurnID(turnID))
	if err != nil {
		return TurnView{}, err
	}
	views, err := s.c.turnViews(ctx, b, []chat.Turn{t})
	if err != nil {
		return TurnView{}, err
	}
	return views[0], s.c.notices(ctx, b.ID, views)
}

// Header returns the header of a branch for a model; an empty model means the session's.
func (s *Sessions) Header(branchID, model string) (Header, error) {
	ctx := s.c.ctx()
	b, err := s.c.Sessions.Branch(ctx, chat.BranchID(branchID))
	if err != nil {
		return Header{}, err
	}
	sess, err := s.c.Sessions.Session(ctx, b.SessionID)
	if err != nil {
		return Header{}, err
	}
	model = cmp.Or(model, sess.Model)
	return s.c.header(ctx, sess, b, model)
}

func (c *Core) header(ctx context.Context, sess chat.Session, b chat.Branch, model string) (Header, error) {
	h := Header{
		SessionID: string(sess.ID), SessionTitle: chat.BoundTitle(sess.Title), BranchID: string(b.ID), BranchLabel: chat.BoundTitle(b.Label),
		HeadSeq: b.HeadSeq, HeadShortID: chat.ShortID(b.HeadState), Model: model,
	}
	var err error
	if h.CoveredSeq, err = c.Inspecting.StateTurnSeq(ctx, b.HeadState); err != nil {
		return h, err
	}
	pending, err := c.Store.PendingTurns(ctx, b.ID)
	if err != nil {
		return h, err
	}
	h.Pending = len(pending)
	if err := c.headerTurn(ctx, &h, b); err != nil {
		return h, err
	}
	project, scope, err := c.Turns.ProjectScope(ctx, sess, model)
	if err != nil {
		return h, err
	}
	h.ProjectID, h.Project, h.Scope, h.OwnScope = string(project.ID), project.Name, string(scope), string(sess.MemoryScope)
	p, budget, perr := c.Turns.Preview(ctx, b.ID, model, chat.UserText(" "))
	m := p.Manifest()
	u := prompt.UsageOf(m)
	if over, ok := errors.AsType[*prompt.OverBudgetError](perr); ok {
		u.Used, u.Recalled, u.Ceiling = over.Required, 0, over.Ceiling
	} else if perr != nil {
		c.Log.Warn("the context meter has no figures", "err", perr)
	}
	h.ContextTokens, h.ContextRecalled, h.ContextCeiling, h.Summaries, h.Extracts = u.Used, u.Recalled, u.Ceiling, u.Summaries, u.Extracts
	h.ContextState, h.ModelWindow, h.TokenFactor = u.State(), budget.ModelLimit, budget.Calibration
	h.Infinity = m.Policy.History != prompt.HistoryOff
	if h.Infinity && m.Provider != config.ProviderRecall {
		h.ContextMemory = max(0, min(u.Ceiling-u.Used, budget.InModelTokens(budget.Caps.Retrieved)-u.Recalled))
	}
	h.Model = cmp.Or(m.Model, h.Model)
	return h, nil
}

func (c *Core) headerTurn(ctx context.Context, h *Header, b chat.Branch) error {
	last, ok, err := c.Store.LastTurn(ctx, b.ID)
	if err != nil || !ok {
		return err
	}
	h.TurnID, h.TurnSeq, h.Phase, h.Outcome = string(last.ID), last.Seq, string(last.Phase), string(last.Outcome)
	if live, ok := c.Turns.Live(last.ID); ok {
		h.Displayed, h.Durable = live.Frame.Displayed, live.Frame.Durable
		return nil
	}
	if unsavedEnd, ok := c.Turns.UnsavedEnd(last); ok {
		h.Displayed, h.Durable, h.Outcome = unsavedEnd.Frame.Displayed, unsavedEnd.Frame.Durable, string(chat.OutcomeIncomplete)
		if unsavedEnd.Complete {
			h.Outcome = "unsaved"
		}
		return nil
	}
	steps, err := c.Store.Steps(ctx, last.ID)
	if err != nil || len(steps) == 0 {
		return err
	}
	s := steps[len(steps)-1]
	h.Displayed, h.Durable = s.DisplayedBytes, s.DurableBytes
	return nil
}

// Fork starts a branch after a turn and switches to it. With before it starts a branch before the turn, for a new version
// of its message, which makes the branch the active one when it is sent: until then other messages to the session do not
// go to this branch. The label is then that new version, which names the branch.
func (s *Sessions) Fork(turnID string, before bool, label string) (BranchView, error) {
	b, err := s.fork(chat.TurnID(turnID), before, strings.TrimSpace(label))
	if err != nil {
		return BranchView{}, err
	}
	return s.c.branch(b)
}

func (s *Sessions) fork(id chat.TurnID, before bool, label string) (chat.Branch, error) {
	if before {
		return s.c.Branches.ForEdit(s.c.ctx(), id, label)
	}
	return s.c.Branches.After(s.c.ctx(), id, label, true)
}

// Rollback starts a branch from an earlier state and switches to it. Nothing is deleted.
func (s *Sessions) Rollback(sessionID, stateID string) (BranchView, error) {
	b, err := s.c.Branches.Rollback(s.c.ctx(), chat.SessionID(sessionID), chat.StateID(stateID))
	if err != nil {
		return BranchView{}, err
	}
	return s.c.branch(b)
}

func (c *Core) branch(b chat.Branch) (BranchView, error) {
	bs, err := c.Sessions.Branches(c.ctx(), b.SessionID)
	if err != nil {
		return BranchView{}, err
	}
	for _, x := range bs {
		if x.ID == b.ID {
			return branchView(x, b.ID), nil
		}
	}
	return branchView(chat.BranchSummary{Branch: b}, b.ID), nil
}

// Switch makes a branch the active one of its session.
func (s *Sessions) Switch(sessionID, branchID string) error {
	return s.c.Branches.Switch(s.c.ctx(), chat.SessionID(sessionID), chat.BranchID(branchID))
}

// RenameBranch changes a branch's label.
func (s *Sessions) RenameBranch(branchID, label string) error {
	return s.c.Sessions.RenameBranch(s.c.ctx(), chat.BranchID(branchID), label)
}

// SessionSettings returns a session's own settings.
func (s *Sessions) SessionSettings(sessionID string) (SessionSettings, error) {
	sess, err := s.c.Sessions.Session(s.c.ctx(), chat.SessionID(sessionID))
	v := SessionSettings{SystemPrompt: sess.SystemPrompt, Effort: sess.Effort}
	if sess.Temperature != nil {
		v.Temperature = strconv.FormatFloat(*sess.Temperature, 'f', -1, 64)
	}
	return v, err
}

// maxInstructions limits imported instructions that are shown, in bytes. It is far more than could be sent.
const maxInstructions = 256 << 10

// ImportedInstructions returns the instructions that came with a session's import.
func (s *Sessions) ImportedInstructions(sessionID string) (ImportedInstructions, error) {
	sess, err := s.c.Sessions.Session(s.c.ctx(), chat.SessionID(sessionID))
	if err != nil {
		return ImportedInstructions{}, err
	}
	v := ImportedInstructions{Source: sess.Source}
	first, err := s.c.Store.Lineage(s.c.ctx(), chat.LineageQuery{Branch: sess.ActiveBranch, Limit: 1})
	if err != nil || len(first) == 0 {
		return v, err
	}
	if v.Text = untrusted.Visible(chat.ImportedInstructions(first[0])); len(v.Text) > maxInstructions {
		v.Text, v.Cut = strings.ToValidUTF8(v.Text[:maxInstructions], ""), true
	}
	return v, nil
}

// SetSessionSettings changes a session's own settings, starting with the next message.
func (s *Sessions) SetSessionSettings(sessionID string, v SessionSettings) error {
	temperature, err := parseTemperature("session.settings", v.Temperature)
	if err != nil {
		return err
	}
	return s.c.Sessions.ChangeSettings(s.c.ctx(), chat.SessionID(sessionID), func(set *chat.SessionSettings) {
		set.SystemPrompt, set.Effort, set.Temperature = v.SystemPrompt, v.Effort, temperature
	})
}

// Draft returns a branch's unsent text.
func (s *Sessions) Draft(branchID string) (Draft, error) {
	return s.c.draft(s.c.ctx(), chat.BranchID(branchID))
}

func (c *Core) draft(ctx context.Context, branch chat.BranchID) (Draft, error) {
	d, _, err := c.Store.Draft(ctx, branch)
	if err != nil {
		return draftView(d.Message), err
	}
	return c.unsent(ctx, d.Message)
}

// unsent returns a message that was not sent as a draft, with the names of its attached memory.
func (c *Core) unsent(ctx context.Context, m chat.Message) (Draft, error) {
	v := draftView(m)
	var err error
	before, edited, _, _ := m.Blocks.AtEdit()
	if v.Memories, err = c.chips(ctx, before.Memories()); err == nil && v.Edit != nil {
		v.Edit.Memories, err = c.chips(ctx, edited.Memories())
	}
	return v, err
}

// SaveDraft stores a branch's unsent text. It may refer to deleted chunks, so that no text is lost.
func (s *Sessions) SaveDraft(branchID string, draft Draft) error {
	m, err := draftMessage(draft)
	if err != nil {
		return err
	}
	return s.c.Store.SaveDraft(s.c.ctx(), chat.Draft{BranchID: chat.BranchID(branchID), Message: m})
}
