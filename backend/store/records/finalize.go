package records

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/queue"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Finalize is TX-A: it stores the final answer, closes the step, queues summarize_turn and writes the ledger event,
// or does nothing (SPEC 4).
func (s *Records) Finalize(ctx context.Context, f chat.Finalization) (chat.Turn, error) {
	const op = "turn.finalize"
	p, err := prepareFinal(f)
	if err != nil {
		return chat.Turn{}, sqlite.MapError(op, err)
	}
	turn, err := s.endTurn(ctx, op, f.TurnID, func(t *core.Tx, turn *schema.TurnRow) error { return finalizePrepared(t, turn, p) })
	if err == nil && p.payload != nil { // it was not read again
		turn.Assistant = &f.Message
	}
	return turn, err
}

// Interrupt leaves a turn Responding and incomplete, for the user to decide.
func (s *Records) Interrupt(ctx context.Context, i chat.Interruption) (chat.Turn, error) {
	const op = "turn.interrupt"
	step, err := prepareStep(i.TurnID, i.Step, "")
	if err != nil {
		return chat.Turn{}, sqlite.MapError(op, err)
	}
	return s.endTurn(ctx, op, i.TurnID, func(t *core.Tx, turn *schema.TurnRow) error { return interrupt(t, turn, i, step) })
}

// FailTurn ends a turn as Failed, which is possible only before TX-A.
func (s *Records) FailTurn(ctx context.Context, f chat.TurnFailure) (chat.Turn, error) {
	const op = "turn.fail"
	step, err := prepareStep(f.TurnID, f.Step, "")
	if err != nil {
		return chat.Turn{}, sqlite.MapError(op, err)
	}
	return s.endTurn(ctx, op, f.TurnID, func(t *core.Tx, turn *schema.TurnRow) error { return failPrepared(t, turn, f, step) })
}

// endTurn runs a transaction that ends a running turn, and returns the turn.
func (s *Records) endTurn(ctx context.Context, op string, id chat.TurnID, do func(*core.Tx, *schema.TurnRow) error) (chat.Turn, error) {
	row, err := core.Change(ctx, s.Core, op, func(t *core.Tx) (schema.TurnRow, error) {
		turn, err := schema.TurnHead(t.DB, id)
		if err == nil {
			err = do(t, &turn)
		}
		if err != nil {
			return turn, err
		}
		return endedTurn(t.DB, id)
	})
	if err != nil {
		return chat.Turn{}, err
	}
	s.SetRunning(id, false)
	return row.Turn(), nil
}

// FinalOutcomes are the outcomes of a final answer.
var FinalOutcomes = map[chat.Outcome]bool{
	chat.OutcomeCompleted: true, chat.OutcomeTruncated: true, chat.OutcomeRefused: true,
	chat.OutcomeStopped: true, chat.OutcomeKept: true, chat.OutcomePaused: true,
}

// endedTurn returns a turn without its answer if that is long.
func endedTurn(db *gorm.DB, id chat.TurnID) (schema.TurnRow, error) {
	columns := strings.Replace(schema.TurnColumns, "t.final_assistant_message_json",
		`CASE WHEN octet_length(t.final_assistant_message_json) <= `+strconv.Itoa(codec.MaxWhole)+`
			THEN t.final_assistant_message_json END AS final_assistant_message_json`, 1)
	return sqlite.One[schema.TurnRow](db, "turn", id, `SELECT `+columns+` FROM turns t WHERE t.id = ?`, id)
}

// finalization is a final answer in stored form, prepared before its transaction.
type finalization struct {
	chat.Finalization
	step    *stepEnd
	message string        // JSON; that of a long answer is generated when it is written
	payload *core.Payload // of the event, if the answer is long
}

func prepareFinal(f chat.Finalization) (p finalization, err error) {
	p.Finalization = f
	if f.Message.Role != chat.RoleAssistant || f.Message.IsEmpty() {
		return p, sqlite.Invalid("An answer must have content.")
	}
	if !FinalOutcomes[f.Outcome] {
		return p, sqlite.Invalid("%q is not the outcome of a final answer.", f.Outcome)
	}
	var size schema.Counter
	if err := f.Message.WriteJSON(&size); err != nil {
		return p, sqlite.Invalid("The message cannot be stored: %v.", err)
	}
	if codec.IsLong(int(size)) {
		p.payload, err = events.LongAnswer(ledger.TurnFinalized{Outcome: f.Outcome, Usage: f.Usage}, f.Message.WriteJSON)
	} else {
		p.message, _, err = schema.EncodeMessage(f.Message)
	}
	if err == nil {
		p.step, err = prepareStep(f.TurnID, f.Step, p.message)
	}
	return p, err
}

// Finalize is finalizePrepared for a transaction that does more.
func Finalize(t *core.Tx, turn *schema.TurnRow, f chat.Finalization) error {
	p, err := prepareFinal(f)
	if err != nil {
		return err
	}
	return finalizePrepared(t, turn, p)
}

// FinalizeUnsent is Finalize for a turn whose answer comes from elsewhere, so no context was assembled for it.
func FinalizeUnsent(t *core.Tx, turn schema.TurnRow, f chat.Finalization) error {
	turn.Phase = string(chat.PhaseResponding)
	return Finalize(t, &turn, f)
}

func finalizePrepared(t *core.Tx, turn *schema.TurnRow, f finalization) error {
	if err := checkMove(*turn, chat.PhaseResponseFinalized); err != nil {
		return err
	}
	if err := closeSteps(t, turn, f.step); err != nil {
		return err
	}
	if err := endRemaining(t, f.Unanswered); err != nil {
		return err
	}
	if err := closeBatches(t, f.TurnID); err != nil {
		return err
	}
	if err := MergeTurnMetrics(t, f.TurnID, f.Metrics); err != nil {
		return err
	}
	if !t.Commits {
		if err := queue.Enqueue(t, chat.JobSummarizeTurn, *turn); err != nil {
			return err
		}
	}
	if f.payload != nil {
		debug.FreeOSMemory() // of the step, which is stored: two long texts are not held at once
		var err error
		if f.message, _, err = schema.EncodeMessage(f.Message); err != nil {
			return err
		}
	}
	return events.On(t, chat.SessionID(turn.SessionID)).Record(ledger.EventTurnFinalized, turn.ID,
		ledger.TurnFinalized{Outcome: f.Outcome, Assistant: json.RawMessage(f.message), Usage: f.Usage}, f.payload)
}

func interrupt(t *core.Tx, turn *schema.TurnRow, i chat.Interruption, step *stepEnd) error {
	if chat.Phase(turn.Phase) != chat.PhaseResponding {
		return sqlite.Conflict("Turn %d is %s and cannot become incomplete.", turn.TurnSeq, turn.Phase)
	}
	if err := closeSteps(t, turn, step); err != nil {
		return err
	}
	return events.Record(t, chat.SessionID(turn.SessionID), ledger.EventTurnInterrupted, turn.ID,
		ledger.TurnEnded{Outcome: chat.OutcomeIncomplete, Failure: i.Failure, Usage: i.Usage})
}

// Fail is failPrepared for a transaction that does more.
func Fail(t *core.Tx, turn *schema.TurnRow, f chat.TurnFailure) error {
	step, err := prepareStep(f.TurnID, f.Step, "")
	if err != nil {
		return err
	}
	return failPrepared(t, turn, f, step)
}

func failPrepared(t *core.Tx, turn *schema.TurnRow, f chat.TurnFailure, step *stepEnd) error {
	if f.Outcome != chat.OutcomeFailed && f.Outcome != chat.OutcomeDiscarded {
		return sqlite.Invalid("%q is not the outcome of a failed turn.", f.Outcome)
	}
	discards := chat.Outcome(turn.Outcome) == chat.OutcomeFailed && f.Outcome == chat.OutcomeDiscarded
	if chat.Phase(turn.Phase) != chat.PhaseFailed || !discards { // a failed turn that is discarded keeps its phase
		if err := checkMove(*turn, chat.PhaseFailed); err != nil {
			return err
		}
	}
	if err := closeSteps(t, turn, step); err != nil {
		return err
	}
	if err := closeBatches(t, f.TurnID); err != nil {
		return err
	}
	if err := MergeTurnMetrics(t, f.TurnID, f.Metrics); err != nil {
		return err
	}
	return events.Record(t, chat.SessionID(turn.SessionID), ledger.EventTurnFailed, turn.ID,
		ledger.TurnEnded{Outcome: f.Outcome, Failure: f.Failure})
}
