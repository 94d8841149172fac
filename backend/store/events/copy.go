package events

import (
	"encoding/json"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
)

// Copying converts the events of a session to those of another, with new ids, also in payloads, and a new chain.
// Times and contents stay. Requests to providers and their responses stay byte for byte, including the ids in them.
type Copying struct {
	now     time.Time
	Session string
	ids     map[string]string
	tail    ledger.Tail
	entity  string // of the event that is copied
	err     error  // why the event cannot be copied
}

func NewCopying(now time.Time, session string) *Copying {
	c := &Copying{now: now, ids: map[string]string{}, tail: ledger.Genesis()}
	c.Session = c.id(session)
	return c
}

// id returns the copy's id for one of the original's. Ids are assigned in the order in which they occur, because some
// sort orders use them.
func (c *Copying) id(old string) string {
	if old == "" {
		return ""
	}
	made, ok := c.ids[old]
	if !ok {
		made = chat.NewID(c.now)
		c.ids[old] = made
	}
	return made
}

// idOf is id for any id type, in place.
func idOf[T ~string](c *Copying, at *T) { *at = T(c.id(string(*at))) }

func idsOf[T ~string](c *Copying, list []T) {
	for i := range list {
		idOf(c, &list[i])
	}
}

// Event converts an event of the original; nil if the copy has no such event: a calibration belongs to no session.
func (c *Copying) Event(e ledger.Event) (*ledger.Event, error) {
	if EventKinds[e.Type].shared {
		return nil, nil
	}
	payload, err := c.payload(e)
	if err != nil {
		return nil, err
	}
	made := ledger.Event{
		SessionID: c.Session, Seq: c.tail.Seq + 1, Type: e.Type, Entity: c.id(e.Entity), CreatedAt: e.CreatedAt,
		PayloadHash: codec.Hash(payload), PrevHash: c.tail.Hash, Payload: payload,
	}
	made.Hash = made.Sum()
	c.tail = made.Tail()
	return &made, nil
}

// payload returns a payload with the copy's ids; one without ids is returned unchanged.
func (c *Copying) payload(e ledger.Event) ([]byte, error) {
	k := EventKinds[e.Type]
	if k.copied == nil {
		return e.Payload, nil
	}
	c.entity = e.Entity
	return k.copied(c, e)
}

// message is a message that names the copy's documents, and its chunks where those are
// known.
func (c *Copying) message(raw json.RawMessage) (json.RawMessage, error) {
	m, err := schema.DecodeMessage(chat.RoleUser, string(raw))
	if err != nil {
		return nil, err
	}
	changed := false
	for i, b := range m.Blocks {
		switch b := b.(type) {
		case chat.Document:
			idOf(c, &b.File)
			m.Blocks[i], changed = b, true
		case chat.Memory:
			if made, ok := c.ids[string(b.Chunk)]; ok {
				b.Chunk = chat.ChunkID(made)
				m.Blocks[i], changed = b, true
			}
		}
	}
	if !changed {
		return raw, nil
	}
	return chat.MarshalJSON(m)
}
