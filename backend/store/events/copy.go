package events

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/pattern"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/transfer/bundle"
)

// Copying converts the events of a session to those of another, with new ids and a new chain. Payloads, manifests and
// the records of what was retrieved also get the new ids: without them, the X-ray of the copy would depend on the
// original, and a permanent deletion in the copy would not find the contexts that contained the deleted text. Times
// stay, and so do requests to providers and their responses, byte for byte, including any ids in them.
type Copying struct {
	now     time.Time
	Session string
	ids     map[string]string
	tail    ledger.Tail
	edit    func(e ledger.Event, data any) // changes a payload before it gets new ids; nil: it stays
	// Of the event that is copied: its entity, its contents, and why it cannot be copied.
	entity   string
	contents []bundle.Content
	err      error
}

func NewCopying(now time.Time, session string) *Copying {
	c := &Copying{now: now, ids: map[string]string{}, tail: ledger.Genesis()}
	c.Session = c.id(session)
	return c
}

// ContinueCopying copies to a session that exists, after the given end of its ledger. ids are the copy's ids of records
// that exist in it. edit changes payloads, given as pointers, before they get new ids.
func ContinueCopying(
	now time.Time, session string, ids map[string]string, tail ledger.Tail, edit func(ledger.Event, any),
) *Copying {
	return &Copying{now: now, Session: session, ids: ids, tail: tail, edit: edit}
}

// id returns the copy's id for one of the original's. Ids are assigned in the order in which they occur, because some
// sort orders use them.
func (c *Copying) id(old string) string {
	if old == "" {
		return ""
	}
	newID, ok := c.ids[old]
	if !ok {
		newID = chat.NewID(c.now)
		c.ids[old] = newID
	}
	return newID
}

// remapID replaces an id of the original by the copy's.
func remapID[T ~string](c *Copying, id *T) { *id = T(c.id(string(*id))) }

// remapIDs replaces all ids of a list.
func remapIDs[T ~string](c *Copying, list []T) {
	for i := range list {
		remapID(c, &list[i])
	}
}

// Event converts an event of the original and, in place, its contents; nil if the copy has no such event: a
// calibration belongs to no session.
func (c *Copying) Event(e ledger.Event, contents []bundle.Content) (*ledger.Event, error) {
	if EventKinds[e.Type].shared {
		return nil, nil
	}
	c.contents = contents
	payload, err := c.payload(e)
	if err != nil {
		return nil, err
	}
	copied := ledger.Event{
		SessionID: c.Session, Seq: c.tail.Seq + 1, Type: e.Type, Entity: c.id(e.Entity), CreatedAt: e.CreatedAt,
		PayloadHash: codec.Hash(payload), PrevHash: c.tail.Hash, Payload: payload,
	}
	copied.Hash = copied.Sum()
	c.tail = copied.Tail()
	return &copied, nil
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

// message returns a message that names the copy's documents, and the copy's chunks where those are known.
func (c *Copying) message(raw json.RawMessage) (json.RawMessage, error) {
	m, err := schema.DecodeMessage(chat.RoleUser, string(raw))
	if err != nil {
		return nil, err
	}
	changed := false
	for i, b := range m.Blocks {
		switch b := b.(type) {
		case chat.Document:
			remapID(c, &b.File)
			m.Blocks[i], changed = b, true
		case chat.Memory:
			if newID, ok := c.ids[string(b.Chunk)]; ok {
				b.Chunk = chat.ChunkID(newID)
				m.Blocks[i], changed = b, true
			}
		}
	}
	if !changed {
		return raw, nil
	}
	return chat.MarshalJSON(m)
}

// content replaces the ids in a content of the event by those of the copy, and returns its new hash. One that does not
// have the hash that the event names is not changed: the copy is then refused, as the original would be.
func (c *Copying) content(kind bundle.Kind, hash string, copied func([]byte) []byte) string {
	for i, content := range c.contents {
		if content.Kind == kind && schema.HexHash(content.Bytes) == hash {
			c.contents[i].Bytes = copied(content.Bytes)
			return schema.HexHash(c.contents[i].Bytes)
		}
	}
	return hash
}

// quotedID is a complete JSON string that may be an id. In a text, quotes are escaped.
var quotedID = pattern.New(`"[0-9A-Z]{26}"`)

// manifest returns a manifest with the copy's ids. It may also name records of other sessions, whose ids stay.
func (c *Copying) manifest(raw []byte) []byte {
	return []byte(quotedID().ReplaceAllStringFunc(string(raw), func(quoted string) string {
		if newID, ok := c.ids[quoted[1:len(quoted)-1]]; ok {
			return `"` + newID + `"`
		}
		return quoted
	}))
}

// retrieved returns a record of what was retrieved, with the copy's ids, in the order of RetrievedRecord.
func (c *Copying) retrieved(record []byte) []byte {
	rows, err := parseRetrieved(record)
	if err != nil {
		return record // refused when it is stored
	}
	for i, r := range rows {
		if newID, ok := c.ids[r.ChunkID]; ok {
			rows[i].ChunkID = newID
		}
	}
	slices.SortFunc(rows, func(a, b schema.NamedRetrieval) int {
		return cmp.Or(a.Row.Rank-b.Row.Rank, cmp.Compare(a.ChunkID, b.ChunkID))
	})
	return RetrievedText(rows)
}
