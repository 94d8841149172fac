package store

import (
	"contextinfinity/backend/store/backup"
	"contextinfinity/backend/store/migrations"
	"contextinfinity/backend/store/sqlite"
)

// Names of what the store keeps in the data directory.
const (
	DatabaseFile = sqlite.DatabaseFile
	LockFile     = sqlite.LockFile
	BackupDir    = sqlite.BackupDir
	DragDir      = sqlite.DragDir // what was dragged out of the window, until the next start
)

// MakeDir makes a data directory, open to its owner alone (SPEC 13), and durable.
func MakeDir(dir string) error { return sqlite.MakeDir(dir) }

// WriterAddress is where the writer of a data directory said that it can be asked,
// empty if it did not. The writer may be gone by now: a killed one leaves its word.
func WriterAddress(dir string) string { return sqlite.WriterAddress(dir) }

// NewArchive keeps the backups of a data directory. It touches no disk.
func NewArchive(o backup.ArchiveOptions) *backup.Archive {
	return backup.New(o, migrations.Files, openCopy)
}

// What a caller names of the store's parts.
type (
	Archive          = backup.Archive
	ArchiveOptions   = backup.ArchiveOptions
	BackupPolicy     = backup.BackupPolicy
	PendingOperation = backup.PendingOperation
)

// What a pending operation can be.
const (
	PendingRestore = backup.PendingRestore
	PendingMove    = backup.PendingMove
)
