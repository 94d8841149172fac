package backup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/store/sqlite"
)

// keyringFile names the keys that the system's keyring may have although nothing needs them. They are written down before
// the keyring gets them, or before nothing needs them any more: what a crash, or a keyring that refuses, leaves there is
// removed at a later start.
const keyringFile = "keyring.json"

// NoteKeys writes down the names of keys for ForgetKeys.
//
// Errors: CodeNotFound (there is no data).
func (a *Archive) NoteKeys(ids ...string) error {
	if err := a.refuseNoData(); err != nil {
		return err
	}
	noted, err := a.notedKeys()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if id != "" && !slices.Contains(noted, id) {
			noted = append(noted, id)
		}
	}
	return a.writeNoted(noted)
}

// ForgetKeys calls forget for each key that was noted and that nothing in the data directory needs: the data does not open
// with the sign-in by it, and no backup is sealed with another key than the data. What fails stays noted.
func (a *Archive) ForgetKeys(forget func(id string) error) error {
	noted, err := a.notedKeys()
	if err != nil || len(noted) == 0 {
		return err
	}
	l, _, err := readLock(a.dir)
	if err != nil {
		return err
	}
	copies, err := a.copies()
	if err != nil {
		return err
	}
	var kept []string
	var failed error
	for _, id := range noted {
		switch {
		case id == l.Key && l.SignIn(): // it opens the data
			continue
		case id != l.Key && slices.ContainsFunc(copies, func(path string) bool {
			of, _, _ := sqlite.LockAt(path)
			return of.Key == id
		}):
			kept = append(kept, id)
			continue
		}
		if err := forget(id); err != nil {
			kept, failed = append(kept, id), errors.Join(failed, err)
		}
	}
	return errors.Join(failed, a.writeNoted(kept))
}

func (a *Archive) notedKeys() (ids []string, err error) {
	text, err := os.ReadFile(filepath.Join(a.dir, keyringFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && json.Unmarshal(text, &ids) != nil {
		ids = nil // it is only a list of what to remove
	}
	return ids, err
}

func (a *Archive) writeNoted(ids []string) error {
	path := filepath.Join(a.dir, keyringFile)
	if len(ids) == 0 {
		if err := faultfs.Remove(faultfs.Config, path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, text, 0o600)
}
