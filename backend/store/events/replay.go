package events

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// A replay rebuilds a session's records from its events, as ledger.State does with ids and hashes, and keeps the
// events unchanged. The result is compared with that state before it is committed, so payloads need no checks here.

// Play applies an event at the event's time.
func (a *Applier) Play(e ledger.Event, contents []bundle.Content) error {
	a.Now, a.contents = schema.ParseTime(e.CreatedAt), contents
	if err := a.FlushStep(e); err != nil {
		return err
	}
	if k := EventKinds[e.Type]; k.Apply != nil {
		data, err := k.Decode(e)
		if err != nil {
			return err
		}
		if err := k.Apply(a, e, data); err != nil {
			return err
		}
	}
	return a.Keep(e)
}

// Keep stores an event unchanged.
func (a *Applier) Keep(e ledger.Event) error {
	packed, err := a.pack(e)
	if err != nil {
		return err
	}
	return a.DB.Create(&schema.EventRow{
		SessionID: e.SessionID, EventSeq: e.Seq, Type: string(e.Type), EntityID: e.Entity, CreatedAt: e.CreatedAt,
		PayloadHash: e.PayloadHash, PrevHash: e.PrevHash, Hash: e.Hash, Payload: packed,
		Lane: e.Lane, LaneSeq: e.LaneSeq,
	}).Error
}

// pack packs the payload of an event, against an earlier one if it repeats much of that.
func (a *Applier) pack(e ledger.Event) ([]byte, error) {
	base, err := a.baseOf(e)
	if err != nil {
		return nil, err
	}
	if packed := base.PackOn(e.Payload); packed != nil {
		return packed, nil
	}
	return codec.Pack(e.Payload), nil
}

// baseOf returns the earlier event whose payload this one repeats.
func (a *Applier) baseOf(e ledger.Event) (codec.Base, error) {
	if len(e.Payload) < codec.MinLinked {
		return codec.Base{}, nil
	}
	session := chat.SessionID(a.Session)
	switch e.Type {
	case ledger.EventTurnFinalized:
		steps, err := sqlite.All[string](a.DB, `SELECT id FROM steps WHERE turn_id = ? ORDER BY step_index DESC, attempt DESC LIMIT 1`, e.Entity)
		if err != nil || len(steps) == 0 {
			return codec.Base{}, err
		}
		return a.PayloadOf(session, ledger.EventStepEnded, steps[0])
	case ledger.EventTurnIndexed:
		return a.PayloadOf(session, ledger.EventTurnFinalized, e.Entity)
	case ledger.EventStateCommitted:
		return PayloadOf(e, func(_ ledger.Event, s ledger.StateCommitted) (codec.Base, error) {
			return a.PayloadOf(session, ledger.EventStateCommitted, string(s.ParentID))
		})
	}
	return codec.Base{}, nil
}
