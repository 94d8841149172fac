package records

import (
	"context"
	"encoding/json"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// Settings are the pieces of small application state whose keys begin with prefix.
func (s *Records) Settings(ctx context.Context, prefix string) (map[string]string, error) {
	found := map[string]string{}
	err := s.Read(ctx, "settings.read", func(db *gorm.DB) error {
		rows, err := sqlite.All[struct{ Key, Value string }](db,
			`SELECT key, value FROM settings WHERE substr(key, 1, length(?)) = ?`, prefix, prefix)
		for _, r := range rows {
			found[r.Key] = r.Value
		}
		return err
	})
	return found, err
}

// DropSetting forgets a piece of small application state. One that is not there is no
// error.
func (s *Records) DropSetting(ctx context.Context, key string) error {
	return s.Write(ctx, "setting.drop", func(t *core.Tx) error {
		_, err := t.Exec(`DELETE FROM settings WHERE key = ?`, key)
		return err
	})
}

// RestoredSteps is the key under which restored data keeps the steps of turns that were open
// when the backup was taken. Since then their tool calls may have run: the data that was
// replaced knows, this does not. The journals of the steps come back with the backup, so they
// do not tell.
const RestoredSteps = "restored.steps"

// WasRestored reports a step that came with a backup while its turn was open. A record of
// them that cannot be read may name any.
func (s *Records) WasRestored(ctx context.Context, step chat.StepID) (bool, error) {
	found, err := s.Settings(ctx, RestoredSteps)
	value, ok := found[RestoredSteps]
	if err != nil || !ok {
		return false, err
	}
	var steps []chat.StepID
	if json.Unmarshal([]byte(value), &steps) != nil {
		return true, nil
	}
	return slices.Contains(steps, step), nil
}
