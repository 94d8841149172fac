package records

import (
	"context"
	"encoding/json"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Accept is TX-0: it makes the user's message durable and advances turn_seq (SPEC 4).
func (s *Records) Accept(ctx context.Context, a chat.Acceptance) (chat.Turn, error) {
	row, err := core.Change(ctx, s.Core, "turn.accept", func(t *core.Tx) (schema.TurnRow, error) {
		if _, err := schema.BranchByID(t.DB, a.BranchID); err != nil {
			return schema.TurnRow{}, err
		}
		return Accept(s.Core, t, a)
	})
	if err != nil {
		return chat.Turn{}, err
	}
	s.SetRunning(chat.TurnID(row.ID), true)
	return row.Turn(), nil
}

// Accept does the same inside a transaction, without recording that the turn runs, and for a file of a project too.
func Accept(s *core.Core, t *core.Tx, a chat.Acceptance) (schema.TurnRow, error) {
	if a.User.Role != chat.RoleUser || a.User.IsEmpty() {
		return schema.TurnRow{}, sqlite.Invalid("There is nothing to send.").WithHint("write a message")
	}
	branch, err := schema.BranchOrFile(t.DB, a.BranchID)
	if err != nil {
		return schema.TurnRow{}, err
	}
	if err := refuseBlocked(s, t, a.BranchID); err != nil {
		return schema.TurnRow{}, err
	}
	if err := checkRetryOf(t, a.RetryOf, branch.SessionID); err != nil {
		return schema.TurnRow{}, err
	}
	row, err := newTurn(t, branch, a)
	if err != nil {
		return row, err
	}
	if a.ClearDraft {
		if err := t.Run(`DELETE FROM drafts WHERE branch_id = ?`, a.BranchID); err != nil {
			return row, err
		}
	}
	if a.Queued != "" {
		if err := dropQueued(t, a.Queued); err != nil {
			return row, err
		}
	}
	if err := events.Record(t, chat.SessionID(row.SessionID), ledger.EventTurnAccepted, row.ID, ledger.TurnAccepted{
		BranchID: a.BranchID, Seq: row.TurnSeq, StateBefore: chat.StateID(row.StateBefore),
		User: json.RawMessage(row.UserMessageJSON), Provider: row.PrimaryProvider, Model: row.PrimaryModel,
		RetryOf: a.RetryOf,
	}); err != nil {
		return row, err
	}
	return row, BindFiles(t, row, a.User)
}

func newTurn(t *core.Tx, branch schema.BranchRow, a chat.Acceptance) (schema.TurnRow, error) {
	message, hash, err := schema.EncodeMessage(a.User)
	if err != nil {
		return schema.TurnRow{}, err
	}
	seq, err := sqlite.One[int64](t.DB, "branch", branch.ID,
		`SELECT coalesce(max(turn_seq), ?) + 1 FROM turns WHERE branch_id = ?`, branch.ForkSeq, branch.ID)
	if err != nil {
		return schema.TurnRow{}, err
	}
	n, err := sqlite.One[int64](t.DB, "turns", "", `SELECT coalesce(max(n), 0) + 1 FROM turns`)
	return schema.TurnRow{
		ID: t.NewID(), N: n, SessionID: branch.SessionID, BranchID: branch.ID, TurnSeq: seq, StateBefore: branch.HeadState,
		Phase: string(chat.PhaseAccepted), PrimaryProvider: schema.Clean(a.Provider), PrimaryModel: schema.Clean(a.Model),
		RetryOf: schema.OrNull(a.RetryOf), CreatedAt: t.Stamp(), UpdatedAt: t.Stamp(),
		UserMessageJSON: message, UserHash: hash,
	}, err
}

// refuseBlocked returns CodeBusy while a turn of this branch runs here, and CodeIncomplete while one needs the user's
// decision: it is incomplete, or a crash interrupted it.
func refuseBlocked(s *core.Core, t *core.Tx, branch chat.BranchID) error {
	open, err := sqlite.All[schema.TurnRow](t.DB, `SELECT id, turn_seq, phase, outcome FROM turns WHERE branch_id = ?
		AND phase IN ('Accepted', 'ContextPrepared', 'Responding') LIMIT 1`, branch)
	if err != nil || len(open) == 0 {
		return err
	}
	r := open[0]
	if chat.Outcome(r.Outcome) != chat.OutcomeIncomplete && s.IsRunning(chat.TurnID(r.ID)) {
		return chat.Errorf(chat.CodeBusy, "", "Turn %d is still running on this branch.", r.TurnSeq).
			WithHint("wait for it, or stop it")
	}
	if chat.Phase(r.Phase) != chat.PhaseResponding {
		return chat.Errorf(chat.CodeIncomplete, "", "Turn %d was accepted but never sent.", r.TurnSeq).
			WithHint("send or discard it first")
	}
	return chat.Errorf(chat.CodeIncomplete, "", "The answer of turn %d is incomplete.", r.TurnSeq).
		WithHint("retry, continue, keep or discard it first")
}

func checkRetryOf(t *core.Tx, id chat.TurnID, session string) error {
	if id == "" {
		return nil
	}
	old, err := schema.TurnHead(t.DB, id)
	if err != nil {
		return err
	}
	if old.SessionID != session {
		return sqlite.Invalid("Turn %s belongs to another session.", id)
	}
	return nil
}

// EnterPhase moves a turn to another phase, if the transition is allowed.
func EnterPhase(t *core.Tx, r *schema.TurnRow, to chat.Phase) error {
	if !chat.CanMove(chat.Phase(r.Phase), to) {
		return sqlite.Conflict("Turn %d is %s and cannot become %s.", r.TurnSeq, r.Phase, to)
	}
	n, err := t.Exec(`UPDATE turns SET phase = ?, updated_at = ? WHERE id = ? AND phase = ?`, to, t.Stamp(), r.ID, r.Phase)
	if err == nil && n != 1 {
		err = sqlite.Conflict("Turn %d has changed in the meantime.", r.TurnSeq)
	}
	if err == nil {
		r.Phase = string(to)
	}
	return err
}

// Prepare records the assembled context, after which the turn may become Responding. A turn whose context is assembled
// again, after a rejection for size or for a retry, keeps its phase and gets the new manifest.
func (s *Records) Prepare(ctx context.Context, p chat.Preparation) error {
	err := s.Write(ctx, "turn.prepare", func(t *core.Tx) error { return Prepare(t, p) })
	if err == nil {
		s.SetRunning(p.TurnID, true)
	}
	return err
}

func Prepare(t *core.Tx, p chat.Preparation) error {
	turn, err := schema.TurnHead(t.DB, p.TurnID)
	if err != nil {
		return err
	}
	if err := movePrepared(t, &turn); err != nil {
		return err
	}
	if p.Manifest != nil && !json.Valid(p.Manifest) {
		return sqlite.Invalid("The manifest is not JSON.")
	}
	memory, err := putRetrievals(t, turn, p.Retrieved)
	if err != nil {
		return err
	}
	if err := events.PutManifest(t, turn, p.Manifest, memory.chunks); err != nil {
		return err
	}
	if err := mergePrepared(t, p); err != nil {
		return err
	}
	return t.Event(chat.SessionID(turn.SessionID), ledger.EventTurnPrepared, turn.ID,
		ledger.TurnPrepared{ManifestSHA256: schema.HexHash(p.Manifest), Tokens: p.Tokens, RetrievedSHA256: memory.sum})
}

func movePrepared(t *core.Tx, turn *schema.TurnRow) error {
	switch chat.Phase(turn.Phase) {
	case chat.PhaseContextPrepared:
		return nil
	case chat.PhaseResponding:
		if turn.Outcome != "" {
			return sqlite.Conflict("Turn %d is incomplete.", turn.TurnSeq).WithHint("retry or continue it")
		}
		return nil
	}
	return EnterPhase(t, turn, chat.PhaseContextPrepared)
}

// Resume makes an incomplete turn run again, for Retry and Continue. Its phase stays Responding and its content is
// kept.
func (s *Records) Resume(ctx context.Context, id chat.TurnID) error {
	err := s.Write(ctx, "turn.resume", func(t *core.Tx) error {
		turn, err := schema.TurnHead(t.DB, id)
		if err != nil {
			return err
		}
		if chat.Phase(turn.Phase) != chat.PhaseResponding || chat.Outcome(turn.Outcome) != chat.OutcomeIncomplete {
			return sqlite.Conflict("Turn %d is not incomplete.", turn.TurnSeq)
		}
		return events.Record(t, chat.SessionID(turn.SessionID), ledger.EventTurnResumed, turn.ID, struct{}{})
	})
	if err == nil {
		s.SetRunning(id, true)
	}
	return err
}
