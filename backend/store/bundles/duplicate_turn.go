package bundles

import (
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
)

// turn copies a turn and its finished steps, without the stored requests and streams.
func (c *copier) turn(o chat.Turn) error {
	user, err := c.message(o.User)
	if err != nil {
		return err
	}
	c.setTime(o.CreatedAt)
	row, err := records.Accept(c.store.Core, c.Tx, chat.Acceptance{
		BranchID: chat.BranchID(c.branch.ID), User: user, Provider: o.Provider, Model: o.Model, RetryOf: c.ids[o.RetryOf],
	})
	if err != nil {
		return err
	}
	id := chat.TurnID(row.ID)
	c.ids[o.ID] = id
	steps := slices.DeleteFunc(slices.Clone(c.from.steps[o.ID]), func(s chat.Step) bool { return s.EndedAt == nil })
	if o.Phase.Finalized() || len(steps) > 0 {
		if err := records.Prepare(c.Tx, chat.Preparation{TurnID: id}); err != nil {
			return err
		}
	}
	var lastEnd *chat.StepEnd
	for i, s := range steps {
		if lastEnd, err = c.step(id, s, i == len(steps)-1); err != nil {
			return err
		}
	}
	return c.end(o, id, lastEnd)
}

// step copies a step of a turn. The end of the last step is returned instead of written, because that step is ended
// together with the turn.
func (c *copier) step(turn chat.TurnID, o chat.Step, isLast bool) (*chat.StepEnd, error) {
	c.setTime(o.StartedAt)
	row, err := records.BeginStep(c.Tx, chat.StepStart{TurnID: turn, Index: o.Index, Provider: o.Provider, ModelID: o.ModelID, ToolsMode: o.ToolsMode})
	if err != nil {
		return nil, err
	}
	c.setTime(*o.EndedAt)
	end := chat.StepEnd{
		StepID: chat.StepID(row.ID), Outcome: o.Outcome, Items: o.Items, Usage: o.Usage,
		DisplayedBytes: o.DisplayedBytes, DurableBytes: o.DurableBytes,
	}
	if isLast {
		return &end, nil
	}
	ended, err := records.PrepareStep(turn, &end, "")
	if err != nil {
		return nil, err
	}
	return nil, records.EndStep(c.Tx, turn, ended)
}

// end ends the copy of a turn, and its last step, with the original outcome.
func (c *copier) end(o chat.Turn, id chat.TurnID, lastEnd *chat.StepEnd) error {
	row, err := schema.TurnHead(c.DB, id)
	if err != nil {
		return err
	}
	if o.Phase == chat.PhaseFailed {
		return records.Fail(c.Tx, &row, chat.TurnFailure{TurnID: id, Step: lastEnd, Outcome: o.Outcome, Failure: o.Failure})
	}
	if chat.Phase(row.Phase) == chat.PhaseContextPrepared { // an answer without any recorded step
		if err := records.EnterPhase(c.Tx, &row, chat.PhaseResponding); err != nil {
			return err
		}
	}
	c.pending, c.seqs = append(c.pending, id), append(c.seqs, row.TurnSeq)
	return records.Finalize(c.Tx, &row, chat.Finalization{TurnID: id, Step: lastEnd, Message: *o.Assistant, Outcome: o.Outcome, Usage: o.Usage})
}

// message returns a message with its documents replaced by their copies.
func (c *copier) message(m chat.Message) (chat.Message, error) {
	blocks := slices.Clone(m.Blocks)
	for i, b := range blocks {
		d, ok := b.(chat.Document)
		if !ok {
			continue
		}
		id, err := c.document(d.File)
		if err != nil {
			return m, err
		}
		d.File = id
		blocks[i] = d
	}
	m.Blocks = blocks
	return m, nil
}

// document returns the copy of a document, which is created on the first call. records.Accept sets the copy's turn.
func (c *copier) document(id chat.FileID) (chat.FileID, error) {
	if copied, ok := c.files[id]; ok {
		return copied, nil
	}
	copied := chat.FileID(c.NewID())
	n, err := c.Exec(`INSERT INTO files (id, session_id, name, media_type, size, created_at, content_hash, tokens, content, text)
		SELECT ?, ?, name, media_type, size, created_at, content_hash, tokens, content, text FROM files WHERE id = ?`,
		copied, c.branch.SessionID, id)
	if err == nil && n == 0 {
		err = chat.Errorf(chat.CodeNotFound, "", "There is no document %s.", id)
	}
	c.files[id] = copied
	return copied, err
}
