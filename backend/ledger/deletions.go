package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"contextinfinity/backend/chat"
)

// ContentDeleted records that a permanent deletion removed content from this ledger (SPEC 12). The payloads with the
// content were replaced in place; this event has the hashes of the replacements, so that the chain covers them like
// any other payload. A replay of the replacements gives the stored data.
type ContentDeleted struct {
	Receipt string         `json:"receipt"`
	Events  []DeletedEvent `json:"events"`
	Files   []chat.FileID  `json:"files,omitempty"` // deleted documents
}

// DeletedEvent is an earlier event whose payload was replaced.
type DeletedEvent struct {
	Lane   string `json:"lane,omitempty"`
	Seq    int64  `json:"event_seq"`      // its number
	SHA256 string `json:"payload_sha256"` // of the replacement
}

// Deletions are the content of a ledger's content_erased events: for each event, the hashes of the replacements of its
// payload, and the receipts, in the order of the events. Each device makes its own replacement.
type Deletions map[Spot][]Deletion

// Deletion is a permanent deletion that changed a payload.
type Deletion struct {
	Hash    []byte // SHA-256
	Receipt string
}

// Add reads an intact content_erased event. Other events are ignored.
func (x Deletions) Add(e Event) {
	if e.Type != EventContentDeleted || !e.Intact() {
		return
	}
	var env envelope[ContentDeleted]
	if json.Unmarshal(e.Payload, &env) != nil {
		return
	}
	for _, r := range env.Data.Events {
		if hash, err := hex.DecodeString(r.SHA256); err == nil && r.Seq < e.Number() {
			at := Spot{r.Lane, r.Seq}
			x[at] = append(x[at], Deletion{hash, env.Data.Receipt})
		}
	}
}

// Certifies reports whether the payload matches the event's hash, or is its replacement from a permanent deletion.
func (x Deletions) Certifies(e Event) bool {
	if e.Intact() {
		return true
	}
	sum := sha256.Sum256(e.Payload)
	return e.Payload != nil && slices.ContainsFunc(x[e.Spot()], func(r Deletion) bool { return bytes.Equal(r.Hash, sum[:]) })
}

// Rewrite creates a payload of the same form with different content.
func Rewrite[P any](payload []byte, change func(*P)) ([]byte, error) {
	var env envelope[P]
	if err := json.Unmarshal(payload, &env); err != nil {
		return nil, err
	}
	change(&env.Data)
	return Payload(env.Data)
}

// contentDeleted removes deleted documents. All other changes follow from the replaced payloads.
func (s *State) contentDeleted(_ Event, p ContentDeleted) error {
	for _, id := range p.Files {
		delete(s.Files, string(id))
	}
	return nil
}
