package store

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

const journalExtension = ".jsonl"

func isJournal(name string) bool {
	id, ok := strings.CutSuffix(name, journalExtension)
	return ok && chat.ValidID(id)
}

// reason is the system's word for an error, without paths.
func reason(err error) string {
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

// existing is the nearest folder above a path that is there.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

// resolved is a path with what of it is there freed of links.
func resolved(path string) string {
	there := existing(path)
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

// globEscape keeps what a directory is called from being taken for a pattern.
func globEscape(dir string) string {
	return strings.NewReplacer(`[`, `[[]`, `*`, `[*]`, `?`, `[?]`).Replace(dir)
}
