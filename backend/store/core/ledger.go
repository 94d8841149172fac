package core

import (
	"fmt"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// LedgerTail is the end of a session's ledger.
type LedgerTail struct {
	EventSeq int64
	Hash     []byte
}

// Event appends to the session's ledger, in the transaction of the change.
func (t *Tx) Event(session chat.SessionID, kind ledger.Type, entity string, data any) error {
	return t.EventOn(codec.Base{}, session, kind, entity, data)
}

// EventOn is Event for a payload that repeats much of an earlier one.
func (t *Tx) EventOn(base codec.Base, session chat.SessionID, kind ledger.Type, entity string, data any) error {
	encoded, err := ledger.Payload(data)
	if err != nil {
		return fmt.Errorf("encoding %s event: %w", kind, err)
	}
	p := Payload{Packed: base.PackOn(encoded), Hash: codec.Hash(encoded)}
	if p.Packed == nil {
		p.Packed = codec.Pack(encoded)
	}
	return t.Append(session, kind, entity, p)
}

// Payload is an event's payload as stored, and the hash of its content.
type Payload struct{ Packed, Hash []byte }

// Append adds an event to the session's ledger.
func (t *Tx) Append(session chat.SessionID, kind ledger.Type, entity string, p Payload) error {
	tail, err := t.tail(session)
	if err != nil {
		return err
	}
	row := schema.EventRow{
		SessionID: string(session), EventSeq: tail.EventSeq + 1, Type: string(kind), EntityID: entity,
		CreatedAt: t.Stamp(), PayloadHash: p.Hash, PrevHash: tail.Hash, Payload: p.Packed,
	}
	row.Hash = row.Event(nil).Sum()
	if err := t.DB.Create(&row).Error; err != nil {
		return err
	}
	t.tails[session] = LedgerTail{row.EventSeq, row.Hash}
	return nil
}

func (t *Tx) tail(session chat.SessionID) (LedgerTail, error) {
	if tail, ok := t.tails[session]; ok {
		return tail, nil
	}
	rows, err := sqlite.All[LedgerTail](t.DB, `SELECT event_seq, hash FROM events WHERE session_id = ? ORDER BY event_seq DESC LIMIT 1`, session)
	if err != nil || len(rows) == 0 {
		return LedgerTail{Hash: ledger.Genesis().Hash}, err
	}
	return rows[0], nil
}
