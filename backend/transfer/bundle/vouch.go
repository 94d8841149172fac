package bundle

import (
	"bytes"
	"crypto/sha256"

	"contextinfinity/backend/ledger"
)

// vouching follows a ledger and remembers payloads that do not match their hash. A permanent deletion may have
// replaced them: a later event then certifies that.
type vouching struct {
	erasures ledger.Erasures
	changed  map[int64][sha256.Size]byte
}

func newVouching() vouching {
	return vouching{ledger.Erasures{}, map[int64][sha256.Size]byte{}}
}

func (v vouching) see(e ledger.Event) {
	v.erasures.Add(e)
	if e.Payload != nil && !e.Intact() {
		v.changed[e.Seq] = sha256.Sum256(e.Payload)
	}
}

// fault is the first event with an uncertified payload; 0: there is none.
func (v vouching) fault() int64 {
	var first int64
	for seq, sum := range v.changed {
		if !bytes.Equal(v.erasures[seq].Hash, sum[:]) && (first == 0 || seq < first) {
			first = seq
		}
	}
	return first
}
