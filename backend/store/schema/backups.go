package schema

import (
	"gorm.io/gorm"

	"contextinfinity/backend/store/sqlite"
)

// Names of the tables that only a backup has.
const (
	InfoTable  = "backup_info"
	FilesTable = "backup_files"
)

// ConfigName is the name of the configuration in a backup.
const ConfigName = "config.toml"

func HasTable(db *gorm.DB, name string) (bool, error) {
	n, err := sqlite.All[int](db, `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?`, name)
	return len(n) > 0, err
}
