package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"
	"maps"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
)

// Parcel is an event with the contents that it names.
type Parcel struct {
	Event    ledger.Event
	Contents []Content
	// Replaced: the payload is what a permanent deletion put in place of another one; the event that says so comes separately.
	Replaced bool
}

// Segment is a part of a session's ledger that travels alone: events in the order in which a device stored them, among
// which it learned of no others. The Seq of each event is its number in its lane, and LaneSeq is 0.
type Segment struct {
	Session chat.SessionID
	// Knew has the number of the last event of each lane that the device had before, so the segment fits wherever
	// these are.
	Knew    map[string]int64
	Parcels []Parcel
	// Deleted: the session was permanently deleted, when it was as Knew says. There are no events.
	Deleted bool
	At      string // when
	// Of: the text of this turn was permanently deleted in the session. There are no events.
	Of string
	// Upto is where the device stored the last of them, if nothing follows it there; it does not travel.
	Upto int64
	// In is the file of the vault with the segment; it does not travel.
	In string
}

// Gone is a session that was permanently deleted, and that a vault had; or what was deleted in a session that stays.
type Gone struct {
	Session  chat.SessionID   `json:"-"`
	Of       string           `json:"-"`                  // as Segment.Of, or what else was deleted; empty: the session itself
	Knew     map[string]int64 `json:"knew"`               // as Segment.Knew
	At       string           `json:"at,omitempty"`       // when it was deleted first, as far as known
	Sent     bool             `json:"sent,omitempty"`     // the vault has the deletion from this device
	Files    []string         `json:"files,omitempty"`    // of the vault, that contain the session
	Contents []string         `json:"contents,omitempty"` // of the vault, that only these files named
	Answered []string         `json:"answered,omitempty"` // the devices that carried it out
}

// Unsent is what a vault lacks of the sessions here.
type Unsent struct {
	Segments []Segment
	More     bool                     // there is more
	Running  []chat.SessionID         // nothing of these is sent while an answer is being written
	Faults   map[chat.SessionID]error // nothing of these can be read
}

type segmentHead struct {
	Session chat.SessionID   `json:"session"`
	Knew    map[string]int64 `json:"knew"`
	Events  int              `json:"events"`
	Deleted bool             `json:"deleted,omitempty"`
	At      string           `json:"at,omitempty"`
	Of      string           `json:"of,omitempty"`
}

// Encode appends a segment to b: a line that describes it; for each event its line, as in a bundle, and for each of its
// contents a line and its bytes. Contents for which apart returns true are stored elsewhere, under their SHA-256.
func (s Segment) Encode(b *bytes.Buffer, apart func(session chat.SessionID, c Content, sha256 string) (bool, error)) error {
	put := func(line []byte, err error) error {
		b.Write(line)
		b.WriteByte('\n')
		return err
	}
	if err := put(chat.MarshalJSON(segmentHead{s.Session, s.Knew, len(s.Parcels), s.Deleted, s.At, s.Of})); err != nil {
		return err
	}
	for _, p := range s.Parcels {
		if err := put(encodeEvent(p.Event)); err != nil {
			return err
		}
		for _, c := range p.Contents {
			if c.Left != "" {
				if err := put(chat.MarshalJSON(contentHead{p.Event.Seq, c.Kind, c.Size, c.Left, true})); err != nil {
					return err
				}
				continue
			}
			sum := sha256.Sum256(c.Bytes)
			head := contentHead{Seq: p.Event.Seq, Kind: c.Kind, Size: int64(len(c.Bytes)), SHA256: hex.EncodeToString(sum[:])}
			var err error
			if head.Apart, err = apart(s.Session, c, head.SHA256); err != nil {
				return err
			}
			if err := put(chat.MarshalJSON(head)); err != nil {
				return err
			}
			if !head.Apart {
				_ = put(c.Bytes, nil)
			}
		}
	}
	return nil
}

// DecodeSegments reads segments; fetch returns a content that is stored elsewhere, by its SHA-256; nil: it is left out.
func DecodeSegments(b []byte, fetch func(session chat.SessionID, sha256 string) ([]byte, error)) ([]Segment, error) {
	r := &segmentReader{rest: b, fetch: fetch}
	var out []Segment
	for len(r.rest) > 0 {
		var head segmentHead
		if err := r.line(&head); err != nil {
			return nil, err
		}
		s := Segment{Session: head.Session, Knew: head.Knew, Deleted: head.Deleted, At: head.At, Of: head.Of}
		r.session = head.Session
		for range head.Events {
			p, err := r.parcel()
			if err != nil {
				return nil, err
			}
			s.Parcels = append(s.Parcels, p)
		}
		out = append(out, s)
	}
	return out, nil
}

// shortestEvent is less than the line of any event, which has three hashes in hex, and more than the line about a content.
const shortestEvent = 250

type segmentReader struct {
	rest    []byte
	fetch   func(session chat.SessionID, sha256 string) ([]byte, error)
	session chat.SessionID
}

// next takes a line.
func (r *segmentReader) next() ([]byte, error) {
	line, rest, ok := bytes.Cut(r.rest, []byte{'\n'})
	if !ok {
		return nil, refused("a segment is cut off")
	}
	r.rest = rest
	return line, nil
}

func (r *segmentReader) line(into any) error {
	line, err := r.next()
	if err == nil && json.Unmarshal(line, into) != nil {
		err = refused("a segment cannot be read")
	}
	return err
}

func (r *segmentReader) parcel() (Parcel, error) {
	line, err := r.next()
	if err != nil {
		return Parcel{}, err
	}
	e, err := decodeEvent(line)
	if err != nil {
		return Parcel{}, refused("an event of a segment: %v", err)
	}
	p := Parcel{Event: e}
	for {
		var head contentHead
		line, rest, _ := bytes.Cut(r.rest, []byte{'\n'})
		if len(line) > shortestEvent || json.Unmarshal(line, &head) != nil || head.Kind == "" { // the next event or segment
			break
		}
		r.rest = rest
		c, err := r.content(head)
		if err != nil {
			return p, err
		}
		p.Contents = append(p.Contents, c)
	}
	return p, nil
}

func (r *segmentReader) content(head contentHead) (Content, error) {
	c := Content{Seq: head.Seq, Kind: head.Kind}
	switch {
	case head.Apart:
		var err error
		if c.Bytes, err = r.fetch(r.session, head.SHA256); err != nil || c.Bytes == nil {
			c.Left, c.Size = head.SHA256, head.Size
			return c, err
		}
	case head.Size < 0 || head.Size >= int64(len(r.rest)):
		return c, refused("a content of a segment is cut off")
	default:
		c.Bytes, r.rest = r.rest[:head.Size:head.Size], r.rest[head.Size+1:]
	}
	if sum := sha256.Sum256(c.Bytes); hex.EncodeToString(sum[:]) != head.SHA256 {
		return c, refused("the %s of event %d does not match its hash", c.Kind, c.Seq)
	}
	return c, nil
}

// ReadLedger reads the ledger of a session that was put together from parts, with the checks that a bundle gets: each event
// has its position as Seq, and its number as LaneSeq if there are lanes. They continue a ledger that ends with last and
// tails, or begin one. deletions are those known beside its events.
func ReadLedger(
	session chat.SessionID, lanes bool, last ledger.Event, tails ledger.Tails, deletions ledger.Deletions, parcels iter.Seq2[Parcel, error],
	do func(ledger.Event, []Content) error,
) error {
	p := pass{meta: Meta{SessionID: session}, last: last, tails: ledger.Tails{}, payloads: newPayloadCheck()}
	maps.Copy(p.tails, tails)
	p.payloads.deletions = deletions
	if lanes {
		p.meta.Lanes, p.meta.SchemaVersion = 1, SchemaVersionLanes
	}
	n := int64(0)
	for parcel, err := range parcels {
		if err != nil {
			return err
		}
		n++
		if err := p.check(n, parcel.Event); err != nil {
			return err
		}
		if err := do(parcel.Event, parcel.Contents); err != nil {
			return err
		}
	}
	return p.checkPayloads()
}
