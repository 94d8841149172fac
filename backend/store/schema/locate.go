package schema

import (
	"context"
	"io/fs"
	"path/filepath"

	"contextinfinity/backend/internal/filelock"
	"contextinfinity/backend/store/sqlite"
)

// Locate finds the database of a data directory and how it can be read. The caller must call Leave on the place,
// whatever the error.
func Locate(ctx context.Context, dir string, steps fs.FS) (Found, sqlite.Place, error) {
	place := sqlite.Place{Path: filepath.Join(dir, sqlite.DatabaseFile)}
	have, err := Probe(ctx, place, steps)
	if err == nil || !sqlite.IsDiskError(err) {
		return have, place, err
	}
	why := sqlite.Unwritable(dir)
	if why == "" {
		return have, place, err
	}
	lock, lockErr := filelock.ShareDir(dir)
	if lockErr != nil { // somebody has it open for writing
		return have, place, err
	}
	unlock := func() {
		if lock != nil {
			_ = lock.Close()
		}
	}
	place = sqlite.Place{Path: place.Path, Frozen: true, Note: why + ", so the data is open read-only.", Release: unlock}
	if sqlite.BytesBeside(place.Path) > 0 {
		copied, err := sqlite.ReadableCopy(place.Path, why)
		unlock()
		if place = copied; err != nil {
			return have, place, err
		}
	}
	have, err = Probe(ctx, place, steps)
	return have, place, err
}
