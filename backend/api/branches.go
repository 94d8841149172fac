package api

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// Branches shows a session's branches and rolls them back.
type Branches struct{ c *Core }

// NewBranches returns the service.
func NewBranches(c *Core) *Branches { return &Branches{c} }

// Tree returns a session's branches as runs of turns.
func (s *Branches) Tree(sessionID string) (BranchTree, error) {
	v := BranchTree{SessionID: sessionID, Runs: []TreeRun{}, Branches: []TreeBranch{}}
	v.Rev = s.c.Hub.Rev()
	tree, err := s.c.Store.Tree(s.c.ctx(), chat.SessionID(sessionID))
	if err != nil {
		return v, err
	}
	v.Active = string(tree.Session.ActiveBranch)
	deleted, err := s.deletedIn(tree)
	if err != nil {
		return v, err
	}
	heads := make(map[chat.BranchID]chat.BranchSummary, len(tree.Branches))
	for _, b := range tree.Branches {
		heads[b.ID] = b
		v.Turns += b.Own()
		v.Branches = append(v.Branches, treeBranch(b, tree.Session.ActiveBranch))
	}
	for _, r := range tree.Runs {
		parent := ""
		if r.Parent >= 0 {
			parent = v.Runs[r.Parent].ID
		}
		run := s.run(r, parent, heads[r.Branch])
		_, run.FirstDeleted = deleted[r.First.Turn.ID]
		_, run.LastDeleted = deleted[r.Last.Turn.ID]
		v.Runs = append(v.Runs, run)
	}
	return v, nil
}

// deletedIn returns which of the first and last turns of a tree's runs were permanently deleted.
func (s *Branches) deletedIn(tree chat.Tree) (map[chat.TurnID]time.Time, error) {
	var marked []chat.TurnID
	for _, r := range tree.Runs {
		for _, t := range []chat.TreeTurn{r.First, r.Last} {
			// The title of the last turn is left out if it is the first.
			if t.Title == chat.DeletedMark {
				marked = append(marked, t.Turn.ID)
			}
		}
	}
	return s.c.Store.DeletedTurns(s.c.ctx(), tree.Session.ID, marked)
}

func (s *Branches) run(r chat.TreeRun, parent string, b chat.BranchSummary) TreeRun {
	v := TreeRun{
		ID: string(r.First.Turn.ID), Parent: parent, BranchID: string(r.Branch), FromSeq: r.From, ToSeq: r.To,
		FirstTurn: string(r.First.Turn.ID), LastTurn: string(r.Last.Turn.ID), First: r.First.Title, Last: r.Last.Title,
		Ends: r.Ends, Pending: r.Pending, Open: r.Open, UpdatedAt: ms(r.Last.Turn.UpdatedAt),
	}
	if r.To < r.From { // a branch without turns of its own
		v.ID, v.UpdatedAt = string(r.Branch), ms(b.UpdatedAt)
		return v
	}
	if b.Covers >= r.From && b.Covers <= r.To {
		v.HeadSeq = b.HeadSeq
	}
	v.State = turnState(r.Last.Turn, b.HeadState, b.Covers, s.c.Turns.IsRunning(r.Last.Turn.ID))
	return v
}

func treeBranch(b chat.BranchSummary, active chat.BranchID) TreeBranch {
	return TreeBranch{
		ID: string(b.ID), Label: b.Label, ParentID: string(b.ParentBranch), ForkSeq: b.ForkSeq, Turns: b.Turns, Own: b.Own(),
		Pending: b.Pending, HeadSeq: b.HeadSeq, HeadShortID: chat.ShortID(b.HeadState),
		Archived: b.ArchivedAt != nil, Active: b.ID == active, CreatedAt: ms(b.CreatedAt), UpdatedAt: ms(b.UpdatedAt),
		Machine: b.On, Continues: string(b.Continues),
	}
}

// sideTurns is how many turns of each branch a comparison loads at once.
const sideTurns = 100

// Compare compares two branches of a session from where they diverge.
func (s *Branches) Compare(leftBranchID, rightBranchID string) (BranchComparison, error) {
	v := BranchComparison{Left: emptySide(), Right: emptySide()}
	ctx := s.c.ctx()
	divergence, err := s.c.Store.BranchDivergence(ctx, chat.BranchID(leftBranchID), chat.BranchID(rightBranchID))
	if err != nil {
		return v, err
	}
	v.Shared, v.LastTurn = int(divergence.Shared), string(divergence.Last)
	if v.Left, err = s.side(ctx, chat.BranchID(leftBranchID), divergence.Shared); err != nil {
		return v, err
	}
	v.Right, err = s.side(ctx, chat.BranchID(rightBranchID), divergence.Shared)
	return v, err
}

func emptySide() BranchSide { return BranchSide{Turns: []TurnView{}, Pins: []PinView{}} }

// side returns the part of a branch after the shared turns.
func (s *Branches) side(ctx context.Context, id chat.BranchID, shared int64) (BranchSide, error) {
	side := emptySide()
	b, err := s.c.Sessions.Branch(ctx, id)
	if err != nil {
		return side, err
	}
	sess, err := s.c.Sessions.Session(ctx, b.SessionID)
	if err != nil {
		return side, err
	}
	all, err := s.c.Sessions.Branches(ctx, b.SessionID)
	if err != nil {
		return side, err
	}
	for _, x := range all {
		if x.ID == id {
			side.Branch = treeBranch(x, sess.ActiveBranch)
		}
	}
	if last := int64(side.Branch.Turns); last > shared {
		side.FromSeq, side.ToSeq = shared+1, last
		if side.Turns, err = s.c.page(ctx, b, chat.LineageQuery{Branch: id, FromSeq: shared + 1, Limit: sideTurns}); err != nil {
			return side, err
		}
	}
	head, err := s.c.Inspecting.State(ctx, b.HeadState)
	if err != nil {
		return side, err
	}
	side.Summary = head.Summary
	pins, err := s.c.Pins.Pins(ctx, id)
	side.Pins = lists.Map(pins, func(p chat.Pin) PinView { return pinView(p, id) })
	return side, err
}

// landmarks are how many turns of a long run are named, and minLandmarks is the minimum length of such a run.
const landmarks, minLandmarks = 5, 12

// Landmarks names some turns of a run, evenly spaced between its first and last, with the first words of their messages.
// A short run has none.
func (s *Branches) Landmarks(branchID string, fromSeq, toSeq int64) ([]Landmark, error) {
	v := []Landmark{}
	turns := toSeq - fromSeq + 1
	if turns < minLandmarks {
		return v, nil
	}
	for i := range int64(landmarks) {
		seq := fromSeq + turns*(i+1)/(landmarks+1)
		found, err := s.c.Store.Lineage(s.c.ctx(), chat.LineageQuery{Branch: chat.BranchID(branchID), FromSeq: seq, ToSeq: seq, Limit: 1})
		if err != nil {
			return v, err
		}
		for _, t := range found {
			mark := Landmark{TurnID: string(t.ID), Seq: t.Seq, Title: t.User.Title()}
			if mark.Title == chat.DeletedMark {
				deleted, err := s.c.Store.DeletedTurns(s.c.ctx(), t.SessionID, []chat.TurnID{t.ID})
				if err != nil {
					return v, err
				}
				_, mark.Deleted = deleted[t.ID]
			}
			v = append(v, mark)
		}
	}
	return v, nil
}

// Archive archives or restores a branch. Nothing is deleted. The active branch cannot be archived.
func (s *Branches) Archive(branchID string, archived bool) error {
	return s.c.Branches.Archive(s.c.ctx(), chat.BranchID(branchID), archived)
}

// RollbackTo rolls back to a turn: a new branch that ends with it becomes active.
func (s *Branches) RollbackTo(branchID, turnID string) (BranchView, error) {
	b, err := s.c.Branches.RollbackTo(s.c.ctx(), chat.BranchID(branchID), chat.TurnID(turnID))
	if err != nil {
		return BranchView{}, err
	}
	return s.c.branch(b)
}

// ContextAt returns the next request of a branch that would end with a turn; with an empty turn, of a branch without
// turns. The branch is not created.
func (s *Branches) ContextAt(branchID, turnID, model string) (ContextView, error) {
	ctx := s.c.ctx()
	cut, err := s.c.Branches.Cut(ctx, chat.BranchID(branchID), chat.TurnID(turnID))
	if err != nil {
		return ContextView{}, err
	}
	p, budget, err := s.c.Turns.PreviewAt(ctx, cut, model, chat.UserText(" "))
	return s.c.previewView(ctx, chat.Turn{BranchID: cut.Branch, Seq: cut.Seq + 1}, model, p, budget, err)
}
