package core

import (
	"gorm.io/gorm"

	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// DeletionsIn reads which parts of a session's ledger were deleted permanently.
func DeletionsIn(db *gorm.DB, session string) (ledger.Deletions, error) {
	out := ledger.Deletions{}
	rows, err := sqlite.All[schema.EventRow](db, `SELECT * FROM events WHERE session_id = ? AND type = ? ORDER BY event_seq`, session, ledger.EventContentDeleted)
	for _, r := range rows {
		payload, err := UnpackPayload(db, session, r.Payload)
		if err == nil {
			out.Add(r.Event(payload))
		}
	}
	return out, err
}
