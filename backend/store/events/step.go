package events

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/schema"
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

// lastStep is the end of a step, before it is known whether the turn's answer repeats its items.
type lastStep struct {
	row  schema.StepRow
	turn string
	d    ledger.StepEnded
}

func (a *Applier) stepEnded(e ledger.Event, d ledger.StepEnded) error {
	outcome, err := chat.MarshalJSON(&d.Outcome)
	if err != nil {
		return err
	}
	usage, err := schema.EncodeOptional(d.Usage)
	if err != nil {
		return err
	}
	end := e.CreatedAt
	a.ended = &lastStep{turn: string(d.TurnID), d: d, row: schema.StepRow{
		ID: e.Entity, Status: string(d.Outcome.Status), EndedAt: &end, OutcomeJSON: string(outcome), NormalizedItemsJSON: string(d.Items),
		UsageJSON: usage, ResponseJSON: codec.Pack(a.content(bundle.Response)), RawEvents: a.content(bundle.RawEvents),
	}}
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
	if next.Type == ledger.EventTurnFinalized && next.Entity == s.turn {
		if _, err := PayloadOf(next, func(_ ledger.Event, d ledger.TurnFinalized) (struct{}, error) {
			answer = []byte(d.Assistant)
			return struct{}{}, nil
		}); err != nil {
			return err
		}
	}
	r := s.row
	r.Pack(answer)
	return a.set(`UPDATE steps SET status = ?, ended_at = ?, outcome_json = ?, normalized_items_json = ?, items_z = ?, usage_json = ?,
		stream_displayed_bytes = ?, stream_durable_bytes = ?, response_json = ?, raw_events = ?
		WHERE id = ? AND turn_id IN (SELECT t.id FROM turns t WHERE t.session_id = ?)`,
		r.Status, r.EndedAt, r.OutcomeJSON, r.NormalizedItemsJSON, r.ItemsZ, r.UsageJSON, s.d.DisplayedBytes, s.d.DurableBytes,
		r.ResponseJSON, r.RawEvents, r.ID, a.Session)
}
