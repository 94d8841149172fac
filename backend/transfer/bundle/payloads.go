package bundle

import (
	"bytes"
	"crypto/sha256"

	"contextinfinity/backend/ledger"
)

// payloadCheck remembers the payloads of a ledger that do not match their hash. A permanent deletion may have replaced
// them; a later event then certifies that.
type payloadCheck struct {
	deletions ledger.Deletions
	changed   map[int64][sha256.Size]byte
}

func newPayloadCheck() payloadCheck {
	return payloadCheck{ledger.Deletions{}, map[int64][sha256.Size]byte{}}
}

func (p payloadCheck) add(e ledger.Event) {
	p.deletions.Add(e)
	if e.Payload != nil && !e.Intact() {
		p.changed[e.Seq] = sha256.Sum256(e.Payload)
	}
}

// fault is the first event with an uncertified payload; 0: there is none.
func (p payloadCheck) fault() int64 {
	var first int64
	for seq, sum := range p.changed {
		if !bytes.Equal(p.deletions[seq].Hash, sum[:]) && (first == 0 || seq < first) {
			first = seq
		}
	}
	return first
}
