package records

import (
	"context"
	"encoding/json"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// ProposeCalls ends a step whose model requested tools, and records the calls, in one transaction.
func (s *Records) ProposeCalls(ctx context.Context, turn chat.TurnID, e chat.StepEnd, calls []chat.ProposedCall) (chat.ToolBatch, error) {
	const op = "tool.propose"
	ended, err := prepareStep(turn, &e, "")
	if err != nil {
		return chat.ToolBatch{}, sqlite.MapError(op, err)
	}
	var batch chat.ToolBatch
	err = s.Write(ctx, op, func(t *core.Tx) error {
		if len(calls) == 0 {
			return sqlite.Invalid("There are no calls to record.")
		}
		head, err := respondingTurn(t, turn)
		if err != nil {
			return err
		}
		if err := ended.end(t, &head); err != nil {
			return err
		}
		batch, err = propose(t, head, e.StepID, calls)
		return err
	})
	return batch, err
}

// respondingTurn returns a turn, which must still be running, that is, without an outcome.
func respondingTurn(t *core.Tx, id chat.TurnID) (schema.TurnRow, error) {
	head, err := schema.TurnHead(t.DB, id)
	if err == nil && (chat.Phase(head.Phase) != chat.PhaseResponding || head.Outcome != "") {
		err = sqlite.Conflict("Turn %d is not running.", head.TurnSeq)
	}
	return head, err
}

func propose(t *core.Tx, turn schema.TurnRow, step chat.StepID, calls []chat.ProposedCall) (chat.ToolBatch, error) {
	record := ledger.ToolBatchProposed{TurnID: chat.TurnID(turn.ID), StepID: step}
	for _, c := range calls {
		record.Calls = append(record.Calls, ledger.ToolProposed{
			ID: chat.ToolCallID(t.NewID()), UseID: schema.Clean(c.UseID), Name: schema.Clean(c.Name), Source: schema.Clean(c.Source), Tool: schema.Clean(c.Tool),
			Definition: c.Definition, Effects: c.Effects, Arguments: schema.Clean(string(c.Arguments)),
		})
	}
	id := t.NewID()
	if err := events.Record(t, chat.SessionID(turn.SessionID), ledger.EventToolBatchProposed, id, record); err != nil {
		return chat.ToolBatch{}, err
	}
	list, err := batchesWhere(t.DB, `b.id = ?`, id)
	if err != nil || len(list) == 0 {
		return chat.ToolBatch{}, err
	}
	return list[0], nil
}

// storedCall is a call with the session whose ledger records it.
type storedCall struct {
	Call    events.CallRow `gorm:"embedded"`
	Session string
	Batch   string // its state
	Seq     int64  // of the turn
}

func readCall(t *core.Tx, id chat.ToolCallID) (storedCall, error) {
	return sqlite.One[storedCall](t.DB, "tool call", id, `SELECT c.*, t.session_id AS session, b.state AS batch, t.turn_seq AS seq FROM tool_calls c
		JOIN tool_batches b ON b.id = c.batch_id JOIN turns t ON t.id = b.turn_id WHERE c.id = ?`, id)
}

// openCall returns a call of an open batch, in one of some states.
func openCall(t *core.Tx, id chat.ToolCallID, states ...chat.ToolCallState) (storedCall, error) {
	stored, err := readCall(t, id)
	if err != nil {
		return stored, err
	}
	if chat.BatchState(stored.Batch) != chat.BatchOpen {
		return stored, sqlite.Conflict("The tool call is part of an answer that has ended.")
	}
	for _, s := range states {
		if chat.ToolCallState(stored.Call.State) == s {
			return stored, nil
		}
	}
	return stored, sqlite.Conflict("The tool call is %s already.", stored.Call.State)
}

// DecideCall records a decision about a pending call. A denied call gets its result in the same transaction.
// DecisionNone revokes the decision about an allowed call that never started, so that it is pending again.
func (s *Records) DecideCall(ctx context.Context, d chat.CallDecision) error {
	return s.Write(ctx, "tool.decide", func(t *core.Tx) error {
		states := []chat.ToolCallState{chat.CallProposed, chat.CallUnknown, chat.CallAllowed}
		if d.State != "" {
			states = []chat.ToolCallState{d.State}
		}
		stored, err := openCall(t, d.Call, states...)
		if err != nil {
			return err
		}
		revokes := d.Decision == chat.DecisionNone && d.State == chat.CallAllowed && stored.Call.Runs == 0 && d.Result == nil
		if !revokes && (d.Decision == chat.DecisionNone || d.Decision.Allows() != (d.Result == nil)) {
			return sqlite.Invalid("A tool call must be allowed, or have a result that says that it was refused.")
		}
		if err := events.Record(t, chat.SessionID(stored.Session), ledger.EventToolCallDecided, stored.Call.ID,
			ledger.ToolCallDecided{Decision: d.Decision, Definition: d.Definition}); err != nil || d.Result == nil {
			return err
		}
		return endCall(t, stored, chat.CallEnd{Call: d.Call, Result: d.Result})
	})
}

// StartCall records durably that a tool is about to be called. A call that was started before may be started again
// only if it has no effects; otherwise it needs a new decision.
func (s *Records) StartCall(ctx context.Context, id chat.ToolCallID, redactions []chat.CallRedaction) error {
	return s.Write(ctx, "tool.start", func(t *core.Tx) error {
		stored, err := openCall(t, id, chat.CallAllowed, chat.CallStarted)
		if err != nil {
			return err
		}
		if stored.Call.Effects && chat.ToolCallState(stored.Call.State) == chat.CallStarted {
			return sqlite.Conflict("The tool call was started before and may have had effects; it is not run again automatically.")
		}
		return events.Record(t, chat.SessionID(stored.Session), ledger.EventToolCallStarted, stored.Call.ID, ledger.ToolCallStarted{Redactions: redactions})
	})
}

// EndCall records the result of a call, or that its outcome is unknown.
func (s *Records) EndCall(ctx context.Context, e chat.CallEnd) error {
	return s.Write(ctx, "tool.end", func(t *core.Tx) error {
		states := []chat.ToolCallState{chat.CallStarted, chat.CallUnknown}
		if e.State != "" {
			states = []chat.ToolCallState{e.State}
		}
		stored, err := openCall(t, e.Call, states...)
		if err != nil {
			return err
		}
		return endCall(t, stored, e)
	})
}

func endCall(t *core.Tx, stored storedCall, e chat.CallEnd) error {
	if (e.Result == nil) == (e.Reason == "") {
		return sqlite.Invalid("A tool call must end with a result, or with the reason why its outcome is unknown.")
	}
	record := ledger.ToolCallEnded{Reason: e.Reason}
	if e.Result != nil {
		blocks := e.Result.Content
		if blocks == nil {
			blocks = chat.Blocks{}
		}
		content, err := chat.MarshalJSON(blocks)
		if err != nil {
			return sqlite.Invalid("The result cannot be stored: %v.", err)
		}
		record.IsError, record.Content = e.Result.IsError, json.RawMessage(schema.Clean(string(content)))
		for _, r := range e.Recalled[:min(len(e.Recalled), chat.MaxRecalled)] {
			record.Recalled = append(record.Recalled, ledger.RecalledTurn{Session: r.Session, Turn: r.Turn})
		}
	}
	return events.Record(t, chat.SessionID(stored.Session), ledger.EventToolCallEnded, stored.Call.ID, record)
}

// endRemaining gives the remaining calls of an ending turn their results.
func endRemaining(t *core.Tx, ends []chat.CallEnd) error {
	for _, e := range ends {
		stored, err := openCall(t, e.Call, chat.CallProposed, chat.CallAllowed, chat.CallStarted, chat.CallUnknown)
		if err != nil {
			return err
		}
		if s := chat.ToolCallState(stored.Call.State); s == chat.CallProposed || s == chat.CallAllowed {
			if err := events.Record(t, chat.SessionID(stored.Session), ledger.EventToolCallDecided, stored.Call.ID,
				ledger.ToolCallDecided{Decision: chat.DecisionNotRun, Definition: stored.Call.DefinitionHash}); err != nil {
				return err
			}
		}
		if err := endCall(t, stored, e); err != nil {
			return err
		}
	}
	return nil
}

// CommitBatch closes a batch once every call has its result.
func (s *Records) CommitBatch(ctx context.Context, id chat.ToolBatchID) error {
	return s.Write(ctx, "tool.commit", func(t *core.Tx) error {
		rows, err := batchesWhere(t.DB, `b.id = ?`, id)
		if err != nil {
			return err
		}
		if len(rows) == 0 || rows[0].State != chat.BatchOpen || !rows[0].Finished() {
			return sqlite.Conflict("Not every tool call of the step has a result.")
		}
		return closeBatch(t, rows[0], chat.BatchCommitted)
	})
}

func closeBatch(t *core.Tx, b chat.ToolBatch, state chat.BatchState) error {
	return events.Record(t, b.SessionID, ledger.EventToolBatchClosed, string(b.ID), ledger.ToolBatchClosed{State: state})
}

// AbandonBatches abandons the open batches of a turn whose step is repeated. A batch with a started call is kept: its
// effects are part of the answer.
func (s *Records) AbandonBatches(ctx context.Context, turn chat.TurnID) error {
	return s.Write(ctx, "tool.abandon", func(t *core.Tx) error {
		open, err := batchesWhere(t.DB, `b.turn_id = ? AND b.state = 'open'`, turn)
		for _, b := range open {
			for _, c := range b.Calls {
				if c.Runs > 0 {
					return sqlite.Conflict("Tools of this step have already run, so it is not sent again.").
						WithHint("decide about the calls that are open, then continue; or discard the turn")
				}
			}
			if err == nil {
				err = closeBatch(t, b, chat.BatchAbandoned)
			}
		}
		return err
	})
}

// closeBatches closes the open batches of an ending turn.
func closeBatches(t *core.Tx, turn chat.TurnID) error {
	open, err := batchesWhere(t.DB, `b.turn_id = ? AND b.state = 'open'`, turn)
	for _, b := range open {
		state := chat.BatchAbandoned
		if b.Finished() {
			state = chat.BatchCommitted
		}
		if err == nil {
			err = closeBatch(t, b, state)
		}
	}
	return err
}

// ToolBatches returns the batches of turns in the order of their steps, with calls and results.
func (s *Records) ToolBatches(ctx context.Context, turns []chat.TurnID) (map[chat.TurnID][]chat.ToolBatch, error) {
	out := map[chat.TurnID][]chat.ToolBatch{}
	if len(turns) == 0 {
		return out, nil
	}
	err := s.Read(ctx, "tool.batches", func(db *gorm.DB) error {
		list, err := batchesWhere(db, `b.turn_id IN ?`, turns)
		for _, b := range list {
			out[b.TurnID] = append(out[b.TurnID], b)
		}
		return err
	})
	return out, err
}

// batchesWhere reads batches with their calls and results. The condition is on batch b.
func batchesWhere(db *gorm.DB, where string, args ...any) ([]chat.ToolBatch, error) {
	rows, err := sqlite.All[struct {
		Batch   events.BatchRow `gorm:"embedded"`
		Session string
		Branch  string
	}](db, `SELECT b.*, t.session_id AS session, t.branch_id AS branch FROM tool_batches b JOIN turns t ON t.id = b.turn_id
		JOIN steps s ON s.id = b.step_id WHERE `+where+` ORDER BY t.n, s.step_index, s.attempt`, args...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	out := make([]chat.ToolBatch, len(rows))
	for i, r := range rows {
		out[i] = r.Batch.Batch()
		out[i].SessionID, out[i].BranchID = chat.SessionID(r.Session), chat.BranchID(r.Branch)
		if out[i].Calls, err = callsOf(db, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func callsOf(db *gorm.DB, b chat.ToolBatch) ([]chat.CallRecord, error) {
	rows, err := sqlite.All[events.CallRow](db, `SELECT * FROM tool_calls WHERE batch_id = ? ORDER BY ordinal`, b.ID)
	if err != nil {
		return nil, err
	}
	results, err := sqlite.All[events.ResultRow](db, `SELECT r.* FROM tool_calls c JOIN tool_results r ON r.tool_call_id = c.id WHERE c.batch_id = ?`, b.ID)
	if err != nil {
		return nil, err
	}
	out := make([]chat.CallRecord, len(rows))
	for i, r := range rows {
		out[i] = r.Record()
		out[i].TurnID = b.TurnID
		for _, result := range results {
			if result.ToolCallID != r.ID {
				continue
			}
			if out[i].Result, err = result.Result(r.CallID); err != nil {
				return nil, sqlite.CorruptRecord("tool_results", r.ID, err)
			}
		}
	}
	return out, nil
}

// CallBatch returns the batch of a call.
func (s *Records) CallBatch(ctx context.Context, id chat.ToolCallID) (chat.ToolBatch, error) {
	var b chat.ToolBatch
	err := s.Read(ctx, "tool.batch", func(db *gorm.DB) error {
		list, err := batchesWhere(db, `b.id = (SELECT c.batch_id FROM tool_calls c WHERE c.id = ?)`, id)
		if err == nil && len(list) == 0 {
			err = chat.Errorf(chat.CodeNotFound, "", "There is no tool call %s.", id)
		}
		if err == nil {
			b = list[0]
		}
		return err
	})
	return b, err
}

// WaitingCalls returns the calls of all sessions that wait for a person's decision here, oldest first.
func (s *Records) WaitingCalls(ctx context.Context) ([]chat.WaitingCall, error) {
	var out []chat.WaitingCall
	err := s.Read(ctx, "tool.waiting", func(db *gorm.DB) error {
		open, err := batchesWhere(db, `b.state = 'open'`)
		if err != nil {
			return err
		}
		for _, b := range open {
			names, err := sqlite.One[struct {
				Title string
				Seq   int64
				Here  bool
			}](db, "turn", b.TurnID, `SELECT s.title, t.turn_seq AS seq, `+core.MayFinish+` AS here
				FROM turns t JOIN sessions s ON s.id = t.session_id WHERE t.id = ?`, append(s.Device().Finishing(), b.TurnID)...)
			if err != nil {
				return err
			}
			if !names.Here { // they are decided on another device
				continue
			}
			for _, c := range b.Waiting() {
				out = append(out, chat.WaitingCall{CallRecord: c, StepID: b.StepID, AskedAt: b.CreatedAt, SessionID: b.SessionID, BranchID: b.BranchID, TurnSeq: names.Seq, Session: names.Title})
			}
		}
		return nil
	})
	return out, err
}
