package store

import (
	"context"
	"encoding/json"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
)

// Finalize is TX-A: the answer is final, its step closed, summarize_turn queued
// and the ledger told, or none of it (SPEC 4).
func (s *Store) Finalize(ctx context.Context, f chat.Finalization) (chat.Turn, error) {
	return s.endTurn(ctx, "turn.finalize", f.TurnID, func(t *tx, turn *turnRow) error { return t.finalize(turn, f) })
}

// Interrupt leaves a turn Responding and incomplete: the user decides.
func (s *Store) Interrupt(ctx context.Context, i chat.Interruption) (chat.Turn, error) {
	return s.endTurn(ctx, "turn.interrupt", i.TurnID, func(t *tx, turn *turnRow) error { return t.interrupt(turn, i) })
}

// FailTurn ends a turn as Failed, which is possible only before TX-A.
func (s *Store) FailTurn(ctx context.Context, f chat.TurnFailure) (chat.Turn, error) {
	return s.endTurn(ctx, "turn.fail", f.TurnID, func(t *tx, turn *turnRow) error { return t.fail(turn, f) })
}

// endTurn runs a transaction after which the turn no longer runs, and returns it.
func (s *Store) endTurn(ctx context.Context, op string, id chat.TurnID, do func(*tx, *turnRow) error) (chat.Turn, error) {
	var row turnRow
	err := s.write(ctx, op, func(t *tx) error {
		turn, err := turnHead(t.db, id)
		if err != nil {
			return err
		}
		if err := do(t, &turn); err != nil {
			return err
		}
		row, err = turnByID(t.db, id)
		return err
	})
	if err != nil {
		return chat.Turn{}, err
	}
	s.setRunning(id, false)
	return row.turn(), nil
}

// finalOutcomes are those of a final answer.
var finalOutcomes = map[chat.Outcome]bool{
	chat.OutcomeCompleted: true, chat.OutcomeTruncated: true, chat.OutcomeRefused: true,
	chat.OutcomeStopped: true, chat.OutcomeKept: true, chat.OutcomePaused: true,
}

func (t *tx) finalize(turn *turnRow, f chat.Finalization) error {
	if f.Message.Role != chat.RoleAssistant || f.Message.IsEmpty() {
		return invalid("An answer without content is not kept.")
	}
	if !finalOutcomes[f.Outcome] {
		return invalid("%q is not the outcome of a final answer.", f.Outcome)
	}
	message, hash, err := encodeMessage(f.Message)
	if err != nil {
		return err
	}
	if err := t.move(turn, chat.PhaseResponseFinalized); err != nil {
		return err
	}
	if err := t.closeSteps(f.TurnID, f.Step, []byte(message)); err != nil {
		return err
	}
	usage, err := encodeOptional(f.Usage)
	if err != nil {
		return err
	}
	if _, err := t.exec(`UPDATE turns SET outcome = ?, final_assistant_message_json = ?, assistant_hash = ?,
		usage_json = coalesce(?, usage_json), error_json = NULL WHERE id = ?`,
		f.Outcome, message, hash, usage, f.TurnID); err != nil {
		return err
	}
	if err := t.mergeTurnMetrics(f.TurnID, f.Metrics); err != nil {
		return err
	}
	if !t.commits {
		if err := t.enqueue(chat.JobSummarizeTurn, *turn); err != nil {
			return err
		}
	}
	if err := t.touch(turn.SessionID); err != nil {
		return err
	}
	var step chat.StepID
	if f.Step != nil {
		step = f.Step.StepID
	}
	base, err := t.payloadOf(chat.SessionID(turn.SessionID), ledger.EventStepEnded, string(step))
	if err != nil {
		return err
	}
	return t.eventOn(base, chat.SessionID(turn.SessionID), ledger.EventTurnFinalized, turn.ID,
		ledger.TurnFinalized{Outcome: f.Outcome, Assistant: json.RawMessage(message), Usage: f.Usage})
}

func (t *tx) interrupt(turn *turnRow, i chat.Interruption) error {
	if chat.Phase(turn.Phase) != chat.PhaseResponding {
		return conflict("Turn %d is %s and cannot become incomplete.", turn.TurnSeq, turn.Phase)
	}
	if err := t.closeSteps(i.TurnID, i.Step, nil); err != nil {
		return err
	}
	if err := t.setEnd(turn, chat.OutcomeIncomplete, i.Failure, i.Usage); err != nil {
		return err
	}
	return t.event(chat.SessionID(turn.SessionID), ledger.EventTurnInterrupted, turn.ID,
		ledger.TurnEnded{Outcome: chat.OutcomeIncomplete, Failure: i.Failure, Usage: i.Usage})
}

func (t *tx) fail(turn *turnRow, f chat.TurnFailure) error {
	if f.Outcome != chat.OutcomeFailed && f.Outcome != chat.OutcomeDiscarded {
		return invalid("%q is not the outcome of a failed turn.", f.Outcome)
	}
	discards := chat.Outcome(turn.Outcome) == chat.OutcomeFailed && f.Outcome == chat.OutcomeDiscarded
	if chat.Phase(turn.Phase) != chat.PhaseFailed || !discards { // a failed turn that is discarded keeps its phase
		if err := t.move(turn, chat.PhaseFailed); err != nil {
			return err
		}
	}
	if err := t.closeSteps(f.TurnID, f.Step, nil); err != nil {
		return err
	}
	if err := t.setEnd(turn, f.Outcome, f.Failure, nil); err != nil {
		return err
	}
	if err := t.mergeTurnMetrics(f.TurnID, f.Metrics); err != nil {
		return err
	}
	return t.event(chat.SessionID(turn.SessionID), ledger.EventTurnFailed, turn.ID, ledger.TurnEnded{Outcome: f.Outcome, Failure: f.Failure})
}

// setEnd records how a turn ended that has no final answer.
func (t *tx) setEnd(turn *turnRow, o chat.Outcome, f *chat.Failure, u *chat.Usage) error {
	failure, err := encodeOptional(f)
	if err != nil {
		return err
	}
	usage, err := encodeOptional(u)
	if err != nil {
		return err
	}
	_, err = t.exec(`UPDATE turns SET outcome = ?, error_json = coalesce(?, error_json), usage_json = coalesce(?, usage_json),
		updated_at = ? WHERE id = ?`, o, failure, usage, t.stamp(), turn.ID)
	return err
}
