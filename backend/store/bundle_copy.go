package store

import (
	"encoding/json"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
)

// copying says the events of a session again as those of another: with ids of its own, in
// payloads too, and a chain of its own. Moments and contents stay. What a provider was
// sent, and what it answered, stay byte for byte, with the ids that they mention.
type copying struct {
	now     time.Time
	session string
	ids     map[string]string
	tail    ledger.Tail
}

func newCopying(now time.Time, session string) *copying {
	c := &copying{now: now, ids: map[string]string{}, tail: ledger.Genesis()}
	c.session = c.id(session)
	return c
}

// id is the copy's for one of the original's. Ids are given in the order in which they
// are met, for some orders go by them.
func (c *copying) id(old string) string {
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

// idOf is id for any kind of them, in place.
func idOf[T ~string](c *copying, at *T) { *at = T(c.id(string(*at))) }

// event is the copy's event for one of the original's; nil where it has none: what was
// learned of a model's counting is of no session.
func (c *copying) event(e ledger.Event) (*ledger.Event, error) {
	if e.Type == ledger.EventCalibrationSet {
		return nil, nil
	}
	payload, err := c.payload(e)
	if err != nil {
		return nil, err
	}
	made := ledger.Event{
		SessionID: c.session, Seq: c.tail.Seq + 1, Type: e.Type, Entity: c.id(e.Entity), CreatedAt: e.CreatedAt,
		PayloadHash: hashBytes(payload), PrevHash: c.tail.Hash, Payload: payload,
	}
	made.Hash = made.Sum()
	c.tail = made.Tail()
	return &made, nil
}

// recast changes what an event tells.
func recast[P any](e ledger.Event, change func(*P)) ([]byte, error) {
	return payloadOf(e, func(_ ledger.Event, data P) ([]byte, error) {
		change(&data)
		return ledger.Payload(data)
	})
}

// payload is an event's with the ids of the copy; one that names none is kept as it is.
func (c *copying) payload(e ledger.Event) ([]byte, error) {
	switch e.Type {
	case ledger.EventSessionCreated:
		return recast(e, func(d *ledger.SessionCreated) {
			d.Source = sourceBundle
			idOf(c, &d.ActiveBranch)
		})
	case ledger.EventBranchSwitched:
		return recast(e, func(d *ledger.TextChanged) { idOf(c, &d.Text) })
	case ledger.EventBranchCreated:
		return recast(e, func(d *ledger.BranchCreated) {
			idOf(c, &d.ParentBranch)
			idOf(c, &d.ForkTurn)
			idOf(c, &d.BaseState)
		})
	case ledger.EventStateCommitted:
		return recast(e, func(d *ledger.StateCommitted) {
			idOf(c, &d.BranchID)
			idOf(c, &d.ParentID)
			for i := range d.Turns {
				idOf(c, &d.Turns[i])
			}
		})
	case ledger.EventPinAdded, ledger.EventPinEdited, ledger.EventPinRemoved:
		return recast(e, func(d *ledger.PinChanged) {
			idOf(c, &d.BranchID)
			idOf(c, &d.Replaces)
		})
	case ledger.EventPinsMoved:
		return recast(e, func(d *ledger.PinsMoved) {
			idOf(c, &d.BranchID)
			for i := range d.Pins {
				idOf(c, &d.Pins[i])
			}
		})
	case ledger.EventSummaryCreated:
		return recast(e, func(d *ledger.SummaryCreated) { idOf(c, &d.BranchID) })
	case ledger.EventSummarySuperseded:
		return recast(e, func(d *ledger.SummarySuperseded) { idOf(c, &d.By) })
	case ledger.EventFileAdded:
		return recast(e, func(d *ledger.FileAdded) { idOf(c, &d.TurnID) })
	case ledger.EventContentErased: // the copy's payloads never held it: they are chained as they are
		return recast(e, func(d *ledger.ContentErased) {
			d.Events = []ledger.ErasedEvent{}
			for i := range d.Files {
				idOf(c, &d.Files[i])
			}
		})
	}
	return c.turnPayload(e)
}

func (c *copying) turnPayload(e ledger.Event) ([]byte, error) {
	switch e.Type {
	case ledger.EventTurnAccepted:
		var failed error
		b, err := recast(e, func(d *ledger.TurnAccepted) {
			idOf(c, &d.BranchID)
			idOf(c, &d.StateBefore)
			idOf(c, &d.RetryOf)
			d.User, failed = c.message(d.User)
		})
		if err == nil {
			err = failed
		}
		return b, err
	case ledger.EventTurnIndexed:
		return recast(e, func(d *ledger.TurnIndexed) {
			for i := range d.Chunks {
				chunk := &d.Chunks[i]
				idOf(c, &chunk.ID)
				idOf(c, &chunk.File)
				for k := range chunk.Units {
					idOf(c, &chunk.Units[k].ID)
				}
			}
		})
	case ledger.EventStepStarted:
		return recast(e, func(d *ledger.StepStarted) {
			idOf(c, &d.TurnID)
			if d.StreamPath != "" {
				d.StreamPath = streamPath(c.id(e.Entity))
			}
		})
	case ledger.EventStepEnded:
		return recast(e, func(d *ledger.StepEnded) { idOf(c, &d.TurnID) })
	}
	return e.Payload, nil
}

// message is a message that names the copy's documents, and its chunks where those are
// known.
func (c *copying) message(raw json.RawMessage) (json.RawMessage, error) {
	m, err := decodeMessage(chat.RoleUser, string(raw))
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
