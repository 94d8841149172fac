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

// PendingOperation is what can only be done while nothing has the data open: the window writes it
// down, ends in order, and starts the program again, which does it first. It is taken away
// before it is begun: it is done once or not at all, and both a restore and a move leave
// the old data in force, or the new, wherever they are cut short.
type PendingOperation struct {
	Do   string `json:"do"`
	Path string `json:"path"` // of the backup; the new folder
}

// Kinds of pending operations.
const (
	PendingRestore = "restore"
	PendingMove    = "move"
)

// pendingFile is its place in the data directory.
const pendingFile = "errand.json"

// SavePending writes down what the next start is to do first.
func (a *Archive) SavePending(e PendingOperation) error {
	text, err := chat.MarshalJSON(e)
	if err == nil {
		err = atomicfile.Write(filepath.Join(a.dir, pendingFile), text, 0o600)
	}
	if err != nil {
		return chat.WrapError(chat.CodeInternal, "errand.write", err, "The operation to run at the restart could not be saved; nothing was changed.").
			WithHint("check whether the disk is full or read-only")
	}
	return nil
}

// TakePending takes what is to be done away; false: nothing is, or a program that has the
// data open has written it down this moment.
func (a *Archive) TakePending() (e PendingOperation, ok bool, err error) {
	const op = "errand.read"
	path := filepath.Join(a.dir, pendingFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && sqlite.WriterAlive(a.dir) {
		return e, false, nil
	}
	if err == nil {
		err = faultfs.Remove(faultfs.Backup, path)
	}
	if err == nil {
		err = syncDir(a.dir)
	}
	if err != nil {
		return e, false, sqlite.MapError(op, err)
	}
	if err := json.Unmarshal(text, &e); err != nil || e.Do != PendingRestore && e.Do != PendingMove {
		return e, false, chat.WrapError(chat.CodeCorrupt, op, err, "The operation to run at this start cannot be read; nothing was changed.").
			WithHint("ask for it again")
	}
	return e, true, nil
}
