package ledger

import (
	"encoding/json"
	"fmt"

	"contextinfinity/backend/chat"
)

// Events about branches and the state summaries at their heads.
const (
	EventBranchCreated  Type = "branch_created"
	EventBranchRenamed  Type = "branch_renamed"
	EventBranchArchived Type = "branch_archived" // or restored
	EventStateCommitted Type = "state_committed"
)

var branchKinds = map[Type]reducer{
	EventBranchCreated:  reducing((*State).branchCreated),
	EventBranchRenamed:  reducing((*State).branchRenamed),
	EventBranchArchived: reducing((*State).branchArchived),
	EventStateCommitted: reducing((*State).stateCommitted),
}

// Payloads.
type (
	BranchCreated struct {
		Label        string        `json:"label"`
		ParentBranch chat.BranchID `json:"parent_branch"`
		ForkTurn     chat.TurnID   `json:"fork_turn"`
		ForkSeq      int64         `json:"fork_seq"`
		BaseState    chat.StateID  `json:"base_state"`
		BaseSeq      int64         `json:"base_seq"`
		Machine      string        `json:"machine,omitempty"`   // the name of the device, in a lane with a name
		Continues    chat.BranchID `json:"continues,omitempty"` // a branch of another device
	}
	StateCommitted struct {
		BranchID    chat.BranchID    `json:"branch_id"`
		Seq         int64            `json:"state_seq"`
		ParentID    chat.StateID     `json:"parent_id"`
		CoversSeq   int64            `json:"covers_seq"`
		Summary     string           `json:"summary"`
		PinnedFacts string           `json:"pinned_facts"`
		Tokens      int              `json:"token_count_est"`
		Origin      chat.StateOrigin `json:"origin"`
		Model       string           `json:"model"`
		Validation  json.RawMessage  `json:"validation,omitempty"`
		Turns       []chat.TurnID    `json:"turns"`
		Epoch       int64            `json:"epoch"` // the branch's new epoch
	}
)

// Records.
type (
	Branch struct {
		CreatedAt    string `json:"created_at"`
		ArchivedAt   string `json:"archived_at"`
		ParentBranch string `json:"parent_branch"`
		ForkTurn     string `json:"fork_turn"`
		ForkSeq      int64  `json:"fork_seq"`
		BaseState    string `json:"base_state"`
		BaseSeq      int64  `json:"base_seq"`
		HeadState    string `json:"head_state"`
		HeadSeq      int64  `json:"head_seq"`
		Epoch        int64  `json:"epoch"`
		Label        Sum    `json:"label"`
		Lane         string `json:"lane,omitempty"`    // whose branch it is: only its device writes to it
		Machine      Sum    `json:"machine,omitempty"` // empty: not known
		Continues    string `json:"continues,omitempty"`
	}
	Checkpoint struct {
		BranchID   string `json:"branch_id"`
		Seq        int64  `json:"state_seq"`
		ParentID   string `json:"parent_id"`
		CoversSeq  int64  `json:"covers_seq"`
		Origin     string `json:"origin"`
		Model      string `json:"model"`
		Tokens     int    `json:"token_count_est"`
		CreatedAt  string `json:"created_at"`
		Content    Sum    `json:"content"` // summary and pinned facts
		Validation Sum    `json:"validation"`
	}
)

func (s *State) branchCreated(e Event, p BranchCreated) error {
	s.Branches[e.Entity] = &Branch{
		CreatedAt: e.CreatedAt, ParentBranch: string(p.ParentBranch), ForkTurn: string(p.ForkTurn), ForkSeq: p.ForkSeq,
		BaseState: string(p.BaseState), BaseSeq: p.BaseSeq, HeadState: string(p.BaseState), HeadSeq: p.BaseSeq, Label: SumOfText(p.Label),
		Lane: e.Lane, Machine: SumOfName(p.Machine), Continues: string(p.Continues),
	}
	return nil
}

func (s *State) branchRenamed(e Event, p TextChanged) error {
	return update(s.Branches, e.Entity, func(r *Branch) { r.Label = SumOfText(p.Text) })
}

func (s *State) branchArchived(e Event, p FlagChanged) error {
	return update(s.Branches, e.Entity, func(r *Branch) { r.ArchivedAt = since(p.On, e) })
}

func (s *State) stateCommitted(e Event, p StateCommitted) error {
	for _, id := range p.Turns {
		if s.Turns[string(id)] == nil {
			return fmt.Errorf("no earlier event created turn %s", id)
		}
	}
	err := update(s.Branches, string(p.BranchID), func(b *Branch) {
		b.HeadState, b.HeadSeq, b.Epoch = e.Entity, p.Seq, p.Epoch
	})
	if err != nil {
		return err
	}
	s.States[e.Entity] = &Checkpoint{
		BranchID: string(p.BranchID), Seq: p.Seq, ParentID: string(p.ParentID), CoversSeq: p.CoversSeq, Origin: string(p.Origin),
		Model: p.Model, Tokens: p.Tokens, CreatedAt: e.CreatedAt, Content: SumOfCheckpoint(p.Summary, p.PinnedFacts),
		Validation: SumOfRaw(p.Validation),
	}
	for _, id := range p.Turns {
		t := s.Turns[string(id)]
		t.Phase, t.StateAfter, t.UpdatedAt = string(chat.PhaseStateCommitted), e.Entity, e.CreatedAt
	}
	return nil
}
