package records

import (
	"context"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// LastEvent returns the event_seq of a session's newest event, 0 for none. While it is unchanged, so is the session's
// content.
func (s *Records) LastEvent(ctx context.Context, session chat.SessionID) (int64, error) {
	return core.Query(ctx, s, "session.last_event", func(db *gorm.DB) (int64, error) {
		return sqlite.One[int64](db, "session", session, `SELECT coalesce(max(event_seq), 0) FROM events WHERE session_id = ?`, session)
	})
}
