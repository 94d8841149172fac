// Package events defines each type of event: the rows that it creates or changes, and the ids in its payload. Live
// writes, the replay of a bundle and copies with new ids all use it; nothing else writes events.
package events

import (
	"fmt"
	"maps"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// eventKind defines one type of event: which rows it creates or changes, and which ids its payload contains. Live
// writes, the replay of a bundle and copies with new ids all use it.
type eventKind struct {
	// Apply changes the rows; nil: the event changes none.
	Apply func(a *Applier, e ledger.Event, data any) error
	// Decode reads a stored payload for Apply.
	Decode func(ledger.Event) (any, error)
	// copied returns the payload with the ids of a copy; nil: it contains no id.
	copied func(*Copying, ledger.Event) ([]byte, error)
	// shared events belong to no session, although they are in a session's ledger; a copy leaves them out.
	shared bool
}

// kindOf defines a type of event with payload P. Either function may be nil.
func kindOf[P any](apply func(*Applier, ledger.Event, P) error, ids func(*Copying, *P)) eventKind {
	k := eventKind{Decode: func(e ledger.Event) (any, error) {
		return PayloadOf(e, func(_ ledger.Event, d P) (any, error) { return d, nil })
	}}
	if apply != nil {
		k.Apply = func(a *Applier, e ledger.Event, data any) error {
			d, ok := data.(P)
			if !ok {
				return fmt.Errorf("%s event with a payload of type %T", e.Type, data)
			}
			return apply(a, e, d)
		}
	}
	if ids != nil {
		k.copied = func(c *Copying, e ledger.Event) ([]byte, error) {
			return PayloadOf(e, func(_ ledger.Event, d P) ([]byte, error) {
				if c.edit != nil {
					c.edit(e, &d)
				}
				if ids(c, &d); c.err != nil {
					return nil, c.err
				}
				return ledger.Payload(d)
			})
		}
	}
	return k
}

// EventKinds are all types of events.
var EventKinds = func() map[ledger.Type]eventKind {
	all := map[ledger.Type]eventKind{}
	for _, kinds := range []map[ledger.Type]eventKind{sessionEvents, branchEvents, turnEvents, stepEvents, pinEvents, historyEvents, fileEvents, toolEvents} {
		maps.Copy(all, kinds)
	}
	return all
}()

// Applier applies the events of a session to its rows.
type Applier struct {
	*core.Tx
	Session  string
	contents []bundle.Content // of the current event
	ended    *EndedStep       // of a replay: the step that ended last, until it is known what followed
	sources  map[sourceOf]chunkSource
	cached   string // the turn whose sources are cached
}

// On returns the applier of a session's events.
func On(t *core.Tx, session chat.SessionID) *Applier {
	return &Applier{Tx: t, Session: string(session)}
}

// Record applies an event and writes it. Contents are those that the payload names by hash.
func Record(
	t *core.Tx, session chat.SessionID, kind ledger.Type, entity string, data any, contents ...bundle.Content,
) error {
	return On(t, session).Record(kind, entity, data, nil, contents...)
}

// Record is like the function of this name. packed is the payload if it was packed before, because it is long;
// otherwise it is nil.
func (a *Applier) Record(
	kind ledger.Type, entity string, data any, packed *core.Payload, contents ...bundle.Content,
) error {
	tail, err := a.Tail(chat.SessionID(a.Session))
	if err != nil {
		return err
	}
	e := ledger.Event{SessionID: a.Session, Type: kind, Entity: entity, CreatedAt: a.Stamp(), Lane: tail.Lane}
	a.contents = contents
	if err := EventKinds[kind].Apply(a, e, data); err != nil {
		return err
	}
	return a.write(e, data, packed)
}

// write appends an event to the ledger.
func (a *Applier) write(e ledger.Event, data any, packed *core.Payload) error {
	if packed == nil {
		var err error
		if e.Payload, err = ledger.Payload(data); err != nil {
			return fmt.Errorf("encoding %s event: %w", e.Type, err)
		}
		p := core.Payload{Hash: codec.Hash(e.Payload)}
		if p.Packed, err = a.pack(e); err != nil {
			return err
		}
		packed = &p
	}
	return a.Append(chat.SessionID(a.Session), e.Type, e.Entity, *packed)
}

// set changes rows; changing none is an error.
func (a *Applier) set(query string, args ...any) error {
	n, err := a.Exec(query, args...)
	if err == nil && n == 0 {
		err = sqlite.Invalid("The record that it changes does not exist.")
	}
	return err
}
