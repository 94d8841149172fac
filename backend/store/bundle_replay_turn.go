package store

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/transfer/bundle"
)

// turnApplier is applier for events of a turn, its steps and its index.
func (p *replayer) turnApplier(t ledger.Type) func(ledger.Event) error {
	switch t {
	case ledger.EventTurnAccepted:
		return playing(p.turnAccepted)
	case ledger.EventTurnPrepared:
		return playing(p.turnPrepared)
	case ledger.EventTurnResumed:
		return playing(p.turnResumed)
	case ledger.EventTurnInterrupted, ledger.EventTurnFailed:
		return playing(p.turnEnded)
	case ledger.EventTurnFinalized:
		return playing(p.turnFinalized)
	case ledger.EventTurnIndexed:
		return playing(p.turnIndexed)
	case ledger.EventStepStarted:
		return playing(p.stepStarted)
	case ledger.EventStepEnded:
		return playing(p.stepEnded)
	}
	return nil
}

// turn is a turn of the session that an earlier event made.
func (p *replayer) turn(id string) (turnRow, error) {
	row, err := turnHead(p.db, chat.TurnID(id))
	if err == nil && row.SessionID != p.session {
		err = invalid("Turn %s is of another session.", id)
	}
	return row, err
}

func (p *replayer) turnAccepted(e ledger.Event, d ledger.TurnAccepted) error {
	n, err := one[int64](p.db, "turns", "", `SELECT coalesce(max(n), 0) + 1 FROM turns`)
	if err != nil {
		return err
	}
	message := string(d.User)
	if err := p.db.Create(&turnRow{
		ID: e.Entity, N: n, SessionID: p.session, BranchID: string(d.BranchID), TurnSeq: d.Seq, StateBefore: string(d.StateBefore),
		Phase: string(chat.PhaseAccepted), PrimaryProvider: d.Provider, PrimaryModel: d.Model, RetryOf: orNull(d.RetryOf),
		CreatedAt: e.CreatedAt, UpdatedAt: e.CreatedAt, UserMessageJSON: message, UserHash: hashBytes([]byte(message)),
	}).Error; err != nil {
		return err
	}
	return p.touch(p.session)
}

func (p *replayer) turnPrepared(e ledger.Event, d ledger.TurnPrepared) error {
	turn, err := p.turn(e.Entity)
	if err != nil {
		return err
	}
	chunks, err := p.retrieved(turn)
	if err != nil {
		return err
	}
	if err := p.putManifest(turn, p.content(bundle.Manifest), chunks); err != nil {
		return err
	}
	return p.set(`UPDATE turns SET phase = CASE phase WHEN 'Accepted' THEN 'ContextPrepared' ELSE phase END WHERE id = ?`, turn.ID)
}

func (p *replayer) turnResumed(e ledger.Event, _ struct{}) error {
	return p.set(`UPDATE turns SET outcome = '', error_json = NULL, updated_at = ? WHERE id = ? AND session_id = ?`, e.CreatedAt, e.Entity, p.session)
}

func (p *replayer) turnEnded(e ledger.Event, d ledger.TurnEnded) error {
	turn, err := p.turn(e.Entity)
	if err != nil {
		return err
	}
	if e.Type == ledger.EventTurnFailed {
		if err := p.set(`UPDATE turns SET phase = 'Failed' WHERE id = ?`, turn.ID); err != nil {
			return err
		}
	}
	return p.setEnd(&turn, d.Outcome, d.Failure, d.Usage)
}

func (p *replayer) turnFinalized(e ledger.Event, d ledger.TurnFinalized) error {
	message := string(d.Assistant)
	usage, err := encodeOptional(d.Usage)
	if err != nil {
		return err
	}
	if err := p.set(`UPDATE turns SET phase = 'ResponseFinalized', outcome = ?, final_assistant_message_json = ?, assistant_hash = ?,
		usage_json = coalesce(?, usage_json), error_json = NULL, updated_at = ? WHERE id = ? AND session_id = ?`,
		d.Outcome, message, hashBytes([]byte(message)), usage, e.CreatedAt, e.Entity, p.session); err != nil {
		return err
	}
	return p.touch(p.session)
}

func (p *replayer) stepStarted(e ledger.Event, d ledger.StepStarted) error {
	turn, err := p.turn(string(d.TurnID))
	if err != nil {
		return err
	}
	if chat.Phase(turn.Phase) != chat.PhaseResponding {
		if err := p.set(`UPDATE turns SET phase = 'Responding', updated_at = ? WHERE id = ?`, e.CreatedAt, turn.ID); err != nil {
			return err
		}
	}
	row := stepRow{
		ID: e.Entity, TurnID: turn.ID, StepIndex: d.Index, Attempt: d.Attempt, Status: string(chat.StepRunning), Provider: d.Provider,
		ModelID: d.ModelID, StartedAt: e.CreatedAt, StreamPath: d.StreamPath, OutcomeJSON: `{"status":"running"}`, NormalizedItemsJSON: "[]",
	}
	packed, link, err := p.packRequest(turn, orEmpty(p.content(bundle.Request)))
	if err != nil {
		return err
	}
	row.RequestJSON = packed
	if err := p.db.Create(&row).Error; err != nil || link == nil {
		return err
	}
	return requestChain.link(p.tx, row.ID, link)
}

// lastStep is the end of a step, before it is known whether the turn's answer repeats
// its items.
type lastStep struct {
	row  stepRow
	turn string
	d    ledger.StepEnded
}

func (p *replayer) stepEnded(e ledger.Event, d ledger.StepEnded) error {
	outcome, err := chat.MarshalJSON(&d.Outcome)
	if err != nil {
		return err
	}
	usage, err := encodeOptional(d.Usage)
	if err != nil {
		return err
	}
	end := e.CreatedAt
	p.ended = &lastStep{turn: string(d.TurnID), d: d, row: stepRow{
		ID: e.Entity, Status: string(d.Outcome.Status), EndedAt: &end, OutcomeJSON: string(outcome), NormalizedItemsJSON: string(d.Items),
		UsageJSON: usage, ResponseJSON: pack(p.content(bundle.Response)), RawEvents: p.content(bundle.RawEvents),
	}}
	return nil
}

// settleStep stores the step whose end came before an event; nothing comes after the
// last one.
func (p *replayer) settleStep(next ledger.Event) error {
	s := p.ended
	if s == nil {
		return nil
	}
	p.ended = nil
	var answer []byte
	if next.Type == ledger.EventTurnFinalized && next.Entity == s.turn {
		if _, err := payloadOf(next, func(_ ledger.Event, d ledger.TurnFinalized) (struct{}, error) {
			answer = []byte(d.Assistant)
			return struct{}{}, nil
		}); err != nil {
			return err
		}
	}
	r := s.row
	r.rest(answer)
	return p.set(`UPDATE steps SET status = ?, ended_at = ?, outcome_json = ?, normalized_items_json = ?, items_z = ?, usage_json = ?,
		stream_displayed_bytes = ?, stream_durable_bytes = ?, response_json = ?, raw_events = ?
		WHERE id = ? AND turn_id IN (SELECT t.id FROM turns t WHERE t.session_id = ?)`,
		r.Status, r.EndedAt, r.OutcomeJSON, r.NormalizedItemsJSON, r.ItemsZ, r.UsageJSON, s.d.DisplayedBytes, s.d.DurableBytes,
		r.ResponseJSON, r.RawEvents, r.ID, p.session)
}
