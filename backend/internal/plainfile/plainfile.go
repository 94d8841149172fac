// Package plainfile opens files that a person names. Anything else than a file is refused at once: opening a pipe would
// wait until another program writes to it, without end.
package plainfile

import (
	"errors"
	"io/fs"
	"os"
)

// Open opens a regular file, or the target of a symbolic link, for reading. The error of anything else says what it is;
// it is a *fs.PathError.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|NonBlocking, 0) // #nosec G304 -- the person names it
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("it is " + Describe(info.Mode()) + ", not a file")}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Describe says what something is that is not a regular file, with its article.
func Describe(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}
