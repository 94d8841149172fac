package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
)

// Event is one entry of a session's ledger, with its payload as canonical JSON; nil if it was deleted under a receipt.
type Event struct {
	SessionID   string
	Seq         int64 // from 1, without gaps
	Type        Type
	Entity      string // id of its subject
	CreatedAt   string
	PayloadHash []byte // SHA-256 of the payload
	PrevHash    []byte // of the previous event; genesis: 32 zeros
	Hash        []byte
	Payload     []byte
}

// Sum chains an event to the previous one. It is the SHA-256 of these lines, each ended by a newline: the word
// contextinfinity.event.1, session id, event_seq in decimal, type, entity id, created_at, payload_hash in hex, the
// previous event's hash in hex (64 zeros before the first).
//
// payload_hash is the SHA-256 of the payload's canonical JSON before packing, so a payload can be deleted under a
// receipt without breaking the chain.
func (e Event) Sum() []byte {
	var b []byte
	for _, line := range []string{
		"contextinfinity.event.1", e.SessionID, strconv.FormatInt(e.Seq, 10), string(e.Type), e.Entity, e.CreatedAt,
		hex.EncodeToString(e.PayloadHash), hex.EncodeToString(e.PrevHash),
	} {
		b = append(append(b, line...), '\n')
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// Tail is the end of a ledger, to which the next event is chained.
type Tail struct {
	Seq  int64
	Hash []byte
}

// Genesis is the tail of an empty ledger.
func Genesis() Tail { return Tail{Hash: make([]byte, sha256.Size)} }

// Faults describes what is wrong with an event's position in the chain; the payload is not checked.
func (e Event) Faults(before Tail) []string {
	var out []string
	if e.Seq != before.Seq+1 {
		out = append(out, fmt.Sprintf("Events %d to %d are missing before it.", before.Seq+1, e.Seq-1))
	}
	if !bytes.Equal(e.PrevHash, before.Hash) {
		out = append(out, "It does not follow from the event before it.")
	}
	if !bytes.Equal(e.Hash, e.Sum()) {
		out = append(out, "It does not match its hash.")
	}
	if !e.Type.Known() {
		out = append(out, fmt.Sprintf("Its type %q is not known.", e.Type))
	}
	return out
}

// Intact reports whether the payload matches the event's hash.
func (e Event) Intact() bool {
	sum := sha256.Sum256(e.Payload)
	return e.Payload != nil && bytes.Equal(sum[:], e.PayloadHash)
}

// Tail is the end of a ledger whose last event is this one.
func (e Event) Tail() Tail { return Tail{e.Seq, e.Hash} }
