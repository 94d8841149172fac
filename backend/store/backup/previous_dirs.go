package backup

import (
	"path/filepath"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// A move leaves the old folder unchanged, so it still holds a copy of the data and its backups. The new folder lists
// it and those before it, so that a permanent deletion can name what they still contain.

// recordMove records, in the destination folder, where the data came from.
func (a *Archive) recordMove(to string) error {
	from := sqlite.Resolved(a.dir)
	list, err := core.PreviousDirs(a.dir)
	if err != nil {
		a.log.Warn("the list of previous data folders cannot be read", "err", err)
	}
	text, err := chat.MarshalJSON(append(slices.DeleteFunc(list, func(dir string) bool { return dir == from }), from))
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(to, core.PreviousDirsFile), text, 0o600)
}
