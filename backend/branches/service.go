// Package branches forks, rolls back and switches branches (SPEC 4). Nothing is ever deleted: a rollback is a fork
// from an earlier state.
package branches

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"contextinfinity/backend/chat"
)

// Store is the part of the database that branching needs.
type Store interface {
	Session(context.Context, chat.SessionID) (chat.Session, error)
	Branch(context.Context, chat.BranchID) (chat.Branch, error)
	Turn(context.Context, chat.TurnID) (chat.Turn, error)
	Lineage(context.Context, chat.LineageQuery) ([]chat.Turn, error)
	State(context.Context, chat.StateID) (chat.State, error)
	StateTurnSeq(context.Context, chat.StateID) (int64, error)
	Fork(context.Context, chat.ForkPoint) (chat.Branch, error)
	Continuation(ctx context.Context, branch chat.BranchID, after chat.TurnID) (chat.BranchID, bool, error)
	ForkBase(ctx context.Context, branch chat.BranchID, after chat.TurnID) (chat.State, []chat.Turn, error)
	SwitchBranch(context.Context, chat.SessionID, chat.BranchID) error
	ArchiveBranch(context.Context, chat.BranchID, bool) error
}

// Committer commits the pending turns of a branch up to and including one.
type Committer interface {
	CommitThrough(context.Context, chat.Turn) error
	// Summarize updates a state summary by rule, without a model.
	Summarize(ctx context.Context, branch chat.BranchID, base chat.State, turns []chat.Turn) (chat.ForkState, error)
}

// Publisher is notified of changes that the window has to reload.
type Publisher interface {
	Change(chat.Change)
}

// Service is the only way to create or change branches.
type Service struct {
	store   Store
	commit  Committer
	publish Publisher
	owning  sync.Mutex // see Own
}

// New returns a Service.
func New(s Store, c Committer, p Publisher) *Service {
	return &Service{store: s, commit: c, publish: p}
}

// After starts a branch that shares everything up to and including the turn.
func (s *Service) After(ctx context.Context, id chat.TurnID, label string, activate bool) (chat.Branch, error) {
	t, err := s.store.Turn(ctx, id)
	if err != nil {
		return chat.Branch{}, err
	}
	return s.after(ctx, t, chat.ForkPoint{Label: labelOr(label, t), Activate: activate})
}

// Before starts a branch that shares everything before the turn, but not the turn itself: this is how a message is
// edited or answered again. The branch takes its place, so it has the pins of the turn's branch as they are now.
func (s *Service) Before(ctx context.Context, id chat.TurnID, label string, activate bool) (chat.Branch, error) {
	t, err := s.store.Turn(ctx, id)
	if err != nil {
		return chat.Branch{}, err
	}
	previous, err := s.store.Lineage(ctx, chat.LineageQuery{Branch: t.BranchID, ToSeq: t.Seq - 1, Limit: 1, Newest: true})
	if t.Seq > 1 && err != nil {
		return chat.Branch{}, err
	}
	if t.Seq <= 1 || len(previous) == 0 {
		return s.fork(ctx, chat.ForkPoint{SessionID: t.SessionID, Branch: t.BranchID, Label: labelOr(label, t), Activate: activate, KeepPins: true})
	}
	return s.after(ctx, previous[0], chat.ForkPoint{Label: labelOr(label, t), Activate: activate, KeepPins: true})
}

// ForEdit is Before for a new version of the turn's message, which names the branch. The branch becomes active when the
// message is sent.
func (s *Service) ForEdit(ctx context.Context, id chat.TurnID, message string) (chat.Branch, error) {
	t, err := s.store.Turn(ctx, id)
	if err != nil {
		return chat.Branch{}, err
	}
	t.User = chat.UserText(message)
	return s.Before(ctx, id, branchName("from", t), false)
}

func (s *Service) after(ctx context.Context, t chat.Turn, p chat.ForkPoint) (chat.Branch, error) {
	if err := forkable(t); err != nil {
		return chat.Branch{}, err
	}
	if err := s.commitThrough(ctx, t); err != nil {
		return chat.Branch{}, err
	}
	p.SessionID, p.Branch, p.After = t.SessionID, t.BranchID, t.ID
	return s.fork(ctx, p)
}

// Own returns the branch to which this device writes in place of a branch: that one, unless another device began it.
// Then it is the branch on which it continues here after its last final turn, which becomes the active one in its place.
func (s *Service) Own(ctx context.Context, id chat.BranchID) (chat.BranchID, error) {
	s.owning.Lock() // of two messages at once, the second one continues the branch that the first one began
	defer s.owning.Unlock()
	b, err := s.store.Branch(ctx, id)
	if err != nil || !b.Elsewhere {
		return id, err
	}
	last, err := s.store.Lineage(ctx, chat.LineageQuery{Branch: id, Limit: 2, Newest: true})
	if err != nil {
		return "", err
	}
	var tip chat.Turn
	for _, t := range last { // only the last one can be unfinished
		if forkable(t) == nil && t.Seq > tip.Seq {
			tip = t
		}
	}
	own, known, err := s.store.Continuation(ctx, id, tip.ID)
	if err != nil || known {
		return own, err
	}
	if err := s.commitThrough(ctx, tip); err != nil { // it may be a turn of this device, after which the other one began the branch
		return "", err
	}
	session, err := s.store.Session(ctx, b.SessionID)
	if err != nil {
		return "", err
	}
	child, err := s.fork(ctx, chat.ForkPoint{
		SessionID: b.SessionID, Branch: id, After: tip.ID, Activate: session.ActiveBranch == id, KeepPins: true, Continues: true,
	})
	return child.ID, err
}

// commitThrough commits a turn that has ended, and those before it, unless another device does.
func (s *Service) commitThrough(ctx context.Context, t chat.Turn) error {
	if !t.Pending() && t.Phase != chat.PhaseFailed { // pending turns may precede a failed one
		return nil
	}
	return s.commit.CommitThrough(ctx, t)
}

// labelOr returns the label or, if it is empty, a name made from the turn at which the branch begins.
func labelOr(label string, t chat.Turn) string {
	if label != "" {
		return label
	}
	return branchName("from", t)
}

// branchName returns the name of a branch: the action, the turn's number and the first words of its message.
func branchName(action string, t chat.Turn) string {
	name := fmt.Sprintf("%s #%d", action, t.Seq)
	if words := t.User.Landmark(); words != "" {
		name += ": " + words
	}
	return name
}

func (s *Service) fork(ctx context.Context, p chat.ForkPoint) (chat.Branch, error) {
	if err := s.fillGap(ctx, &p); err != nil {
		return chat.Branch{}, err
	}
	b, err := s.store.Fork(ctx, p)
	if err == nil {
		s.changed(p.SessionID)
	}
	return b, err
}

// fillGap gives a fork its own state summary if it lies inside a range of turns that one state committed: the base
// state does not cover the turns between it and the fork point (SPEC 4).
func (s *Service) fillGap(ctx context.Context, p *chat.ForkPoint) error {
	base, turns, err := s.store.ForkBase(ctx, p.Branch, p.After)
	if err != nil || len(turns) == 0 {
		return err
	}
	sum, err := s.commit.Summarize(ctx, p.Branch, base, turns)
	if err == nil {
		p.Fallback = &sum
	}
	return err
}

// Rollback starts a branch from an earlier state and switches to it.
func (s *Service) Rollback(ctx context.Context, session chat.SessionID, id chat.StateID) (chat.Branch, error) {
	st, err := s.store.State(ctx, id)
	if err != nil {
		return chat.Branch{}, err
	}
	if st.SessionID != session {
		return chat.Branch{}, chat.Errorf(chat.CodeNotFound, "branches.rollback", "State %s belongs to another session.", id)
	}
	seq, err := s.store.StateTurnSeq(ctx, id)
	if err != nil {
		return chat.Branch{}, err
	}
	current, err := s.store.Session(ctx, session)
	if err != nil {
		return chat.Branch{}, err
	}
	if err := s.checkTarget(ctx, current.ActiveBranch, st.BranchID, seq); err != nil {
		return chat.Branch{}, err
	}
	if seq == 0 {
		return s.fork(ctx, chat.ForkPoint{SessionID: session, Branch: st.BranchID, Label: "rollback to the beginning", Activate: true})
	}
	turns, err := s.store.Lineage(ctx, chat.LineageQuery{Branch: st.BranchID, FromSeq: seq, ToSeq: seq, Limit: 1})
	if err != nil {
		return chat.Branch{}, err
	}
	if len(turns) == 0 {
		return chat.Branch{}, chat.Errorf(chat.CodeNotFound, "branches.rollback", "State %s covers no turn that still exists.", id)
	}
	return s.after(ctx, turns[0], chat.ForkPoint{Label: branchName("rollback to", turns[0]), Activate: true})
}

// RollbackTo starts a branch that ends with a turn of the branch's lineage, and switches to it. If the turn is still
// pending, it is committed first.
func (s *Service) RollbackTo(ctx context.Context, branch chat.BranchID, id chat.TurnID) (chat.Branch, error) {
	t, err := s.lineageTurn(ctx, branch, id)
	if err != nil {
		return chat.Branch{}, err
	}
	if err := s.checkTarget(ctx, branch, t.BranchID, t.Seq); err != nil {
		return chat.Branch{}, err
	}
	return s.after(ctx, t, chat.ForkPoint{Label: branchName("rollback to", t), Activate: true})
}

// checkTarget rejects a rollback of a branch to its own end: the new branch would be a copy under another name. The
// target of the rollback is turn seq in the lineage of source.
func (s *Service) checkTarget(ctx context.Context, branch, source chat.BranchID, seq int64) error {
	last, err := s.store.Lineage(ctx, chat.LineageQuery{Branch: branch, Limit: 1, Newest: true})
	if err != nil {
		return err
	}
	var lastSeq int64
	if len(last) > 0 {
		lastSeq = last[0].Seq
	}
	if lastSeq != seq {
		return nil
	}
	if seq > 0 && source != branch {
		found, err := s.store.Lineage(ctx, chat.LineageQuery{Branch: source, FromSeq: seq, ToSeq: seq, Limit: 1})
		if err != nil || len(found) == 0 || found[0].ID != last[0].ID {
			return err
		}
	}
	return chat.Errorf(chat.CodeConflict, "branches.rollback", "The branch already ends there: there is nothing to roll back, and no branch was created.").
		WithHint("choose an earlier turn, or fork to start a branch from here")
}

// lineageTurn returns a turn if it is in the branch's lineage.
func (s *Service) lineageTurn(ctx context.Context, branch chat.BranchID, id chat.TurnID) (chat.Turn, error) {
	t, err := s.store.Turn(ctx, id)
	if err != nil {
		return t, err
	}
	found, err := s.store.Lineage(ctx, chat.LineageQuery{Branch: branch, FromSeq: t.Seq, ToSeq: t.Seq, Limit: 1})
	if err != nil {
		return t, err
	}
	if len(found) == 0 || found[0].ID != id {
		return t, chat.Errorf(chat.CodeNotFound, "branches.turn", "Turn #%d is not in the history of this branch.", t.Seq)
	}
	return t, nil
}

// Cut returns the state summary that a branch would start from if it forked off after a turn of the lineage (empty:
// before the first one). Nothing is stored. If the fork would need a state of its own, it is computed by rule, without
// a model.
func (s *Service) Cut(ctx context.Context, branch chat.BranchID, after chat.TurnID) (chat.Cut, error) {
	cut := chat.Cut{Branch: branch}
	if after != "" {
		t, err := s.lineageTurn(ctx, branch, after)
		if err != nil {
			return cut, err
		}
		if err := forkable(t); err != nil {
			return cut, err
		}
		cut.Seq = t.Seq
	}
	base, _, err := s.store.ForkBase(ctx, branch, after)
	if cut.Head = base; err != nil || cut.Seq == 0 {
		return cut, err
	}
	covers, err := s.store.StateTurnSeq(ctx, base.ID)
	if err != nil || covers >= cut.Seq {
		return cut, err
	}
	turns, err := s.store.Lineage(ctx, chat.LineageQuery{Branch: branch, FromSeq: covers + 1, ToSeq: cut.Seq})
	if err != nil {
		return cut, err
	}
	turns = slices.DeleteFunc(turns, func(t chat.Turn) bool { return !t.Phase.Finalized() })
	if len(turns) == 0 {
		return cut, nil
	}
	sum, err := s.commit.Summarize(ctx, branch, base, turns)
	cut.Head.ID, cut.Head.Seq = "", base.Seq+1
	cut.Head.Summary, cut.Head.PinnedFacts, cut.Head.TokenCount, cut.Head.Origin = sum.Summary, sum.PinnedFacts, sum.TokenCount, chat.StateFallback
	return cut, err
}

// forkable returns an error if nothing can branch off after the turn.
func forkable(t chat.Turn) error {
	if t.Phase.Finalized() || t.Phase == chat.PhaseFailed {
		return nil
	}
	return chat.Errorf(chat.CodeConflict, "branches.fork",
		"Turn #%d has no final answer yet, so nothing can branch off after it.", t.Seq).
		WithHint("stop, keep or discard it first")
}

// Archive hides a branch or shows it again. Nothing is deleted, and the active branch does not change.
func (s *Service) Archive(ctx context.Context, id chat.BranchID, archived bool) error {
	b, err := s.store.Branch(ctx, id)
	if err != nil {
		return err
	}
	if err := s.store.ArchiveBranch(ctx, id, archived); err != nil {
		return err
	}
	s.changed(b.SessionID)
	return nil
}

// Switch makes a branch the active one of its session.
func (s *Service) Switch(ctx context.Context, session chat.SessionID, branch chat.BranchID) error {
	b, err := s.store.Branch(ctx, branch)
	if err != nil {
		return err
	}
	if b.SessionID != session {
		return chat.Errorf(chat.CodeNotFound, "branches.switch", "Branch %s belongs to another session.", branch)
	}
	if err := s.store.SwitchBranch(ctx, session, branch); err != nil {
		return err
	}
	s.changed(session)
	return nil
}

// Activate makes a branch the active one of its session, unless it already is: a session opens at the branch that was
// written to last.
func (s *Service) Activate(ctx context.Context, branch chat.BranchID) error {
	b, err := s.store.Branch(ctx, branch)
	if err != nil {
		return err
	}
	session, err := s.store.Session(ctx, b.SessionID)
	if err != nil || session.ActiveBranch == branch {
		return err
	}
	return s.Switch(ctx, b.SessionID, branch)
}

func (s *Service) changed(id chat.SessionID) {
	s.publish.Change(chat.Change{Kind: chat.ChangeSession, ID: string(id), Session: id})
	s.publish.Change(chat.Change{Kind: chat.ChangeSessions, ID: string(id), Session: id})
}
