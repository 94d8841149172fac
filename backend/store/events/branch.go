package events

import (
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
)

// branchEvents are the events about branches and the state summaries at their heads.
var branchEvents = map[ledger.Type]eventKind{
	ledger.EventBranchCreated: kindOf((*Applier).branchCreated, func(c *Copying, d *ledger.BranchCreated) {
		remapID(c, &d.ParentBranch)
		remapID(c, &d.ForkTurn)
		remapID(c, &d.BaseState)
		remapID(c, &d.Continues)
	}),
	ledger.EventBranchRenamed:  kindOf((*Applier).branchRenamed, nil),
	ledger.EventBranchArchived: kindOf((*Applier).branchArchived, nil),
	ledger.EventStateCommitted: kindOf((*Applier).stateCommitted, func(c *Copying, d *ledger.StateCommitted) {
		remapID(c, &d.BranchID)
		remapID(c, &d.ParentID)
		remapIDs(c, d.Turns)
	}),
}

func (a *Applier) branchCreated(e ledger.Event, d ledger.BranchCreated) error {
	return a.DB.Create(&schema.BranchRow{
		ID: e.Entity, SessionID: a.Session, CreatedAt: e.CreatedAt, Label: d.Label, ParentBranch: schema.OrNull(d.ParentBranch),
		ForkTurn: schema.OrNull(d.ForkTurn), ForkSeq: d.ForkSeq, BaseState: string(d.BaseState), BaseSeq: d.BaseSeq,
		HeadState: string(d.BaseState), HeadSeq: d.BaseSeq,
		Lane: e.Lane, Machine: d.Machine, Continues: string(d.Continues),
	}).Error
}

func (a *Applier) branchRenamed(e ledger.Event, d ledger.TextChanged) error {
	return a.set(`UPDATE branches SET label = ? WHERE id = ?`, d.Text, e.Entity)
}

func (a *Applier) branchArchived(e ledger.Event, d ledger.FlagChanged) error {
	return a.set(`UPDATE branches SET archived_at = ? WHERE id = ?`, core.ArchivedAt(a.Tx, d.On), e.Entity)
}

func (a *Applier) stateCommitted(e ledger.Event, d ledger.StateCommitted) error {
	st := schema.StateRow{
		ID: e.Entity, SessionID: a.Session, BranchID: string(d.BranchID), StateSeq: d.Seq, ParentID: schema.OrNull(d.ParentID), CoversSeq: d.CoversSeq,
		Origin: string(d.Origin), Model: d.Model, TokenCountEst: d.Tokens, SchemaVersion: schema.StateSchema, CreatedAt: e.CreatedAt,
		PinnedFacts: d.PinnedFacts, Summary: d.Summary,
	}
	if len(d.Validation) > 0 && string(d.Validation) != "null" {
		st.ValidationJSON = schema.OrNull(string(d.Validation))
	}
	st.ContentHash = st.Hash()
	row, err := st.Packed(a.DB)
	if err != nil {
		return err
	}
	if err := a.DB.Create(&row).Error; err != nil {
		return err
	}
	for _, turn := range d.Turns {
		if err := a.set(`UPDATE turns SET phase = 'StateCommitted', state_after = ?, updated_at = ? WHERE id = ? AND session_id = ?`,
			st.ID, e.CreatedAt, turn, a.Session); err != nil {
			return err
		}
	}
	return a.set(`UPDATE branches SET head_state = ?, head_seq = ?, epoch = ? WHERE id = ? AND session_id = ?`, st.ID, d.Seq, d.Epoch, d.BranchID, a.Session)
}
