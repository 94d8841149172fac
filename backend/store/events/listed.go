package events

import (
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
)

// withText are the types of events that may contain the text of a turn itself.
var withText = []ledger.Type{
	ledger.EventTurnAccepted, ledger.EventStateCommitted, ledger.EventSummaryCreated, ledger.EventToolCallEnded,
	ledger.EventSessionCreated, ledger.EventSessionRenamed, ledger.EventBranchCreated, ledger.EventBranchRenamed,
}

// Listed returns the events of a session that a content_erased event lists, and that are here as they were.
func Listed(db *gorm.DB, session string, e ledger.Event) (out []schema.EventRow, err error) {
	_, err = PayloadOf(e, func(_ ledger.Event, d ledger.ContentDeleted) (struct{}, error) {
		for _, listed := range d.Events {
			rows, err := core.EventAt(db, chat.SessionID(session), ledger.Spot{Lane: listed.Lane, Number: listed.Seq})
			if err != nil {
				return struct{}{}, err
			}
			for _, r := range rows {
				payload, err := core.UnpackPayload(db, session, r.Payload)
				changed := schema.HexHash(payload) != listed.SHA256 // otherwise nothing was found in it
				if err == nil && payload != nil && changed && slices.Contains(withText, ledger.Type(r.Type)) && r.Event(payload).Intact() {
					out = append(out, r)
				}
			}
		}
		return struct{}{}, nil
	})
	return out, err
}
