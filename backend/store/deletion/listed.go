package deletion

import (
	"slices"

	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Each device deletes by its own words. What another one found, in events that came here after these words were gone, is
// deleted completely: its content_erased event lists it.

// listedElsewhere reads what other devices found of the turn, and is here as it was.
func (x *turnDeletion) listedElsewhere() error {
	x.listed, x.listedNames = map[ledger.Type][]string{}, map[string]bool{}
	rows, err := sqlite.All[schema.EventRow](x.DB, `SELECT * FROM events WHERE entity_id = ? AND type = ? ORDER BY session_id, event_seq`,
		x.subject.Subject, ledger.EventContentDeleted)
	for _, r := range rows {
		payload, err := core.UnpackPayload(x.DB, r.SessionID, r.Payload)
		if err != nil {
			return err
		}
		left, err := events.Listed(x.DB, r.SessionID, r.Event(payload))
		if err != nil {
			return err
		}
		for _, l := range left {
			x.listed[ledger.Type(l.Type)] = append(x.listed[ledger.Type(l.Type)], l.EntityID)
			x.listedNames[string(l.Hash)] = true
		}
	}
	return err
}

// without returns a text without the deleted words. What another device listed, and shares no word with what is known here, is
// deleted completely.
func (x *turnDeletion) without(kind ledger.Type, id, text string, validation *string) string {
	if slices.Contains(x.listed[kind], id) && !x.words.In(text) && (validation == nil || !x.words.In(*validation)) {
		return "- " + DeletedMark + "\n"
	}
	return x.words.Without(text)
}

// listedLookups deletes what models were shown of the turn elsewhere, as far as another device found it.
func (x *turnDeletion) listedLookups() error {
	if calls := x.listed[ledger.EventToolCallEnded]; len(calls) > 0 {
		return x.lookups(`c.id IN ? AND t.id NOT IN ?`, calls, x.ids())
	}
	return nil
}
