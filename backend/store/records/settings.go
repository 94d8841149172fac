package records

import (
	"context"
	"encoding/json"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
)

// Settings returns the small pieces of application state with keys that begin with prefix.
func (s *Records) Settings(ctx context.Context, prefix string) (map[string]string, error) {
	found := map[string]string{}
	rows, err := core.All[struct{ Key, Value string }](ctx, s, "settings.read",
		`SELECT key, value FROM settings WHERE substr(key, 1, length(?)) = ?`, prefix, prefix)
	for _, r := range rows {
		found[r.Key] = r.Value
	}
	return found, err
}

// DeleteSetting deletes a piece of application state. A missing one is not an error.
func (s *Records) DeleteSetting(ctx context.Context, key string) error {
	return s.Write(ctx, "setting.drop", func(t *core.Tx) error {
		return t.Run(`DELETE FROM settings WHERE key = ?`, key)
	})
}

// RestoredSteps is the key under which restored data lists the steps of turns that were open when the backup was
// made. Their tool calls may have run since then; only the replaced data knew. The journals of the steps come from
// the backup, so they do not help.
const RestoredSteps = "restored.steps"

// WasRestored reports whether a step was restored from a backup while its turn was open. An unreadable list is assumed
// to contain every step.
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
