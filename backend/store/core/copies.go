package core

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"contextinfinity/backend/store/sqlite"
)

// ReplacedDir holds the files that restores quarantined, in a folder per restore named by time.
const ReplacedDir = "replaced"

// PreviousDirsFile lists the folders that the data was moved from: absolute paths, oldest first.
const PreviousDirsFile = "moved-from.json"

// PreviousDirs returns the folders that the data in dir was moved from, including those that no longer contain data. A
// missing list is empty.
func PreviousDirs(dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, PreviousDirsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

// Databases returns the known copies of the data: the backups of this folder, what restores quarantined in it, and
// everything in the folders that the data was moved from.
func (s *Core) Databases() ([]string, error) {
	out, err := copiesIn(s.Dir)
	if err != nil {
		return nil, err
	}
	list, err := PreviousDirs(s.Dir)
	if err != nil {
		s.Log.Warn("the list of previous data folders cannot be read", "err", err)
	}
	for _, dir := range list {
		if sqlite.Resolved(dir) == sqlite.Resolved(s.Dir) {
			continue
		}
		if sqlite.Exists(dir, sqlite.DatabaseFile) {
			out = append(out, filepath.Join(dir, sqlite.DatabaseFile))
		}
		copies, err := copiesIn(dir)
		if err != nil {
			s.Log.Warn("a folder that the data was moved from cannot be read", "dir", dir, "err", err)
		}
		out = append(out, copies...)
	}
	return out, nil
}

// copiesIn returns the backups of a data directory and what restores quarantined in it.
func copiesIn(dir string) ([]string, error) {
	backups, err := filepath.Glob(filepath.Join(sqlite.GlobEscape(dir), sqlite.BackupDir, "*.db"))
	if err != nil {
		return nil, err
	}
	slices.Reverse(backups) // newest first in each group: names begin with the time
	aside, err := filepath.Glob(filepath.Join(sqlite.GlobEscape(dir), ReplacedDir, "*", sqlite.DatabaseFile))
	return append(backups, aside...), err
}
