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
	// Lacks is what had been deleted from it by events of other lanes.
	Lacks []string `json:"lacks,omitempty"`
}

// Same reports whether o is the same replacement.
func (r DeletedEvent) Same(o DeletedEvent) bool {
	return r.Lane == o.Lane && r.Seq == o.Seq && r.SHA256 == o.SHA256
}

// Deletions are the content of a ledger's content_erased events: for each event, the hashes of the replacements of its
// payload, and the receipts, in the order of the events. Each device makes its own replacement.
type Deletions map[Spot][]Deletion

// Deletion is a permanent deletion that changed a payload.
type Deletion struct {
	Hash    []byte // SHA-256
	Receipt string
	By      Spot     // the event that says so; zero: it has not come yet
	Of      string   // what was deleted
	Lacks   []string // what had been deleted before by others
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
		if r.Seq < e.Number() {
			x.add(r, Deletion{Receipt: env.Data.Receipt, By: e.Spot(), Of: e.Entity, Lacks: r.Lacks})
		}
	}
}

func (x Deletions) add(r DeletedEvent, d Deletion) {
	if hash, err := hex.DecodeString(r.SHA256); err == nil {
		d.Hash = hash
		at := Spot{r.Lane, r.Seq}
		x[at] = append(x[at], d)
	}
}

// AddEarly adds a replacement of which the event that says so has not come yet.
func (x Deletions) AddEarly(r DeletedEvent) { x.add(r, Deletion{}) }

// Lacks returns what was deleted from a payload that a permanent deletion put in place of another one: each device deletes from what
// it has, so what its lane certifies lacks all that the lane deleted before too, and what the lane says that others had. last is the
// latest event that certifies it. Nothing: no event here certifies it.
func (x Deletions) Lacks(at Spot, payload []byte) (of map[string]bool, last Spot) {
	of = map[string]bool{}
	sum := sha256.Sum256(payload)
	for _, m := range x[at] {
		if m.By == (Spot{}) || !bytes.Equal(m.Hash, sum[:]) {
			continue
		}
		for _, d := range x[at] {
			if d.By.Lane == m.By.Lane && d.By.Number <= m.By.Number && d.By.Number > 0 {
				of[d.Of] = true
				for _, other := range d.Lacks {
					of[other] = true
				}
			}
		}
		if last.before(m.By) {
			last = m.By
		}
	}
	return of, last
}

// Names reports whether an event here says that a payload was replaced by this one.
func (x Deletions) Names(r DeletedEvent) bool {
	return slices.ContainsFunc(x[Spot{r.Lane, r.Seq}], func(d Deletion) bool { return d.By != (Spot{}) && hex.EncodeToString(d.Hash) == r.SHA256 })
}

// before is the common order of events.
func (s Spot) before(t Spot) bool {
	return s.Number < t.Number || s.Number == t.Number && s.Lane < t.Lane
}

// Newer reports whether the payload of an event is to stand in place of another one, wherever that is: more was deleted from it, or
// the same and it was certified later. Of two payloads from which different things were deleted neither is newer, and nothing is
// known of one that no event here certifies. So devices that know the same never disagree.
func (x Deletions) Newer(e Event, than []byte) bool {
	mine, last := x.Lacks(e.Spot(), e.Payload)
	theirs, theirLast := x.Lacks(e.Spot(), than)
	e.Payload = than
	if len(mine) == 0 || len(theirs) == 0 && !e.Intact() {
		return false
	}
	for of := range theirs {
		if !mine[of] {
			return false
		}
	}
	return len(mine) > len(theirs) || theirLast.before(last)
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
