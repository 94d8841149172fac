package events

import (
	"slices"

	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// lastCounts are the types of events that any device may write about the same record: of these, the last in the order
// of the ledger counts. Everything else is about what one device began, or adds a record.
var lastCounts = []ledger.Type{
	ledger.EventSessionRenamed, ledger.EventSessionPrompt, ledger.EventSessionModel, ledger.EventSessionFolder,
	ledger.EventSessionArchived, ledger.EventSessionPinned, ledger.EventSessionSettings, ledger.EventBranchSwitched,
	ledger.EventBranchRenamed, ledger.EventBranchArchived,
}

// LastCounts reports whether of events of a type the last one counts, whichever device wrote it.
func LastCounts(kind ledger.Type) bool { return slices.Contains(lastCounts, kind) }

// LastValues applies the last event of each such type again to a session and its branches, in the order of the ledger,
// because two types may set the same value. It follows a merge, which applied events in the order of their arrival.
// updatedAt is the session's place in the list, by the ledger.
func (a *Applier) LastValues(updatedAt string) error {
	rows, err := sqlite.All[schema.EventRow](a.DB, `SELECT * FROM (SELECT *, row_number() OVER
			(PARTITION BY entity_id, type ORDER BY lane_seq DESC, lane DESC) AS back FROM events
			WHERE session_id = ? AND lane_seq <> 0 AND type IN ?)
		WHERE back = 1 ORDER BY lane_seq, lane`, a.Session, lastCounts)
	if err != nil {
		return err
	}
	for _, r := range rows {
		payload, err := core.UnpackPayload(a.DB, a.Session, r.Payload)
		if err != nil {
			return err
		}
		e := r.Event(payload)
		if payload == nil {
			continue
		}
		data, err := EventKinds[e.Type].Decode(e)
		if err != nil {
			return err
		}
		a.Now = schema.ParseTime(e.CreatedAt)
		if err := EventKinds[e.Type].Apply(a, e, data); err != nil {
			return err
		}
	}
	return a.Run(`UPDATE sessions SET updated_at = ? WHERE id = ?`, updatedAt, a.Session)
}
