package store

import (
	"fmt"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// ledgerTail is the end of a session's ledger.
type ledgerTail struct {
	EventSeq int64
	Hash     []byte
}

// event appends to the session's ledger, in the transaction of the change.
func (t *tx) event(session chat.SessionID, kind ledger.Type, entity string, data any) error {
	return t.eventOn(codec.Base{}, session, kind, entity, data)
}

// eventOn is event with a payload that repeats much of an earlier one.
func (t *tx) eventOn(base codec.Base, session chat.SessionID, kind ledger.Type, entity string, data any) error {
	told, err := ledger.Payload(data)
	if err != nil {
		return fmt.Errorf("encoding %s event: %w", kind, err)
	}
	p := payload{packed: base.PackOn(told), hash: codec.Hash(told)}
	if p.packed == nil {
		p.packed = codec.Pack(told)
	}
	return t.append(session, kind, entity, p)
}

// payload is what an event tells, as it is stored, and the hash of what it says.
type payload struct{ packed, hash []byte }

// append adds an event to the session's ledger.
func (t *tx) append(session chat.SessionID, kind ledger.Type, entity string, p payload) error {
	tail, err := t.tail(session)
	if err != nil {
		return err
	}
	row := schema.EventRow{
		SessionID: string(session), EventSeq: tail.EventSeq + 1, Type: string(kind), EntityID: entity,
		CreatedAt: t.Stamp(), PayloadHash: p.hash, PrevHash: tail.Hash, Payload: p.packed,
	}
	row.Hash = row.Event(nil).Sum()
	if err := t.DB.Create(&row).Error; err != nil {
		return err
	}
	t.tails[session] = ledgerTail{row.EventSeq, row.Hash}
	return nil
}

func (t *tx) tail(session chat.SessionID) (ledgerTail, error) {
	if tail, ok := t.tails[session]; ok {
		return tail, nil
	}
	rows, err := sqlite.All[ledgerTail](t.DB, `SELECT event_seq, hash FROM events WHERE session_id = ? ORDER BY event_seq DESC LIMIT 1`, session)
	if err != nil || len(rows) == 0 {
		return ledgerTail{Hash: ledger.Genesis().Hash}, err
	}
	return rows[0], nil
}
