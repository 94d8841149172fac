package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// BeginStep starts an attempt of a provider call. Its row, including the request, is durable before anything is sent;
// the turn is Responding from here on.
func (s *Records) BeginStep(ctx context.Context, b chat.StepStart) (chat.Step, error) {
	row, err := core.Change(ctx, s.Core, "step.begin", func(t *core.Tx) (schema.StepRow, error) { return BeginStep(t, b) })
	if err != nil {
		return chat.Step{}, err
	}
	s.Requests.Put(row.ID, bytes.Clone(b.Request))
	s.SetRunning(b.TurnID, true)
	return row.Step(), nil
}

func BeginStep(t *core.Tx, b chat.StepStart) (schema.StepRow, error) {
	turn, err := schema.TurnHead(t.DB, b.TurnID)
	if err != nil {
		return schema.StepRow{}, err
	}
	if chat.Phase(turn.Phase) != chat.PhaseResponding {
		if err := EnterPhase(t, &turn, chat.PhaseResponding); err != nil {
			return schema.StepRow{}, err
		}
	} else if turn.Outcome != "" {
		return schema.StepRow{}, sqlite.Conflict("Turn %d is incomplete.", turn.TurnSeq).WithHint("retry or continue it")
	}
	if err := refuseRunningStep(t, b.TurnID); err != nil {
		return schema.StepRow{}, err
	}
	row, err := newStep(t, b)
	if err != nil {
		return row, err
	}
	packed, link, err := delta.PackRequest(t, turn, schema.OrEmpty(b.Request))
	if err != nil {
		return row, err
	}
	row.RequestJSON = packed
	if err := t.DB.Create(&row).Error; err != nil {
		return row, err
	}
	if link != nil {
		if err := delta.RequestChain.Link(t, row.ID, link); err != nil {
			return row, err
		}
	}
	return row, t.Event(chat.SessionID(turn.SessionID), ledger.EventStepStarted, row.ID, ledger.StepStarted{
		TurnID: b.TurnID, Index: row.StepIndex, Attempt: row.Attempt, Provider: row.Provider, ModelID: row.ModelID,
		StreamPath: row.StreamPath, RequestSHA256: schema.HexHash(b.Request), RequestBytes: len(b.Request), ToolsMode: row.ToolsMode,
	})
}

func newStep(t *core.Tx, b chat.StepStart) (schema.StepRow, error) {
	if b.Index < 0 {
		return schema.StepRow{}, sqlite.Invalid("A step's index must not be negative.")
	}
	attempt, err := sqlite.One[int](t.DB, "turn", b.TurnID,
		`SELECT coalesce(max(attempt), 0) + 1 FROM steps WHERE turn_id = ? AND step_index = ?`, b.TurnID, b.Index)
	row := schema.StepRow{
		ID: t.NewID(), TurnID: string(b.TurnID), StepIndex: b.Index, Attempt: attempt,
		Status: string(chat.StepRunning), Provider: schema.Clean(b.Provider), ModelID: schema.Clean(b.ModelID), StartedAt: t.Stamp(),
		OutcomeJSON: `{"status":"running"}`, NormalizedItemsJSON: "[]", ToolsMode: b.ToolsMode,
	}
	if b.StreamPath != nil {
		row.StreamPath = schema.Clean(b.StreamPath(chat.StepID(row.ID)))
	}
	return row, err
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
	ended, err := PrepareStep(turn, &e, "")
	if err != nil {
		return sqlite.MapError(op, err)
	}
	return s.Write(ctx, op, func(t *core.Tx) error { return EndStep(t, turn, ended) })
}

// closeSteps ends the step that ends together with its turn. If no step is given, none may be open.
func closeSteps(t *core.Tx, turn chat.TurnID, e *EndedStep) error {
	if e != nil {
		if err := EndStep(t, turn, e); err != nil {
			return err
		}
	}
	return refuseRunningStep(t, turn)
}

func EndStep(t *core.Tx, turn chat.TurnID, e *EndedStep) error {
	step, err := stepByID(t.DB, e.StepID)
	if err != nil {
		return err
	}
	if err := checkStepEnd(step, turn, e.StepEnd); err != nil {
		return err
	}
	if e.payload != nil {
		debug.FreeOSMemory() // frees the memory of encoding; the database now makes its own copies
	}
	if err := t.Run(`UPDATE steps SET status = ?, ended_at = ?, outcome_json = ?, normalized_items_json = ?, items_z = ?, usage_json = ?,
		stream_displayed_bytes = ?, stream_durable_bytes = ?, response_json = ?, raw_events = ? WHERE id = ?`,
		e.row.Status, t.Stamp(), e.row.OutcomeJSON, e.row.NormalizedItemsJSON, e.row.ItemsZ, e.row.UsageJSON,
		e.DisplayedBytes, e.DurableBytes, e.row.ResponseJSON, e.row.RawEvents, e.StepID); err != nil {
		return err
	}
	if err := putStepMetrics(t, turn, e.StepID, e.Metrics); err != nil {
		return err
	}
	head, err := schema.TurnHead(t.DB, turn)
	if err != nil {
		return err
	}
	session := chat.SessionID(head.SessionID)
	if e.payload != nil {
		return t.Append(session, ledger.EventStepEnded, string(e.StepID), *e.payload)
	}
	return t.Event(session, ledger.EventStepEnded, string(e.StepID), e.record)
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

// EndedStep is a step's end in stored form. It is prepared before the transaction, because packing a long stream
// takes seconds, which would block other writers.
type EndedStep struct {
	chat.StepEnd
	row     schema.StepRow
	record  ledger.StepEnded
	payload *core.Payload // of record, if its items are long
}

// PrepareStep encodes a step's end; nil for none. answer is the JSON of the turn's final message, a possible base of
// the items.
func PrepareStep(turn chat.TurnID, e *chat.StepEnd, answer string) (*EndedStep, error) {
	if e == nil {
		return nil, nil
	}
	p := &EndedStep{StepEnd: *e}
	if p.Items == nil {
		p.Items = chat.Items{}
	}
	var size schema.Counter
	err := p.Items.WriteJSON(&size)
	if err != nil {
		return nil, sqlite.Invalid("The step's items cannot be stored: %v.", err)
	}
	if p.row, err = endedRow(*e); err != nil {
		return nil, err
	}
	p.record = endedEvent(turn, *e)
	if codec.IsLong(int(size)) {
		return p, p.prepareLong()
	}
	items, _, err := schema.EncodeText(p.Items)
	if err != nil {
		return nil, err
	}
	p.row.NormalizedItemsJSON, p.record.Items = items, json.RawMessage(items)
	base := p.row.PackItems([]byte(answer))
	p.row.RawEvents, p.record.EventsSHA256, err = schema.PackEvents(*e, base)
	return p, err
}

// prepareLong is like PackItems but encodes long items in pieces.
func (p *EndedStep) prepareLong() (err error) {
	if p.row.ItemsZ, err = codec.PackWritten(p.Items.WriteJSON); err != nil {
		return err
	}
	if p.row.RawEvents, p.record.EventsSHA256, err = schema.PackEvents(p.StepEnd, codec.Base{}); err != nil {
		return err
	}
	p.record.Items = json.RawMessage(longMark)
	p.payload, err = longPayload(p.record, longMark, p.Items.WriteJSON)
	return err
}

// endedRow returns the row of a step's end without its items and raw events.
func endedRow(e chat.StepEnd) (schema.StepRow, error) {
	outcome, err := chat.MarshalJSON(e.Outcome)
	if err != nil {
		return schema.StepRow{}, err
	}
	usage, err := schema.EncodeOptional(e.Usage)
	return schema.StepRow{
		Status: string(e.Outcome.Status), OutcomeJSON: string(outcome), UsageJSON: usage, ResponseJSON: codec.Pack(e.Response),
	}, err
}

func endedEvent(turn chat.TurnID, e chat.StepEnd) ledger.StepEnded {
	ev := ledger.StepEnded{
		TurnID: turn, Outcome: e.Outcome, Usage: e.Usage, DisplayedBytes: e.DisplayedBytes, DurableBytes: e.DurableBytes,
	}
	if e.Response != nil {
		ev.ResponseSHA256 = schema.HexHash(e.Response)
	}
	return ev
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
