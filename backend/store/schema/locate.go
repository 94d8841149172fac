package schema

import (
	"context"
	"io/fs"
	"path/filepath"

	"contextinfinity/backend/store/sqlite"
)

// Locate finds the database of a data directory and how it can be read. The caller must call Leave on the place,
// whatever the error.
func Locate(ctx context.Context, dir string, steps fs.FS) (Found, sqlite.Place, error) {
	at := sqlite.Place{Path: filepath.Join(dir, sqlite.DatabaseFile)}
	have, err := Probe(ctx, at, steps)
	if err == nil || !sqlite.IsDiskError(err) {
		return have, at, err
	}
	why := sqlite.Unwritable(dir)
	if why == "" {
		return have, at, err
	}
	lock, lockErr := sqlite.ShareDir(dir)
	if lockErr != nil { // somebody has it open for writing
		return have, at, err
	}
	unlock := func() {
		if lock != nil {
			_ = lock.Close()
		}
	}
	at = sqlite.Place{Path: at.Path, Frozen: true, Note: why + ", so the data is open for reading only.", Release: unlock}
	if sqlite.BytesBeside(at.Path) > 0 {
		copied, err := sqlite.ReadableCopy(at.Path, why)
		unlock()
		if at = copied; err != nil {
			return have, at, err
		}
	}
	have, err = Probe(ctx, at, steps)
	return have, at, err
}
