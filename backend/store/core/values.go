package core

import (
	"errors"
	"fmt"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// A state's summary repeats most of its parent's; the event that ends something repeats the one that began it; a
// step's items repeat the final answer of its turn, and its raw events repeat the items. They are packed against
// those, as requests are packed against requests. Such a value begins with codec.PackedOn, its depth and the
// event_seq it is based on (0: the implied base of its kind). A chain has at most fifteen bases.
//
// An event that others are based on can be deleted only after those are packed again. Its hash, and so the ledger's
// chain, covers the unpacked content and does not change.

// UnpackPayload decodes an event's payload, reading its base if it has one.
func UnpackPayload(db *gorm.DB, session string, packed []byte) ([]byte, error) {
	depth, ref, ok := codec.BaseOf(packed)
	if !ok {
		return codec.Unpack(packed)
	}
	base, err := sqlite.All[struct{ Payload []byte }](db, `SELECT payload FROM events WHERE session_id = ? AND event_seq = ?`, session, ref)
	if err != nil {
		return nil, err
	}
	if len(base) == 0 || base[0].Payload == nil {
		return nil, fmt.Errorf("event %d, which it is based on, is missing", ref)
	}
	if below, _, _ := codec.BaseOf(base[0].Payload); below >= depth {
		return nil, errors.New("payloads that are based on each other")
	}
	value, err := UnpackPayload(db, session, base[0].Payload)
	if err != nil {
		return nil, err
	}
	return codec.UnpackOn(value, packed)
}

// PayloadOf returns the payload of the newest event of a kind about an entity, as a base for another. An unreadable one
// is not used as a base.
func (t *Tx) PayloadOf(session chat.SessionID, kind ledger.Type, entity string) (codec.Base, error) {
	if entity == "" {
		return codec.Base{}, nil
	}
	rows, err := sqlite.All[schema.EventRow](t.DB, `SELECT event_seq, payload FROM events WHERE entity_id = ? AND session_id = ? AND type = ?
		AND length(payload) <= ? ORDER BY event_seq DESC LIMIT 1`, entity, session, kind, codec.MaxWhole)
	if err != nil || len(rows) == 0 || codec.UnpacksLong(rows[0].Payload) {
		return codec.Base{}, err
	}
	depth, _, _ := codec.BaseOf(rows[0].Payload)
	value, err := UnpackPayload(t.DB, string(session), rows[0].Payload)
	if err != nil {
		return codec.Base{}, nil
	}
	return codec.Base{Value: value, Depth: depth, Ref: rows[0].EventSeq}, nil
}
