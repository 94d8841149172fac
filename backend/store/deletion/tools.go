package deletion

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/sqlite"
)

// deletedArguments and deletedResult replace the input and output of a call.
const (
	deletedArguments = `{}`
	deletedResult    = `[]`
)

// toolWords collects the words of a turn's tool calls, before it is deleted.
func (x *turnDeletion) toolWords(turn string) error {
	batches, err := sqlite.All[events.CallRow](x.DB, `SELECT c.* FROM tool_batches b JOIN tool_calls c ON c.batch_id = b.id WHERE b.turn_id = ?`, turn)
	if err != nil {
		return err
	}
	for _, c := range batches {
		x.words.JSON(c.Arguments)
	}
	results, err := sqlite.All[events.ResultRow](x.DB, `SELECT r.* FROM tool_batches b JOIN tool_calls c ON c.batch_id = b.id
		JOIN tool_results r ON r.tool_call_id = c.id WHERE b.turn_id = ?`, turn)
	for _, r := range results {
		if content, err := r.Unpacked(); err == nil {
			x.words.JSON(string(content))
		}
	}
	return err
}

// tools empties the tool calls of the turn. Their existence and the decisions about them stay, as for model calls.
func (x *turnDeletion) tools() error {
	const ofTurn = `batch_id IN (SELECT id FROM tool_batches WHERE turn_id IN ?)`
	if err := x.remove("tool_results", `UPDATE tool_results SET content = ?, content_hash = ? WHERE tool_call_id IN (SELECT id FROM tool_calls WHERE `+ofTurn+`)`,
		codec.Pack([]byte(deletedResult)), codec.Hash([]byte(deletedResult)), x.ids()); err != nil {
		return err
	}
	if err := x.remove("tool_recalled", `DELETE FROM tool_recalled WHERE tool_call_id IN (SELECT id FROM tool_calls WHERE `+ofTurn+`)`, x.ids()); err != nil {
		return err
	}
	if err := x.remove("tool_calls", `UPDATE tool_calls SET arguments = ?, name = ?, call_id = '' WHERE `+ofTurn, deletedArguments, DeletedMark, x.ids()); err != nil {
		return err
	}
	session := chat.SessionID(x.subject.Session)
	batches, err := sqlite.All[string](x.DB, `SELECT id FROM tool_batches WHERE turn_id IN ? ORDER BY id`, x.ids())
	if err != nil {
		return err
	}
	for _, id := range batches {
		if err := reword(x.Operation, session, id, []ledger.Type{ledger.EventToolBatchProposed}, func(p *ledger.ToolBatchProposed) {
			for i := range p.Calls {
				c := &p.Calls[i]
				c.Arguments, c.Name, c.UseID = deletedArguments, DeletedMark, ""
			}
		}); err != nil {
			return err
		}
	}
	calls, err := sqlite.All[string](x.DB, `SELECT id FROM tool_calls WHERE `+ofTurn+` ORDER BY id`, x.ids())
	if err != nil {
		return err
	}
	for _, id := range calls {
		if err := reword(x.Operation, session, id, []ledger.Type{ledger.EventToolCallEnded}, func(p *ledger.ToolCallEnded) {
			if p.Reason == "" {
				p.Content, p.Recalled = []byte(deletedResult), nil
			}
		}); err != nil {
			return err
		}
	}
	return nil
}
