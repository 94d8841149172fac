package store

import (
	"encoding/hex"
	"fmt"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/sqlite"
)

type eventRow struct {
	SessionID   string
	EventSeq    int64
	Type        string
	EntityID    string
	CreatedAt   string
	PayloadHash []byte
	PrevHash    []byte
	Hash        []byte
	Payload     []byte
}

func (eventRow) TableName() string { return "events" }

// ledgerTail is the end of a session's ledger.
type ledgerTail struct {
	EventSeq int64
	Hash     []byte
}

// event is the row with its decoded payload.
func (r eventRow) event(payload []byte) ledger.Event {
	return ledger.Event{
		SessionID: r.SessionID, Seq: r.EventSeq, Type: ledger.Type(r.Type), Entity: r.EntityID, CreatedAt: r.CreatedAt,
		PayloadHash: r.PayloadHash, PrevHash: r.PrevHash, Hash: r.Hash, Payload: payload,
	}
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
	row := eventRow{
		SessionID: string(session), EventSeq: tail.EventSeq + 1, Type: string(kind), EntityID: entity,
		CreatedAt: t.Stamp(), PayloadHash: p.hash, PrevHash: tail.Hash, Payload: p.packed,
	}
	row.Hash = row.event(nil).Sum()
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

func hexHash(b []byte) string { return hex.EncodeToString(codec.Hash(b)) }
