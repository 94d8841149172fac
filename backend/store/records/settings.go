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

// Settings are the small pieces of application state with keys that begin with prefix.
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

// DropSetting deletes a piece of application state. A missing one is no error.
func (s *Records) DropSetting(ctx context.Context, key string) error {
	return s.Write(ctx, "setting.drop", func(t *core.Tx) error {
		_, err := t.Exec(`DELETE FROM settings WHERE key = ?`, key)
		return err
	})
}

// RestoredSteps is the key under which restored data lists the steps of turns that were open when the backup was
// made. Their tool calls may have run since then; only the replaced data knew. The journals of the steps come from
// the backup, so they do not help.
const RestoredSteps = "restored.steps"

// WasRestored reports a step restored from a backup while its turn was open. An unreadable list is assumed to contain
// every step.
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
