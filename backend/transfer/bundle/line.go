package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
)

// line is an event in events.ndjson. Payload is last and raw: payload_hash covers its bytes. PayloadBytes replaces it
// if they are not text.
type line struct {
	Seq          int64           `json:"event_seq"`
	Lane         string          `json:"lane,omitempty"`
	LaneSeq      int64           `json:"lane_seq,omitempty"`
	SessionID    string          `json:"session_id"`
	Type         string          `json:"type"`
	Entity       string          `json:"entity_id"`
	CreatedAt    string          `json:"created_at"`
	PayloadHash  string          `json:"payload_hash"`
	PrevHash     string          `json:"prev_hash"`
	Hash         string          `json:"hash"`
	PayloadBytes []byte          `json:"payload_bytes,omitempty"` // base64 in JSON
	Payload      json.RawMessage `json:"payload"`                 // null: deleted permanently
}

// encodeEvent is an event's line, without its newline.
func encodeEvent(e ledger.Event) ([]byte, error) {
	l := line{
		Seq: e.Seq, Lane: e.Lane, LaneSeq: e.LaneSeq, SessionID: e.SessionID, Type: string(e.Type), Entity: e.Entity, CreatedAt: e.CreatedAt,
		PayloadHash: hex.EncodeToString(e.PayloadHash), PrevHash: hex.EncodeToString(e.PrevHash), Hash: hex.EncodeToString(e.Hash),
	}
	if e.Payload == nil {
		return chat.MarshalJSON(l)
	}
	if !fitsOnLine(e.Payload) {
		l.PayloadBytes = e.Payload
		return chat.MarshalJSON(l)
	}
	b, err := chat.MarshalJSON(l)
	if err != nil {
		return nil, err
	}
	// Appended by hand: an encoder would process the payload again, and might change it.
	b = append(bytes.TrimSuffix(b, []byte("null}")), e.Payload...)
	return append(b, '}'), nil
}

// fitsOnLine reports whether a payload stays unchanged as a part of a line of JSON.
func fitsOnLine(payload []byte) bool {
	return utf8.Valid(payload) && json.Valid(payload) && !bytes.ContainsAny(payload, "\n\r") &&
		len(bytes.TrimSpace(payload)) == len(payload) && string(payload) != "null"
}

// decodeEvent parses a line. It is not checked against the chain here.
func decodeEvent(b []byte) (ledger.Event, error) {
	if !utf8.Valid(b) {
		return ledger.Event{}, errors.New("it is not UTF-8")
	}
	var l line
	if err := json.Unmarshal(b, &l); err != nil {
		return ledger.Event{}, fmt.Errorf("it cannot be read: %w", err)
	}
	e := ledger.Event{
		SessionID: l.SessionID, Seq: l.Seq, Lane: l.Lane, LaneSeq: l.LaneSeq, Type: ledger.Type(l.Type), Entity: l.Entity,
		CreatedAt: l.CreatedAt, Payload: l.Payload,
	}
	if string(l.Payload) == "null" {
		e.Payload = nil
	}
	if l.PayloadBytes != nil {
		e.Payload = l.PayloadBytes
	}
	for _, h := range []struct {
		text string
		into *[]byte
	}{{l.PayloadHash, &e.PayloadHash}, {l.PrevHash, &e.PrevHash}, {l.Hash, &e.Hash}} {
		hash, err := hex.DecodeString(h.text)
		if err != nil || len(hash) != sha256.Size {
			return e, errors.New("one of its hashes is invalid")
		}
		*h.into = hash
	}
	return e, nil
}
