package bundle

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"contextinfinity/backend/ledger"
)

// payloadCheck remembers the payloads of a ledger that do not match their hash. A permanent deletion may have replaced
// them; a later event then certifies that.
type payloadCheck struct {
	deletions ledger.Deletions
	changed   map[int64]changedPayload // by position
}

// changedPayload is what an event has in place of its payload.
type changedPayload struct {
	spot ledger.Spot
	hash [sha256.Size]byte
}

func newPayloadCheck() payloadCheck {
	return payloadCheck{ledger.Deletions{}, map[int64]changedPayload{}}
}

func (p payloadCheck) add(e ledger.Event) {
	p.deletions.Add(e)
	if e.Payload != nil && !e.Intact() {
		p.changed[e.Seq] = changedPayload{e.Spot(), sha256.Sum256(e.Payload)}
	}
}

// fault is the first event with an uncertified payload; 0: there is none.
func (p payloadCheck) fault() int64 {
	var first int64
	for seq, c := range p.changed {
		certified := slices.ContainsFunc(p.deletions[c.spot], func(d ledger.Deletion) bool { return bytes.Equal(d.Hash, c.hash[:]) })
		if !certified && (first == 0 || seq < first) {
			first = seq
		}
	}
	return first
}
