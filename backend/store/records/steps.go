package records

import (
	"bytes"
	"context"
	"errors"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// BeginStep starts an attempt of a provider call. Its row, including the request, is durable before anything is sent;
// the turn is Responding from here on.
func (s *Records) BeginStep(ctx context.Context, b chat.StepStart) (chat.Step, error) {
	row, err := core.Change(ctx, s.Core, "step.begin", func(t *core.Tx) (schema.StepRow, error) {
		turn, err := schema.TurnHead(t.DB, b.TurnID)
		if err != nil {
			return schema.StepRow{}, err
		}
		return BeginStep(t, turn, b)
	})
	if err != nil {
		return chat.Step{}, err
	}
	s.Requests.Put(row.ID, bytes.Clone(b.Request))
	s.SetRunning(b.TurnID, true)
	return row.Step(), nil
}

// BeginStep does the same inside a transaction.
func BeginStep(t *core.Tx, turn schema.TurnRow, b chat.StepStart) (schema.StepRow, error) {
	if chat.Phase(turn.Phase) != chat.PhaseResponding {
		if err := checkMove(turn, chat.PhaseResponding); err != nil {
			return schema.StepRow{}, err
		}
	} else if turn.Outcome != "" {
		return schema.StepRow{}, sqlite.Conflict("Turn %d is incomplete.", turn.TurnSeq).WithHint("retry or continue it")
	}
	if err := refuseRunningStep(t, b.TurnID); err != nil {
		return schema.StepRow{}, err
	}
	if b.Index < 0 {
		return schema.StepRow{}, sqlite.Invalid("A step's index must not be negative.")
	}
	attempt, err := sqlite.One[int](t.DB, "turn", b.TurnID,
		`SELECT coalesce(max(attempt), 0) + 1 FROM steps WHERE turn_id = ? AND step_index = ?`, b.TurnID, b.Index)
	if err != nil {
		return schema.StepRow{}, err
	}
	id := chat.StepID(t.NewID())
	record := ledger.StepStarted{
		TurnID: b.TurnID, Index: b.Index, Attempt: attempt,
		Provider: schema.Clean(b.Provider), ModelID: schema.Clean(b.ModelID),
		RequestSHA256: schema.HexHash(b.Request), RequestBytes: len(b.Request), ToolsMode: b.ToolsMode,
	}
	if b.StreamPath != nil {
		record.StreamPath = schema.Clean(b.StreamPath(id))
	}
	if err := events.Record(t, chat.SessionID(turn.SessionID), ledger.EventStepStarted, string(id), record,
		bundle.Content{Kind: bundle.Request, Bytes: b.Request}); err != nil {
		return schema.StepRow{}, err
	}
	return stepByID(t.DB, id)
}

func refuseRunningStep(t *core.Tx, turn chat.TurnID) error {
	open, err := sqlite.All[string](t.DB, `SELECT id FROM steps WHERE turn_id = ? AND status = 'running'`, turn)
	if err == nil && len(open) > 0 {
		err = sqlite.Conflict("Step %s of this turn is still open.", open[0])
	}
	return err
}

// StepProgress stores how much of a running step's answer was shown, and how much of that is durable (SRD 13.2). The
// counters never decrease, and those of an ended step are final. They enter the ledger when the step ends.
func (s *Records) StepProgress(ctx context.Context, step chat.StepID, displayed, durable int64) error {
	return s.Write(ctx, "step.progress", func(t *core.Tx) error {
		return t.Run(`UPDATE steps SET stream_displayed_bytes = max(stream_displayed_bytes, ?),
			stream_durable_bytes = max(stream_durable_bytes, ?) WHERE id = ? AND status = 'running'`, displayed, durable, step)
	})
}

// EndStep ends an attempt that does not end its turn.
func (s *Records) EndStep(ctx context.Context, e chat.StepEnd) error {
	const op = "step.end"
	turn, err := core.Query(ctx, s, op, func(db *gorm.DB) (chat.TurnID, error) {
		return sqlite.One[chat.TurnID](db, "step", e.StepID, `SELECT turn_id FROM steps WHERE id = ?`, e.StepID)
	})
	if err != nil {
		return err
	}
	ended, err := prepareStep(turn, &e, "")
	if err != nil {
		return sqlite.MapError(op, err)
	}
	return s.Write(ctx, op, func(t *core.Tx) error {
		head, err := schema.TurnHead(t.DB, turn)
		if err != nil {
			return err
		}
		return ended.end(t, &head)
	})
}

// stepEnd is the end of a step, prepared before its transaction.
type stepEnd struct {
	chat.StepEnd
	stored *events.EndedStep
}

// prepareStep encodes a step's end; nil for none. answer is the JSON of the turn's final message.
func prepareStep(turn chat.TurnID, e *chat.StepEnd, answer string) (*stepEnd, error) {
	if e == nil {
		return nil, nil
	}
	stored, err := events.PrepareStep(turn, *e, answer)
	return &stepEnd{*e, stored}, err
}

// closeSteps ends the step that ends together with its turn. If no step is given, none may be open.
func closeSteps(t *core.Tx, turn *schema.TurnRow, e *stepEnd) error {
	if e != nil {
		if err := e.end(t, turn); err != nil {
			return err
		}
	}
	return refuseRunningStep(t, chat.TurnID(turn.ID))
}

func (e *stepEnd) end(t *core.Tx, turn *schema.TurnRow) error {
	step, err := stepByID(t.DB, e.StepID)
	if err != nil {
		return err
	}
	if err := checkStepEnd(step, chat.TurnID(turn.ID), e.StepEnd); err != nil {
		return err
	}
	if err := putStepMetrics(t, chat.TurnID(turn.ID), e.StepID, e.Metrics); err != nil {
		return err
	}
	return events.RecordStepEnd(t, chat.SessionID(turn.SessionID), e.stored)
}

func checkStepEnd(step schema.StepRow, turn chat.TurnID, e chat.StepEnd) error {
	switch {
	case step.TurnID != string(turn):
		return sqlite.Invalid("Step %s belongs to another turn.", e.StepID)
	case chat.StepStatus(step.Status) != chat.StepRunning:
		return sqlite.Conflict("Step %s has already ended.", e.StepID)
	case e.Outcome.Status == chat.StepRunning || e.Outcome.Status == "":
		return sqlite.Invalid("A step cannot end as running.")
	case e.DisplayedBytes < 0 || e.DurableBytes < 0:
		return sqlite.Invalid("A step's byte counts must not be negative.")
	}
	return nil
}

// NewEventPack encodes a long stream while it arrives, for a StepEnd.
func (s *Records) NewEventPack() chat.EventPack { return schema.NewEventPack() }

// StepEvents yields the exact stream of a step, one event at a time, and returns an error of yield.
func (s *Records) StepEvents(ctx context.Context, id chat.StepID, yield func(chat.RawEvent) error) error {
	var row schema.StepRow
	err := s.Read(ctx, "step.events", func(db *gorm.DB) (err error) {
		row, err = sqlite.One[schema.StepRow](db, "step", id, `SELECT raw_events FROM steps WHERE id = ?`, id)
		if _, _, based := codec.BaseOf(row.RawEvents); err == nil && based {
			row, err = sqlite.One[schema.StepRow](db, "step", id, `SELECT raw_events, `+schema.ItemColumns+` FROM steps WHERE id = ?`, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	err = row.EachEvent(yield)
	if yieldErr, ok := errors.AsType[*schema.YieldError](err); ok {
		return yieldErr.Unwrap()
	}
	if err != nil {
		return sqlite.CorruptRecord("steps", string(id), err)
	}
	return nil
}
