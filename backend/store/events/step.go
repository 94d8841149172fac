package events

import (
	"encoding/json"
	"runtime/debug"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// stepEvents are the events about model calls.
var stepEvents = map[ledger.Type]eventKind{
	ledger.EventStepStarted: kindOf((*Applier).stepStarted, func(c *Copying, d *ledger.StepStarted) {
		remapID(c, &d.TurnID)
		if d.StreamPath != "" {
			d.StreamPath = StreamPath(c.id(c.entity))
		}
	}),
	ledger.EventStepEnded: kindOf((*Applier).stepEnded, func(c *Copying, d *ledger.StepEnded) { remapID(c, &d.TurnID) }),
}

func (a *Applier) stepStarted(e ledger.Event, d ledger.StepStarted) error {
	turn, err := a.turn(string(d.TurnID))
	if err != nil {
		return err
	}
	if chat.Phase(turn.Phase) != chat.PhaseResponding {
		if err := a.set(`UPDATE turns SET phase = 'Responding', updated_at = ? WHERE id = ?`, e.CreatedAt, turn.ID); err != nil {
			return err
		}
	}
	row := schema.StepRow{
		ID: e.Entity, TurnID: turn.ID, StepIndex: d.Index, Attempt: d.Attempt, Status: string(chat.StepRunning), Provider: d.Provider,
		ModelID: d.ModelID, StartedAt: e.CreatedAt, StreamPath: d.StreamPath, OutcomeJSON: `{"status":"running"}`, NormalizedItemsJSON: "[]", ToolsMode: d.ToolsMode,
	}
	packed, link, err := delta.PackRequest(a.Tx, turn, schema.OrEmpty(a.content(bundle.Request)))
	if err != nil {
		return err
	}
	row.RequestJSON = packed
	if err := a.DB.Create(&row).Error; err != nil || link == nil {
		return err
	}
	return delta.RequestChain.Link(a.Tx, row.ID, link)
}

// stepEnded keeps the end of a step until it is known whether the turn's answer repeats its items.
func (a *Applier) stepEnded(e ledger.Event, d ledger.StepEnded) error {
	row, err := endedRow(d, a.content(bundle.Response))
	if err != nil {
		return err
	}
	end := e.CreatedAt
	row.ID, row.EndedAt = e.Entity, &end
	row.NormalizedItemsJSON, row.RawEvents = string(d.Items), a.content(bundle.RawEvents)
	a.ended = &EndedStep{row: row, record: d}
	return nil
}

// FlushStep stores the step that ended before an event. It is also called after the last event.
func (a *Applier) FlushStep(next ledger.Event) error {
	s := a.ended
	if s == nil {
		return nil
	}
	a.ended = nil
	var answer []byte
	if next.Type == ledger.EventTurnFinalized && next.Entity == string(s.record.TurnID) {
		if _, err := PayloadOf(next, func(_ ledger.Event, d ledger.TurnFinalized) (struct{}, error) {
			answer = []byte(d.Assistant)
			return struct{}{}, nil
		}); err != nil {
			return err
		}
	}
	s.row.Pack(answer)
	return a.putEnd(s.row)
}

// putEnd stores the end of a step of the session.
func (a *Applier) putEnd(r schema.StepRow) error {
	return a.set(`UPDATE steps SET status = ?, ended_at = ?, outcome_json = ?, normalized_items_json = ?, items_z = ?, usage_json = ?,
		stream_displayed_bytes = ?, stream_durable_bytes = ?, response_json = ?, raw_events = ?
		WHERE id = ? AND turn_id IN (SELECT t.id FROM turns t WHERE t.session_id = ?)`,
		r.Status, r.EndedAt, r.OutcomeJSON, r.NormalizedItemsJSON, r.ItemsZ, r.UsageJSON,
		r.StreamDisplayedBytes, r.StreamDurableBytes, r.ResponseJSON, r.RawEvents, r.ID, a.Session)
}

// EndedStep is a step's end in stored form. It is prepared before the transaction, because packing a long stream
// takes seconds, which would block other writers.
type EndedStep struct {
	row     schema.StepRow
	record  ledger.StepEnded
	payload *core.Payload // of record, if its items are long
}

// PrepareStep encodes a step's end. answer is the JSON of the turn's final message, a possible base of the items.
func PrepareStep(turn chat.TurnID, e chat.StepEnd, answer string) (*EndedStep, error) {
	if e.Items == nil {
		e.Items = chat.Items{}
	}
	var size schema.Counter
	if err := e.Items.WriteJSON(&size); err != nil {
		return nil, sqlite.Invalid("The step's items cannot be stored: %v.", err)
	}
	s := &EndedStep{record: ledger.StepEnded{
		TurnID: turn, Outcome: e.Outcome, Usage: e.Usage, DisplayedBytes: e.DisplayedBytes, DurableBytes: e.DurableBytes,
	}}
	if e.Response != nil {
		s.record.ResponseSHA256 = schema.HexHash(e.Response)
	}
	var err error
	if s.row, err = endedRow(s.record, e.Response); err != nil {
		return nil, err
	}
	s.row.ID = string(e.StepID)
	if codec.IsLong(int(size)) {
		return s, s.prepareLong(e)
	}
	items, _, err := schema.EncodeText(e.Items)
	if err != nil {
		return nil, err
	}
	s.row.NormalizedItemsJSON, s.record.Items = items, json.RawMessage(items)
	s.row.RawEvents, s.record.EventsSHA256, err = schema.PackEvents(e, s.row.PackItems([]byte(answer)))
	return s, err
}

// prepareLong is like PackItems but encodes long items in pieces.
func (s *EndedStep) prepareLong(e chat.StepEnd) (err error) {
	if s.row.ItemsZ, err = codec.PackWritten(e.Items.WriteJSON); err != nil {
		return err
	}
	if s.row.RawEvents, s.record.EventsSHA256, err = schema.PackEvents(e, codec.Base{}); err != nil {
		return err
	}
	s.record.Items = json.RawMessage(longMark)
	s.payload, err = longPayload(s.record, longMark, e.Items.WriteJSON)
	return err
}

// endedRow returns the row of a step's end without its id, time, items and raw events.
func endedRow(d ledger.StepEnded, response []byte) (schema.StepRow, error) {
	outcome, err := chat.MarshalJSON(&d.Outcome)
	if err != nil {
		return schema.StepRow{}, err
	}
	usage, err := schema.EncodeOptional(d.Usage)
	return schema.StepRow{
		Status: string(d.Outcome.Status), OutcomeJSON: string(outcome), UsageJSON: usage, ResponseJSON: codec.Pack(response),
		StreamDisplayedBytes: d.DisplayedBytes, StreamDurableBytes: d.DurableBytes,
	}, err
}

// RecordStepEnd stores a step's end and writes its event.
func RecordStepEnd(t *core.Tx, session chat.SessionID, s *EndedStep) error {
	if s.payload != nil {
		debug.FreeOSMemory() // frees the memory of encoding; the database now makes its own copies
	}
	a, end := On(t, session), t.Stamp()
	s.row.EndedAt = &end
	if err := a.putEnd(s.row); err != nil {
		return err
	}
	e := ledger.Event{SessionID: a.Session, Type: ledger.EventStepEnded, Entity: s.row.ID, CreatedAt: end}
	s.row = schema.StepRow{} // it is stored: a long answer is not held twice
	return a.write(e, s.record, s.payload)
}
