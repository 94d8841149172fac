package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"contextinfinity/backend/chat"
)

// StreamDir holds the journals of the data directory.
const StreamDir = "streams"

// JournalExtension ends the names of journals.
const JournalExtension = ".jsonl"

// IsJournal reports that a file of StreamDir is the journal of a step.
func IsJournal(name string) bool {
	id, ok := strings.CutSuffix(name, JournalExtension)
	return ok && chat.ValidID(id)
}

// Reason is the system's word for an error, without paths.
func Reason(err error) string {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err.Error()
	case errors.As(err, &l):
		return l.Err.Error()
	}
	return err.Error()
}

// DragDir holds what was dragged out of the window, in a folder for each session by its
// id, until the next start.
const DragDir = "drags"

// Existing is the nearest folder above a path that is there.
func Existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

// Resolved is a path with what of it is there freed of links.
func Resolved(path string) string {
	there := Existing(path)
	real, err := filepath.EvalSymlinks(there)
	if err != nil {
		return filepath.Clean(path)
	}
	rest, err := filepath.Rel(there, path)
	if err != nil {
		return real
	}
	return filepath.Join(real, rest)
}

// GlobEscape keeps what a directory is called from being taken for a pattern.
func GlobEscape(dir string) string {
	return strings.NewReplacer(`[`, `[[]`, `*`, `[*]`, `?`, `[?]`).Replace(dir)
}
