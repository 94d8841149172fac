package backup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/store/sqlite"
)

// PendingOperation is an operation that needs the data closed. The window saves it, exits and restarts the program,
// which runs it first. It is removed before it begins, so it runs at most once. Restore and move can be interrupted
// at any point: either the old or the new data is in effect.
type PendingOperation struct {
	Do   string `json:"do"`
	Path string `json:"path"` // of the backup, or the new folder
}

// Kinds of pending operations.
const (
	PendingRestore = "restore"
	PendingMove    = "move"
)

// pendingFile is the name of the file with the operation in the data directory.
const pendingFile = "errand.json"

// SavePending saves an operation for the next start.
func (a *Archive) SavePending(p PendingOperation) error {
	text, err := chat.MarshalJSON(p)
	if err == nil {
		err = atomicfile.Write(filepath.Join(a.dir, pendingFile), text, 0o600)
	}
	if err != nil {
		return chat.WrapError(chat.CodeInternal, "pending_operation.write", err, "The operation to run at the restart could not be saved; nothing was changed.").
			WithHint("check whether the disk is full or read-only")
	}
	return nil
}

// TakePending removes and returns the saved operation. It returns false if there is none, or if the program that
// saved it still has the data open.
func (a *Archive) TakePending() (p PendingOperation, ok bool, err error) {
	const op = "pending_operation.read"
	path := filepath.Join(a.dir, pendingFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && sqlite.WriterAlive(a.dir) {
		return p, false, nil
	}
	if err == nil {
		err = faultfs.Remove(faultfs.Backup, path)
	}
	if err == nil {
		err = syncDir(a.dir)
	}
	if err != nil {
		return p, false, sqlite.MapError(op, err)
	}
	if err := json.Unmarshal(text, &p); err != nil || p.Do != PendingRestore && p.Do != PendingMove {
		return p, false, chat.WrapError(chat.CodeCorrupt, op, err, "The operation to run at this start cannot be read; nothing was changed.").
			WithHint("ask for it again")
	}
	return p, true, nil
}
