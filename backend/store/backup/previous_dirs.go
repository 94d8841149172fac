package backup

import (
	"path/filepath"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// Data that was moved leaves its old folder as it was: a copy, with copies in it. The new
// folder knows of it, and of those before it, so that a permanent deletion can name what they
// still hold.

// recordMove writes down, in the folder that data is moved to, where it comes from.
func (a *Archive) recordMove(to string) error {
	from := sqlite.Resolved(a.dir)
	list, err := core.PreviousDirs(a.dir)
	if err != nil {
		a.log.Warn("where the data was before cannot be read", "err", err)
	}
	text, err := chat.MarshalJSON(append(slices.DeleteFunc(list, func(dir string) bool { return dir == from }), from))
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(to, core.FormerFile), text, 0o600)
}
