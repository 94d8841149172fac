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
	Seq         int64 // from 1, without gaps: its position in the ledger
	Type        Type
	Entity      string // id of its subject
	CreatedAt   string
	PayloadHash []byte // SHA-256 of the payload
	PrevHash    []byte // of the previous event; genesis: 32 zeros
	Hash        []byte
	Payload     []byte
	Lane        string // of the device that wrote it; empty: the device on which the session began
	LaneSeq     int64  // its number, if the session has lanes; 0: Seq
}

// Number is one more than the highest number that its writer knew in the session, so it grows within a lane, and no
// event comes before one that its writer knew.
func (e Event) Number() int64 {
	if e.LaneSeq != 0 {
		return e.LaneSeq
	}
	return e.Seq
}

// Spot names an event in the same way on every device.
func (e Event) Spot() Spot { return Spot{e.Lane, e.Number()} }

// Spot is a lane and a number in it. The order of a ledger is that of (number, lane).
type Spot struct {
	Lane   string
	Number int64
}

// Sum chains an event to the previous one. It is the SHA-256 of these lines, each ended by a newline: the word
// contextinfinity.event.1, session id, number in decimal, type, entity id, created_at, payload_hash in hex, the hash of
// the previous event of the lane in hex (64 zeros before the first). In a lane with a name, the first line is
// contextinfinity.event.2, and the name of the lane follows it.
//
// payload_hash is the SHA-256 of the payload's canonical JSON before packing, so a payload can be deleted under a
// receipt without breaking the chain.
func (e Event) Sum() []byte {
	var b []byte
	version := "contextinfinity.event.1"
	if e.Lane != "" {
		version = "contextinfinity.event.2\n" + e.Lane
	}
	for _, line := range []string{
		version, e.SessionID, strconv.FormatInt(e.Number(), 10), string(e.Type), e.Entity, e.CreatedAt,
		hex.EncodeToString(e.PayloadHash), hex.EncodeToString(e.PrevHash),
	} {
		b = append(append(b, line...), '\n')
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// Tail is the end of a lane, to which the next event is chained.
type Tail struct {
	Seq  int64 // the number of its last event
	Hash []byte
}

// Tails are the ends of the lanes of a ledger, by their names.
type Tails map[string]Tail

// Of returns the end of a lane, which may have no events yet.
func (t Tails) Of(lane string) Tail {
	if tail, ok := t[lane]; ok {
		return tail
	}
	return Genesis()
}

// Numbers returns the number of the last event of each lane.
func (t Tails) Numbers() map[string]int64 {
	out := map[string]int64{}
	for lane, tail := range t {
		out[lane] = tail.Seq
	}
	return out
}

// Follow returns what is wrong with an event's position in its lane, and makes it the lane's end.
func (t Tails) Follow(e Event) []string {
	faults := e.Faults(t.Of(e.Lane))
	t[e.Lane] = e.Tail()
	return faults
}

// Genesis is the tail of a lane without events.
func Genesis() Tail { return Tail{Hash: make([]byte, sha256.Size)} }

// Faults describes what is wrong with an event's position in the chain; the payload is not checked.
func (e Event) Faults(before Tail) []string {
	var out []string
	if number := e.Number(); e.LaneSeq == 0 && number != before.Seq+1 {
		out = append(out, fmt.Sprintf("Events %d to %d are missing before it.", before.Seq+1, number-1))
	} else if number <= before.Seq { // what is missing in a lane shows in the hash
		out = append(out, "Its number is not above that of the event before it.")
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

// Tail is the end of a lane whose last event is this one.
func (e Event) Tail() Tail { return Tail{e.Number(), e.Hash} }
