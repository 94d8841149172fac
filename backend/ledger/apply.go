package ledger

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Apply applies an event to the state. An event out of sequence, or one that cannot be replayed, is an error and
// changes nothing. The hash chain is not checked here; see Faults and Intact.
func (s *State) Apply(e Event) error {
	if e.SessionID != s.SessionID {
		return fmt.Errorf("it belongs to session %s", e.SessionID)
	}
	if e.Seq != s.EventSeq+1 {
		return fmt.Errorf("its number is %d, after %d", e.Seq, s.EventSeq)
	}
	if !utf8.ValidString(e.Entity) {
		return errors.New("its entity id is not valid UTF-8")
	}
	if err := s.apply(e); err != nil {
		return err
	}
	s.Advance(e)
	return nil
}

// Advance moves the state past an event without applying it. Verification also uses it for events that cannot be
// applied: it reports them and continues.
func (s *State) Advance(e Event) { s.EventSeq, s.EventHash = e.Seq, hex.EncodeToString(e.Hash) }

func (s *State) apply(e Event) error {
	data, err := dataOf(e.Payload)
	if err != nil {
		return err
	}
	reduce := reducers[e.Type]
	if reduce == nil {
		return nil // unknown type: bundles refuse it, and verify reports it
	}
	return reduce(s, e, data)
}

// canonicalStart is how Payload begins.
var canonicalStart = fmt.Appendf(nil, `{"v":%d,"data":`, PayloadVersion)

// dataOf is the data of a payload. If the function Payload wrote it, the data is not copied: a payload can be 40 MB.
func dataOf(payload []byte) (json.RawMessage, error) {
	if data, ok := bytes.CutPrefix(payload, canonicalStart); ok && bytes.HasSuffix(data, []byte("}")) {
		if data = data[:len(data)-1]; json.Valid(data) {
			return data, nil
		}
	}
	var env envelope[json.RawMessage]
	if err := json.Unmarshal(payload, &env); err != nil {
		return nil, err
	}
	if env.Version != PayloadVersion {
		return nil, fmt.Errorf("payload version %d", env.Version)
	}
	return env.Data, nil
}

// update applies a change to a record created by an earlier event.
func update[R any](rows map[string]*R, id string, change func(*R)) error {
	r, ok := rows[id]
	if !ok {
		return fmt.Errorf("no earlier event created %s", id)
	}
	change(r)
	return nil
}
