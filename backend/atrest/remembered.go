package atrest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"contextinfinity/backend/internal/faultfs"
)

// List is the file with the folders outside of the data directory in which this program wrote: one JSON value a line.
const List = "places.jsonl"

// Remembered is a place outside of the data directory.
type Remembered struct {
	// Folder is where a temporary folder was made, for an export.
	Folder string `json:"folder,omitempty"`
	// Copy is a copy of all data: a backup that the user named, or the database in a folder that a move filled.
	Copy string `json:"copy,omitempty"`
}

// Remember records a place before something is written there, so that a crash leaves nothing unknown. Titles are in
// the names of exported files, so only their folder is recorded. Paths inside of the data directory, and those of a
// program without one, are not recorded.
func Remember(dataDir string, r Remembered) error {
	if dataDir == "" || below(dataDir, r.Folder) || below(dataDir, r.Copy) || slices.Contains(Recall(dataDir), r) {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	path := filepath.Join(dataDir, List)
	_, missing := os.Lstat(path)
	f, err := faultfs.OpenFile(faultfs.Data, path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(append(line, '\n')); err == nil { // one write: several processes append
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil && missing != nil {
		_ = os.Remove(path) // a full disk has room for an empty file, which tells nothing
	}
	return err
}

func below(dir, path string) bool {
	if path == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Recall returns the recorded places, oldest first. Lines that cannot be read are left out.
func Recall(dataDir string) []Remembered {
	text, err := os.ReadFile(filepath.Join(dataDir, List))
	if err != nil {
		return nil
	}
	var out []Remembered
	for line := range bytes.Lines(text) {
		var r Remembered
		if json.Unmarshal(line, &r) == nil && (filepath.IsAbs(r.Folder) || filepath.IsAbs(r.Copy)) {
			out = append(out, r)
		}
	}
	return out
}

// Folders returns the recorded folders, and those of the recorded copies.
func Folders(dataDir string) []string {
	var out []string
	for _, r := range Recall(dataDir) {
		if r.Folder != "" {
			out = append(out, r.Folder)
		}
		if r.Copy != "" {
			out = append(out, filepath.Dir(r.Copy))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
