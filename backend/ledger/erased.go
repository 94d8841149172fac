package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"contextinfinity/backend/chat"
)

// ContentErased tells that a permanent deletion took content out of this ledger (SPEC 12). The
// payloads that held it were put in other words, in place: what is left of each is told
// here by hash, so that the chain vouches for it as for any other. Replayed, they give
// what is stored since.
type ContentErased struct {
	Receipt string        `json:"receipt"`
	Events  []ErasedEvent `json:"events"`
	Files   []chat.FileID `json:"files,omitempty"` // documents that are gone
}

// ErasedEvent is an earlier event whose payload was replaced.
type ErasedEvent struct {
	Seq    int64  `json:"event_seq"`
	SHA256 string `json:"payload_sha256"` // of what is in its place
}

// Erasures are what the content_erased events of a ledger say: by event_seq, the hash
// of the payload that replaced the one it was chained with, and the receipt it has.
type Erasures map[int64]Erasure

// Erasure is the outcome of one payload. The last permanent deletion that touched it counts.
type Erasure struct {
	Hash    []byte // SHA-256
	Receipt string
}

// Add reads a content_erased event that is whole. Other events, and those that are not
// whole, say nothing.
func (x Erasures) Add(e Event) {
	if e.Type != EventContentErased || !e.Intact() {
		return
	}
	var env envelope[ContentErased]
	if json.Unmarshal(e.Payload, &env) != nil {
		return
	}
	for _, r := range env.Data.Events {
		if hash, err := hex.DecodeString(r.SHA256); err == nil && r.Seq < e.Seq {
			x[r.Seq] = Erasure{hash, env.Data.Receipt}
		}
	}
}

// Vouch reports that the payload is what the event was chained with, or what a hard
// delete put in its place.
func (x Erasures) Vouch(e Event) bool {
	if e.Intact() {
		return true
	}
	r, ok := x[e.Seq]
	sum := sha256.Sum256(e.Payload)
	return ok && e.Payload != nil && bytes.Equal(r.Hash, sum[:])
}

// Reword is a payload of the same form with something else in it.
func Reword[P any](payload []byte, change func(*P)) ([]byte, error) {
	var env envelope[P]
	if err := json.Unmarshal(payload, &env); err != nil {
		return nil, err
	}
	change(&env.Data)
	return Payload(env.Data)
}

// contentErased takes away the documents that are gone. All else follows from the payloads.
func (s *State) contentErased(_ Event, p ContentErased) error {
	for _, id := range p.Files {
		delete(s.Files, string(id))
	}
	return nil
}
