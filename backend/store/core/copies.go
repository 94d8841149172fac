package core

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/store/sqlite"
)

// ReplacedDir holds the files that restores quarantined, in a folder per restore named by time.
const ReplacedDir = atrest.Replaced

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

// Databases returns the known copies of the data: the backups of this folder and those that were written elsewhere, what
// restores quarantined, and everything in the folders that the data was moved from or copied to.
func (s *Core) Databases() ([]string, error) {
	out, err := copiesIn(s.Dir)
	if err != nil {
		return nil, err
	}
	for _, dir := range s.otherDirs() {
		if sqlite.Exists(dir, sqlite.DatabaseFile) {
			out = append(out, filepath.Join(dir, sqlite.DatabaseFile))
		}
		copies, err := copiesIn(dir)
		if err != nil {
			s.Log.Warn("a folder with a copy of the data cannot be read", "dir", dir, "err", err)
		}
		out = append(out, copies...)
	}
	for _, r := range atrest.Recall(s.Dir) {
		if info, err := os.Lstat(r.Copy); r.Copy != "" && err == nil && info.Mode().IsRegular() && !slices.Contains(out, r.Copy) {
			out = append(out, r.Copy)
		}
	}
	return slices.DeleteFunc(out, func(path string) bool { return sqlite.Resolved(path) == sqlite.Resolved(s.Path()) }), nil
}

// otherDirs returns the folders that are, were or may have become data directories beside this one.
func (s *Core) otherDirs() []string {
	list, err := PreviousDirs(s.Dir)
	if err != nil {
		s.Log.Warn("the list of previous data folders cannot be read", "err", err)
	}
	for _, r := range atrest.Recall(s.Dir) {
		if filepath.Base(r.Copy) == sqlite.DatabaseFile {
			list = append(list, filepath.Dir(r.Copy))
		}
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(dir string) bool { return sqlite.Resolved(dir) == sqlite.Resolved(s.Dir) })
}

// OtherJournals returns the journals of answers in quarantined folders, and in other data directories.
func (s *Core) OtherJournals() []string {
	var out []string
	for _, dir := range append(s.otherDirs(), s.Dir) {
		patterns := []string{filepath.Join(ReplacedDir, "*", sqlite.StreamDir)}
		if dir != s.Dir {
			patterns = append(patterns, sqlite.StreamDir)
		}
		for _, pattern := range patterns {
			found, _ := filepath.Glob(filepath.Join(sqlite.GlobEscape(dir), pattern, "*"))
			out = append(out, slices.DeleteFunc(found, func(path string) bool { return !sqlite.IsJournal(filepath.Base(path)) })...)
		}
	}
	return out
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
