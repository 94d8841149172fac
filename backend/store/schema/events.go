package schema

import "contextinfinity/backend/ledger"

type EventRow struct {
	SessionID   string
	EventSeq    int64
	Type        string
	EntityID    string
	CreatedAt   string
	PayloadHash []byte
	PrevHash    []byte
	Hash        []byte
	Payload     []byte
	Lane        string
	LaneSeq     int64
}

func (EventRow) TableName() string { return "events" }

// Event returns the row with its decoded payload.
func (r EventRow) Event(payload []byte) ledger.Event {
	return ledger.Event{
		SessionID: r.SessionID, Seq: r.EventSeq, Type: ledger.Type(r.Type), Entity: r.EntityID, CreatedAt: r.CreatedAt,
		PayloadHash: r.PayloadHash, PrevHash: r.PrevHash, Hash: r.Hash, Payload: payload,
		Lane: r.Lane, LaneSeq: r.LaneSeq,
	}
}
