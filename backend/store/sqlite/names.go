package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
)

// StreamDir is the folder of the journals in the data directory.
const StreamDir = atrest.Streams

// JournalExtension is the extension of journal files.
const JournalExtension = ".jsonl"

// IsJournal reports whether a file of StreamDir is the journal of a step.
func IsJournal(name string) bool {
	id, ok := strings.CutSuffix(name, JournalExtension)
	return ok && chat.ValidID(id)
}

// Reason returns the system's message for an error, without paths.
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

// DragDir is the folder for files dragged out of the window, with a folder per session id; it is emptied at the next
// start.
const DragDir = atrest.Drags

// Existing returns the nearest existing folder above a path.
func Existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

// Resolved returns a path with symbolic links resolved in its existing part.
func Resolved(path string) string {
	existing := Existing(path)
	real, err := filepath.EvalSymlinks(existing)
	if err != nil {
		return filepath.Clean(path)
	}
	rest, err := filepath.Rel(existing, path)
	if err != nil {
		return real
	}
	return filepath.Join(real, rest)
}

// GlobEscape escapes a directory name for use in a pattern.
func GlobEscape(dir string) string {
	return strings.NewReplacer(`[`, `[[]`, `*`, `[*]`, `?`, `[?]`).Replace(dir)
}
