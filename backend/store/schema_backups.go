package store

import (
	"gorm.io/gorm"

	"contextinfinity/backend/store/sqlite"
)

// Names of what a backup holds beside the data.
const (
	infoTable  = "backup_info"
	filesTable = "backup_files"
	configName = "config.toml"
)

func hasTable(db *gorm.DB, name string) (bool, error) {
	n, err := sqlite.All[int](db, `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?`, name)
	return len(n) > 0, err
}
