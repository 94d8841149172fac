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
	"contextinfinity/backend/transfer/bundle"
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
	if a.ClearDraft {
		if err := t.Run(`DELETE FROM drafts WHERE branch_id = ?`, a.BranchID); err != nil {
			return schema.TurnRow{}, err
		}
	}
	if a.Queued != "" {
		if err := dropQueued(t, a.Queued); err != nil {
			return schema.TurnRow{}, err
		}
	}
	message, _, err := schema.EncodeMessage(a.User)
	if err != nil {
		return schema.TurnRow{}, err
	}
	seq, err := sqlite.One[int64](t.DB, "branch", branch.ID,
		`SELECT coalesce(max(turn_seq), ?) + 1 FROM turns WHERE branch_id = ?`, branch.ForkSeq, branch.ID)
	if err != nil {
		return schema.TurnRow{}, err
	}
	id := chat.TurnID(t.NewID())
	if err := events.Record(t, chat.SessionID(branch.SessionID), ledger.EventTurnAccepted, string(id), ledger.TurnAccepted{
		BranchID: a.BranchID, Seq: seq, StateBefore: chat.StateID(branch.HeadState), User: json.RawMessage(message),
		Provider: schema.Clean(a.Provider), Model: schema.Clean(a.Model), RetryOf: a.RetryOf,
	}); err != nil {
		return schema.TurnRow{}, err
	}
	row, err := schema.TurnByID(t.DB, id)
	if err != nil {
		return row, err
	}
	return row, BindFiles(t, row, a.User)
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

// checkMove refuses an event that moves a turn to a phase in which it cannot be next.
func checkMove(turn schema.TurnRow, to chat.Phase) error {
	if !chat.CanMove(chat.Phase(turn.Phase), to) {
		return sqlite.Conflict("Turn %d is %s and cannot become %s.", turn.TurnSeq, turn.Phase, to)
	}
	return nil
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
	switch chat.Phase(turn.Phase) {
	case chat.PhaseContextPrepared:
	case chat.PhaseResponding:
		if turn.Outcome != "" {
			return sqlite.Conflict("Turn %d is incomplete.", turn.TurnSeq).WithHint("retry or continue it")
		}
	default:
		if err := checkMove(turn, chat.PhaseContextPrepared); err != nil {
			return err
		}
	}
	if p.Manifest != nil && !json.Valid(p.Manifest) {
		return sqlite.Invalid("The manifest is not JSON.")
	}
	retrieved, err := retrievedRecord(t, turn, p.Retrieved)
	if err != nil {
		return err
	}
	record := ledger.TurnPrepared{ManifestSHA256: schema.HexHash(p.Manifest), Tokens: p.Tokens}
	contents := []bundle.Content{{Kind: bundle.Manifest, Bytes: p.Manifest}}
	if retrieved != nil {
		record.RetrievedSHA256 = schema.HexHash(retrieved)
		contents = append(contents, bundle.Content{Kind: bundle.Retrieved, Bytes: retrieved})
	}
	if err := mergePrepared(t, p); err != nil {
		return err
	}
	return events.Record(t, chat.SessionID(turn.SessionID), ledger.EventTurnPrepared, turn.ID, record, contents...)
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
