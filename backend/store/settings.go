package store

import (
	"context"

	"gorm.io/gorm"

	"contextinfinity/backend/store/sqlite"
)

// Settings are the pieces of small application state whose keys begin with prefix.
func (s *Store) Settings(ctx context.Context, prefix string) (map[string]string, error) {
	found := map[string]string{}
	err := s.read(ctx, "settings.read", func(db *gorm.DB) error {
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
func (s *Store) DropSetting(ctx context.Context, key string) error {
	return s.write(ctx, "setting.drop", func(t *tx) error {
		_, err := t.Exec(`DELETE FROM settings WHERE key = ?`, key)
		return err
	})
}
