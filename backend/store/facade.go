package store

import (
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/store/backup"
	"contextinfinity/backend/store/migrations"
	"contextinfinity/backend/store/sqlite"
)

// Names of files and folders in the data directory.
const (
	DatabaseFile = sqlite.DatabaseFile
	LockFile     = sqlite.LockFile
	BackupDir    = sqlite.BackupDir
	DragDir      = sqlite.DragDir // what was dragged out of the window, until the next start
)

// MakeDir creates a data directory, accessible to its owner only (SPEC 13), durably.
func MakeDir(dir string) error { return sqlite.MakeDir(dir) }

// WriterAddress returns the address at which the writer of a data directory accepts requests, or "" if it recorded
// none. The writer may no longer be running: a killed one leaves its address.
func WriterAddress(dir string) string { return sqlite.WriterAddress(dir) }

// WriterPid returns the process that recorded itself as the writer of a data directory, or 0. It may have ended.
func WriterPid(dir string) int { return sqlite.WriterPid(dir) }

// Unlock opens a sealed data directory with what was offered (seal.Offer), or with what keyring returns for the name of a
// key. It does nothing for one that is not sealed.
func Unlock(dir string, keyring func(id string) (seal.Key, bool)) error {
	return backup.Unlock(dir, keyring)
}

// NewArchive returns the backups of a data directory. It does no disk access.
func NewArchive(o backup.ArchiveOptions) *backup.Archive {
	return backup.New(o, migrations.Files, openCopy)
}

// Types of the store's packages that callers use.
type (
	Archive          = backup.Archive
	ArchiveOptions   = backup.ArchiveOptions
	BackupPolicy     = backup.BackupPolicy
	Keyring          = backup.Keyring
	PendingOperation = backup.PendingOperation
	MovePlan         = backup.MovePlan
	Sealing          = backup.Sealing
)

// Kinds of pending operations.
const (
	PendingRestore = backup.PendingRestore
	PendingMove    = backup.PendingMove
)
