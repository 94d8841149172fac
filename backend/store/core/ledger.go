package core

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// LedgerTail is the end of a session's ledger.
type LedgerTail struct {
	EventSeq int64
	Hash     []byte
}

// Payload is an event's payload as stored, and the hash of its content.
type Payload struct{ Packed, Hash []byte }

// Append adds an event to the session's ledger.
func (t *Tx) Append(session chat.SessionID, kind ledger.Type, entity string, p Payload) error {
	tail, err := t.Tail(session)
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

// Tail returns the end of a session's ledger.
func (t *Tx) Tail(session chat.SessionID) (LedgerTail, error) {
	if tail, ok := t.tails[session]; ok {
		return tail, nil
	}
	rows, err := sqlite.All[LedgerTail](t.DB, `SELECT event_seq, hash FROM events WHERE session_id = ? ORDER BY event_seq DESC LIMIT 1`, session)
	if err != nil || len(rows) == 0 {
		return LedgerTail{Hash: ledger.Genesis().Hash}, err
	}
	return rows[0], nil
}
