package backup

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// markRestored marks the steps of open turns in data that was or will be restored. From then on the database is no
// longer a backup, and it is another device than the data that it was made of.
func markRestored(ctx context.Context, s *core.Core) error {
	return s.Write(ctx, "restore.mark", func(t *core.Tx) error {
		if err := t.Run(`DROP TABLE IF EXISTS ` + schema.InfoTable); err != nil {
			return err
		}
		if err := s.RenewDevice(t); err != nil {
			return err
		}
		steps, err := sqlite.All[chat.StepID](t.DB, `SELECT s.id FROM turns t JOIN steps s ON s.turn_id = t.id WHERE t.phase = 'Responding' ORDER BY s.id`)
		if err != nil {
			return err
		}
		if err := t.Run(`DELETE FROM settings WHERE key = ?`, records.RestoredSteps); err != nil || len(steps) == 0 {
			return err
		}
		list, err := chat.MarshalJSON(steps)
		if err == nil {
			err = t.Run(`INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)`, records.RestoredSteps, string(list), t.Stamp())
		}
		return err
	})
}
