// Package answers sends one message to several models and merges their answers.
//
// Each answer is an ordinary turn on its own branch, and the branches share everything before it. Which answers
// belong together follows from the branches alone; there is no second record that a crash could lose or that could
// contradict them.
package answers

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"contextinfinity/backend/branches"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/turn"
)

const (
	// MaxModels is the largest number of models that one message can be sent to.
	MaxModels = 4
	// maxShown is the largest number of answers shown side by side; the newest are kept.
	maxShown = 8
)

// Store is the part of the database that this package reads.
type Store interface {
	Turn(context.Context, chat.TurnID) (chat.Turn, error)
	Tree(context.Context, chat.SessionID) (chat.Tree, error)
	Lineage(context.Context, chat.LineageQuery) ([]chat.Turn, error)
}

// Service asks several models, finds their answers and merges them.
type Service struct {
	store    Store
	turns    *turn.Engine
	branches *branches.Service
}

// New returns a Service.
func New(s Store, t *turn.Engine, b *branches.Service) *Service {
	return &Service{store: s, turns: t, branches: b}
}

// Sent is the outcome of sending the message to one model.
type Sent struct {
	Model  string
	Handle *turn.Handle // nil: Err says why it was not sent
	Err    error
}

// Ask sends a message to several models at once: to the first on the message's own branch, to each of the others on a
// new branch that forks off before it. The active branch does not change. An error means that nothing was sent; once
// the first model has the message, a failure for another model is reported in that model's Sent.
func (s *Service) Ask(ctx context.Context, m turn.Message, models []string) ([]Sent, error) {
	if err := s.checkModels(ctx, models); err != nil {
		return nil, err
	}
	m.Model = models[0]
	h, err := s.turns.Send(ctx, m)
	if err != nil {
		return nil, err
	}
	sent := []Sent{{Model: models[0], Handle: h}}
	for _, model := range models[1:] {
		h, err := s.sendOnBranch(ctx, sent[0].Handle.Turn, m, model)
		sent = append(sent, Sent{Model: model, Handle: h, Err: err})
	}
	return sent, nil
}

// checkModels rejects an invalid list of models before anything is sent or created.
func (s *Service) checkModels(ctx context.Context, models []string) error {
	const op = "answers.ask"
	if len(models) < 2 || len(models) > MaxModels {
		return chat.Errorf(chat.CodeInvalid, op, "A message can be sent to two to %d models at once, not to %d. Nothing was sent.", MaxModels, len(models))
	}
	for i, model := range models {
		if model == "" || slices.Contains(models[:i], model) {
			return chat.Errorf(chat.CodeInvalid, op, "Each model can be named only once. Nothing was sent.").WithHint("choose different models")
		}
		if err := s.turns.CanUse(ctx, model); err != nil {
			return err
		}
	}
	return nil
}

// sendOnBranch sends the message of a turn to another model on a new branch.
func (s *Service) sendOnBranch(ctx context.Context, first chat.Turn, m turn.Message, model string) (*turn.Handle, error) {
	b, err := s.branches.Before(ctx, first.ID, label(first.Seq, model), false)
	if err != nil {
		return nil, err
	}
	m.Branch, m.Model, m.RetryOf, m.FromDraft = b.ID, model, first.ID, false
	return s.turns.Send(ctx, m)
}

// AskAlso has another model answer the message of a turn too, on a new branch. The active branch does not change. If
// the turn is a retry, the branch forks off before the first attempt: a model does not see the failure of another one,
// and the answers share their history.
func (s *Service) AskAlso(ctx context.Context, id chat.TurnID, model string) (*turn.Handle, error) {
	t, err := s.firstAttempt(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := s.turns.CanUse(ctx, model); err != nil {
		return nil, err
	}
	return s.sendOnBranch(ctx, t, turn.Message{Content: t.User}, model)
}

func label(seq int64, model string) string { return fmt.Sprintf("from #%d: %s", seq, model) }

// Answer is one of the answers to a message.
type Answer struct {
	Turn   chat.Turn
	Branch chat.Branch
	// Later is the number of turns that follow it on its branch.
	Later int
}

// ForTurn returns all answers to the message of a turn: the turns that share its history and have the same message. If an
// attempt failed and was retried, the last attempt is returned. Archived branches are left out, except the branch of
// the turn itself. The answers are in the order of the tree, at most the maxShown newest.
func (s *Service) ForTurn(ctx context.Context, id chat.TurnID) ([]Answer, error) {
	t, err := s.firstAttempt(ctx, id)
	if err != nil {
		return nil, err
	}
	tree, err := s.store.Tree(ctx, t.SessionID)
	if err != nil {
		return nil, err
	}
	byID := make(map[chat.BranchID]chat.BranchSummary, len(tree.Branches))
	for _, b := range tree.Branches {
		byID[b.ID] = b
	}
	attempt, err := s.lastAttempt(ctx, t)
	if err != nil {
		return nil, err
	}
	runs := siblingRuns(tree.Runs, t.ID)
	if attempt.ID != t.ID { // branches created by earlier versions fork off before the last attempt
		runs = append(runs, siblingRuns(tree.Runs, attempt.ID)...)
	}
	asked := question(t.User)
	var found []Answer
	for _, run := range runs {
		b := byID[run.Branch]
		if b.ArchivedAt != nil && b.ID != t.BranchID {
			continue
		}
		sibling, err := s.store.Turn(ctx, run.First.Turn.ID)
		if err != nil {
			return nil, err
		}
		if question(sibling.User) != asked {
			continue
		}
		last, err := s.lastAttempt(ctx, sibling)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(found, func(a Answer) bool { return a.Turn.ID == last.ID }) {
			continue
		}
		found = append(found, Answer{Turn: last, Branch: b.Branch, Later: int(max(0, b.LastSeq-last.Seq))})
	}
	if len(found) == 0 { // nothing forks off before it
		b := byID[t.BranchID]
		return []Answer{{Turn: attempt, Branch: b.Branch, Later: int(max(0, b.LastSeq-attempt.Seq))}}, nil
	}
	return found[max(0, len(found)-maxShown):], nil
}

// firstAttempt returns the turn that first put the message on its branch; retries after a failure repeat it.
func (s *Service) firstAttempt(ctx context.Context, id chat.TurnID) (chat.Turn, error) {
	t, err := s.store.Turn(ctx, id)
	for err == nil && t.RetryOf != "" {
		previous, prevErr := s.store.Turn(ctx, t.RetryOf)
		if prevErr != nil || previous.BranchID != t.BranchID || previous.Seq >= t.Seq { // a deleted attempt ends the chain without an error
			return t, nil
		}
		t = previous
	}
	return t, err
}

// lastAttempt returns the turn itself, or its last retry on the same branch if it failed.
func (s *Service) lastAttempt(ctx context.Context, t chat.Turn) (chat.Turn, error) {
	for t.Phase == chat.PhaseFailed {
		next, err := s.store.Lineage(ctx, chat.LineageQuery{Branch: t.BranchID, FromSeq: t.Seq + 1, ToSeq: t.Seq + 1, Limit: 1})
		if err != nil || len(next) == 0 || next[0].RetryOf != t.ID {
			return t, err
		}
		t = next[0]
	}
	return t, nil
}

// siblingRuns returns the runs that start at the same fork point as the run that begins with the turn.
func siblingRuns(runs []chat.TreeRun, id chat.TurnID) []chat.TreeRun {
	i := slices.IndexFunc(runs, func(r chat.TreeRun) bool { return r.To >= r.From && r.First.Turn.ID == id })
	if i < 0 {
		return nil
	}
	var out []chat.TreeRun
	for _, r := range runs {
		if r.Parent == runs[i].Parent && r.To >= r.From && r.First.Turn.ID != "" {
			out = append(out, r)
		}
	}
	return out
}

// question identifies a message for comparison. A document is identified by its file, because how much of it is sent
// depends on the model.
func question(m chat.Message) string {
	var b strings.Builder
	for _, block := range m.Blocks {
		switch block := block.(type) {
		case chat.Text:
			fmt.Fprintf(&b, "text %q\n", block.Text)
		case chat.Document:
			fmt.Fprintf(&b, "file %q\n", block.File)
		case chat.Image:
			fmt.Fprintf(&b, "image %s %x\n", block.MediaType, sha256.Sum256(block.Source))
		case chat.Memory:
			fmt.Fprintf(&b, "memory %q\n", block.Chunk)
		default:
			fmt.Fprintf(&b, "%T\n", block)
		}
	}
	return b.String()
}
