package records

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
)

// SetFolder moves sessions into a folder, all of them or none; an empty name removes them from folders. A folder
// exists as long as it contains a session.
func (s *Records) SetFolder(ctx context.Context, ids []chat.SessionID, folder string) error {
	folder = schema.Clean(folder)
	if err := checkTitle("The name of a folder", folder); err != nil {
		return err
	}
	return s.Write(ctx, "session.folder", func(t *core.Tx) error {
		for _, id := range ids {
			if err := SetSession(t, id, ledger.EventSessionFolder, ledger.TextChanged{Text: folder}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Folders returns the folder names of unarchived sessions, in alphabetical order.
func (s *Records) Folders(ctx context.Context) ([]chat.Folder, error) {
	return core.All[chat.Folder](ctx, s, "session.folders", `SELECT folder AS name, count(*) AS sessions FROM sessions
			WHERE folder <> '' AND archived_at IS NULL GROUP BY folder ORDER BY folder`)
}
