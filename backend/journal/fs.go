package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/internal/seal"
)

// File is the part of an open file that a Writer needs. Write and Sync may be called concurrently; a Sync covers every
// Write that returned before it was called.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// FS is the part of a file system that journals use. Tests implement it to discard data that was never fsynced
// (journaltest.CrashFS). Errors wrap fs.ErrExist and fs.ErrNotExist where applicable.
type FS interface {
	// MkdirAll creates dir, private to the user, and makes its directory entry durable.
	MkdirAll(dir string) error
	// Create creates a new private file; an existing one is an error.
	Create(path string) (File, error)
	Open(path string) (io.ReadCloser, error)
	Remove(path string) error
	// SyncDir makes creations and removals in dir durable.
	SyncDir(dir string) error
	// ReadDir returns the names in dir, sorted.
	ReadDir(dir string) ([]string, error)
}

// OS returns the operating system's file system: directories 0700, files 0600, fdatasync if available.
func OS() FS { return osFS{} }

type osFS struct{}

// MkdirAll syncs all new parents: a directory is durable only if its parents are.
func (o osFS) MkdirAll(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if missing(err) && parent != dir {
		if err := o.MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := faultfs.Mkdir(faultfs.Journal, dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return faultfs.SyncDir(faultfs.Journal, parent)
}

func (osFS) Create(path string) (File, error) {
	f, err := faultfs.OpenFile(faultfs.Journal, path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	sealed, err := sealedIfKeyed(path, osFile{f})
	if err != nil {
		return nil, errors.Join(err, f.Close(), faultfs.Remove(faultfs.Journal, path))
	}
	return sealed, nil
}

func (osFS) Open(path string) (io.ReadCloser, error) {
	f, err := faultfs.OpenFile(faultfs.Journal, path, os.O_RDONLY, 0)
	if err != nil || !seal.Known() {
		return f, err
	}
	return opened(path, f)
}

func (osFS) Remove(path string) error { return faultfs.Remove(faultfs.Journal, path) }

func (osFS) SyncDir(dir string) error { return faultfs.SyncDir(faultfs.Journal, dir) }

func (osFS) ReadDir(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

type osFile struct{ *faultfs.File }

func (f osFile) Sync() error { return faultfs.SyncData(f.File) }

// missing reports whether err means that a file or directory does not exist, which is no failure for reading and
// removing.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
