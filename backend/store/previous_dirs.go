package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/store/sqlite"
)

// Data that was moved leaves its old folder as it was: a copy, with copies in it. The new
// folder knows of it, and of those before it, so that a hard delete can name what they
// still hold.

// formerFile lists the folders that the data was moved from: absolute paths, oldest first.
const formerFile = "moved-from.json"

// previousDirs are the folders that the data in dir was moved from; one that holds no data any
// more is among them too. A list that cannot be read is none.
func previousDirs(dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, formerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

// recordMove writes down, in the folder that data is moved to, where it comes from.
func (a *Archive) recordMove(to string) error {
	from := resolved(a.dir)
	list, err := previousDirs(a.dir)
	if err != nil {
		a.log.Warn("where the data was before cannot be read", "err", err)
	}
	text, err := chat.MarshalJSON(append(slices.DeleteFunc(list, func(dir string) bool { return dir == from }), from))
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(to, formerFile), text, 0o600)
}

// databases are the copies of the data that are known: the backups of this folder and what
// restores set aside in it, and all that is in the folders that the data was moved from.
func (s *Store) databases() ([]string, error) {
	out, err := copiesIn(s.dir)
	if err != nil {
		return nil, err
	}
	list, err := previousDirs(s.dir)
	if err != nil {
		s.log.Warn("where the data was before cannot be read", "err", err)
	}
	for _, dir := range list {
		if resolved(dir) == resolved(s.dir) {
			continue
		}
		if sqlite.Exists(dir, sqlite.DatabaseFile) {
			out = append(out, filepath.Join(dir, sqlite.DatabaseFile))
		}
		copies, err := copiesIn(dir)
		if err != nil {
			s.log.Warn("a folder that the data was moved from cannot be read", "dir", dir, "err", err)
		}
		out = append(out, copies...)
	}
	return out, nil
}

// copiesIn are the backups of a data directory, and what restores set aside in it.
func copiesIn(dir string) ([]string, error) {
	backups, err := filepath.Glob(filepath.Join(globEscape(dir), sqlite.BackupDir, "*.db"))
	if err != nil {
		return nil, err
	}
	slices.Reverse(backups) // newest first, of each kind: they are named by their time
	aside, err := filepath.Glob(filepath.Join(globEscape(dir), replacedDir, "*", sqlite.DatabaseFile))
	return append(backups, aside...), err
}
