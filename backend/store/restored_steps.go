package store

import (
	"context"
	"encoding/json"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// restoredSteps is the key under which restored data keeps the steps of turns that were open
// when the backup was taken. Since then their tool calls may have run: the data that was
// replaced knows, this does not. The journals of the steps come back with the backup, so they
// do not tell.
const restoredSteps = "restored.steps"

// markRestored writes down the steps of open turns, in data that was or is about to be put in
// place. From then on it is no backup.
func (s *Store) markRestored(ctx context.Context) error {
	return s.write(ctx, "restore.mark", func(t *tx) error {
		if _, err := t.Exec(`DROP TABLE IF EXISTS ` + infoTable); err != nil {
			return err
		}
		steps, err := sqlite.All[chat.StepID](t.DB, `SELECT s.id FROM turns t JOIN steps s ON s.turn_id = t.id WHERE t.phase = 'Responding' ORDER BY s.id`)
		if err != nil {
			return err
		}
		if _, err := t.Exec(`DELETE FROM settings WHERE key = ?`, restoredSteps); err != nil || len(steps) == 0 {
			return err
		}
		list, err := chat.MarshalJSON(steps)
		if err == nil {
			_, err = t.Exec(`INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)`, restoredSteps, string(list), t.Stamp())
		}
		return err
	})
}

// WasRestored reports a step that came with a backup while its turn was open. A record of
// them that cannot be read may name any.
func (s *Store) WasRestored(ctx context.Context, step chat.StepID) (bool, error) {
	found, err := s.Settings(ctx, restoredSteps)
	value, ok := found[restoredSteps]
	if err != nil || !ok {
		return false, err
	}
	var steps []chat.StepID
	if json.Unmarshal([]byte(value), &steps) != nil {
		return true, nil
	}
	return slices.Contains(steps, step), nil
}
