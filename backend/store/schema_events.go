package store

import "contextinfinity/backend/ledger"

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

// event is the row with its decoded payload.
func (r eventRow) event(payload []byte) ledger.Event {
	return ledger.Event{
		SessionID: r.SessionID, Seq: r.EventSeq, Type: ledger.Type(r.Type), Entity: r.EntityID, CreatedAt: r.CreatedAt,
		PayloadHash: r.PayloadHash, PrevHash: r.PrevHash, Hash: r.Hash, Payload: payload,
	}
}
