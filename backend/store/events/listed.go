package events

import (
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
)

// withText are the types of events that may contain the text of a turn, and ends those of the turn itself: it may have ended after
// another device deleted it.
var withText = []ledger.Type{
	ledger.EventTurnAccepted, ledger.EventStateCommitted, ledger.EventSummaryCreated, ledger.EventToolCallEnded, ledger.EventStepStarted,
	ledger.EventSessionCreated, ledger.EventSessionRenamed, ledger.EventBranchCreated, ledger.EventBranchRenamed,
}

var ends = []ledger.Type{ledger.EventTurnFinalized, ledger.EventTurnInterrupted, ledger.EventTurnFailed}

// Left is an event from which another device deleted something that is still in it here.
type Left struct {
	schema.EventRow
	Text   []byte // its payload here
	SHA256 string // of the payload there
}

// Listed returns what a content_erased event lists of a session, and what is here without that deletion: as it was, or with a
// payload from which only other things were deleted.
func Listed(db *gorm.DB, session string, deletions ledger.Deletions, e ledger.Event) (out []Left, err error) {
	_, err = PayloadOf(e, func(_ ledger.Event, d ledger.ContentDeleted) (struct{}, error) {
		for _, listed := range d.Events {
			rows, err := core.EventAt(db, chat.SessionID(session), ledger.Spot{Lane: listed.Lane, Number: listed.Seq})
			if err != nil {
				return struct{}{}, err
			}
			for _, r := range rows {
				if !slices.Contains(withText, ledger.Type(r.Type)) && !(r.EntityID == e.Entity && slices.Contains(ends, ledger.Type(r.Type))) {
					continue
				}
				payload, err := core.UnpackPayload(db, session, r.Payload)
				if err != nil || payload == nil || schema.HexHash(payload) == listed.SHA256 { // nothing was found in it
					continue
				}
				x := r.Event(payload)
				of, _ := deletions.Lacks(x.Spot(), payload)
				if x.Intact() || len(of) > 0 && !of[e.Entity] {
					out = append(out, Left{r, payload, listed.SHA256})
				}
			}
		}
		return struct{}{}, nil
	})
	return out, err
}
