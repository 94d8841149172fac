package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"contextinfinity/backend/store/sqlite"
)

// replacedDir holds what restores put aside, in a folder for each by its moment.
const replacedDir = "replaced"

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

// databases are the copies of the data that are known: the backups of this folder and what
// restores set aside in it, and all that is in the folders that the data was moved from.
func (s *Core) databases() ([]string, error) {
	out, err := copiesIn(s.dir)
	if err != nil {
		return nil, err
	}
	list, err := previousDirs(s.dir)
	if err != nil {
		s.log.Warn("where the data was before cannot be read", "err", err)
	}
	for _, dir := range list {
		if sqlite.Resolved(dir) == sqlite.Resolved(s.dir) {
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
	backups, err := filepath.Glob(filepath.Join(sqlite.GlobEscape(dir), sqlite.BackupDir, "*.db"))
	if err != nil {
		return nil, err
	}
	slices.Reverse(backups) // newest first, of each kind: they are named by their time
	aside, err := filepath.Glob(filepath.Join(sqlite.GlobEscape(dir), replacedDir, "*", sqlite.DatabaseFile))
	return append(backups, aside...), err
}
