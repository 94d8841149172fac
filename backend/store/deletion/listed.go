package deletion

import (
	"encoding/json"
	"slices"

	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Each device deletes by its own words. What another one found, in events that came here after these words were gone, gets what
// stands in its place there: that comes with the content_erased event that lists it.

// adopted is the text of a state or a summary as another device left it.
type adopted struct {
	text    string
	payload ledger.Event
}

// listedElsewhere reads what other devices found of the turn, and is here without their deletion.
func (x *turnDeletion) listedElsewhere() error {
	x.listed, x.listedNames, x.texts = map[ledger.Type][]string{}, map[string]bool{}, map[string]adopted{}
	rows, err := sqlite.All[schema.EventRow](x.DB, `SELECT * FROM events WHERE entity_id = ? AND type = ? ORDER BY session_id, event_seq`,
		x.subject.Subject, ledger.EventContentDeleted)
	if err != nil {
		return err
	}
	deletions := map[string]ledger.Deletions{}
	in := func(session string) (ledger.Deletions, error) {
		if deletions[session] == nil {
			all, err := core.DeletionsIn(x.DB, session)
			if err != nil {
				return nil, err
			}
			for _, p := range x.coming {
				if p.Event.SessionID == session {
					all.Add(p.Event)
				}
			}
			deletions[session] = all
		}
		return deletions[session], nil
	}
	list := func(session string, e ledger.Event) error {
		all, err := in(session)
		if err != nil {
			return err
		}
		left, err := events.Listed(x.DB, session, all, e)
		for _, l := range left {
			x.listed[ledger.Type(l.Type)] = append(x.listed[ledger.Type(l.Type)], l.EntityID)
			x.listedNames[string(l.Hash)] = true
			x.adopt(all, l)
		}
		if err != nil || session != x.subject.Session {
			return err
		}
		_, err = events.PayloadOf(e, func(_ ledger.Event, d ledger.ContentDeleted) (struct{}, error) {
			x.listedFiles = append(x.listedFiles, d.Files...)
			return struct{}{}, nil
		})
		return err
	}
	for _, r := range rows {
		payload, err := core.UnpackPayload(x.DB, r.SessionID, r.Payload)
		if err != nil { // verify reports it; the rest is deleted anyway
			continue
		}
		if err := list(r.SessionID, r.Event(payload)); err != nil {
			return err
		}
	}
	for _, p := range x.coming {
		if p.Event.Type == ledger.EventContentDeleted && p.Event.Entity == x.subject.Subject {
			if err := list(p.Event.SessionID, p.Event); err != nil {
				return err
			}
		}
	}
	return nil
}

// adopt takes what came in place of an event, if at least as much was deleted from it as from what is here.
func (x *turnDeletion) adopt(all ledger.Deletions, l events.Left) {
	for _, p := range x.coming {
		for _, c := range p.Contents {
			if p.Event.Type != ledger.EventContentDeleted || schema.HexHash(c.Bytes) != l.SHA256 {
				continue
			}
			now := l.Event(c.Bytes)
			before, known := x.texts[l.EntityID]
			if all.Newer(now, l.Text) && (!known || all.Newer(now, before.payload.Payload)) {
				if text, ok := textOf(now); ok {
					x.texts[l.EntityID] = adopted{text, now}
				}
			}
		}
	}
}

// textOf returns the text of a state or a summary.
func textOf(e ledger.Event) (string, bool) {
	var env struct {
		Data struct{ Summary, Content string }
	}
	if json.Unmarshal(e.Payload, &env) != nil {
		return "", false
	}
	if e.Type == ledger.EventStateCommitted {
		return env.Data.Summary, true
	}
	return env.Data.Content, e.Type == ledger.EventSummaryCreated
}

// without returns a text without the deleted words: as another device that listed it left it, if that came; as a whole, if not all
// words are known here any more.
func (x *turnDeletion) without(kind ledger.Type, id, text string) string {
	if slices.Contains(x.listed[kind], id) {
		if there, ok := x.texts[id]; ok {
			return there.text
		}
		if x.partly {
			return "- " + DeletedMark + "\n"
		}
	}
	return x.words.Without(text)
}

// listedLookups deletes what models were shown of the turn elsewhere, as far as another device found it.
func (x *turnDeletion) listedLookups() error {
	if calls := x.listed[ledger.EventToolCallEnded]; len(calls) > 0 {
		return x.lookups(`c.id IN ? AND t.id NOT IN ?`, calls, append(x.ids(), ""))
	}
	return nil
}
