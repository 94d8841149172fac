package atrest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/internal/filelock"
)

// lockFile is in every temporary folder, locked as long as its process lives.
const lockFile = "owner.lock"

// making keeps Sweep of this process away from a folder that has no lock yet.
var making sync.Mutex

// Folder is a temporary folder of this process, accessible to its owner only.
type Folder struct {
	Path string
	lock *os.File
}

// MakeFolder creates a temporary folder in dir; prefix is one of those of the table.
func MakeFolder(dir, prefix string) (*Folder, error) { return MakeCopy(dir, prefix, "") }

// MakeCopy is like MakeFolder, for a copy of a file: the folder does not concern other data than that one.
func MakeCopy(dir, prefix, of string) (*Folder, error) {
	making.Lock()
	defer making.Unlock()
	path, err := os.MkdirTemp(dir, prefix)
	if err != nil {
		return nil, err
	}
	return hold(path, of)
}

// MakeNamed is like MakeFolder, for a folder with this exact name.
func MakeNamed(class faultfs.Class, path string) (*Folder, error) {
	making.Lock()
	defer making.Unlock()
	if err := faultfs.Mkdir(class, path, 0o700); err != nil {
		return nil, err
	}
	return hold(path, "")
}

func hold(path, of string) (*Folder, error) {
	lock, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	_, _ = lock.WriteString(resolved(of)) // without it, it concerns every data directory
	_ = filelock.Try(lock)                // on a file system without locks, Sweep goes by the folder's age
	return &Folder{Path: path, lock: lock}, nil
}

// File returns the path of a file in the folder.
func (f *Folder) File(name string) string { return filepath.Join(f.Path, name) }

// Release drops the lock, and keeps the folder.
func (f *Folder) Release() {
	_ = f.lock.Close()
}

// Remove removes the folder with its content.
func (f *Folder) Remove() error {
	making.Lock() // Sweep would find it without its lock
	defer making.Unlock()
	f.Release()
	return os.RemoveAll(f.Path)
}

// state is what Sweep finds out about something that a place's pattern matches.
type state int

const (
	gone   state = iota
	living       // a process holds it, or may
	dead
)

// examine reports whether a living process holds a folder or a file. The returned lock is held, for a dead folder.
func examine(path string, age time.Duration) (state, *os.File) {
	info, err := os.Lstat(path)
	if err != nil {
		return gone, nil
	}
	if info.IsDir() {
		lock, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|faultfs.NoFollow, 0)
		if err == nil {
			switch err := filelock.Try(lock); {
			case err == nil:
				return dead, lock
			case filelock.IsLocked(err):
				_ = lock.Close()
				return living, nil
			}
			_ = lock.Close()
		}
	}
	if time.Since(info.ModTime()) > age {
		return dead, nil
	}
	return living, nil
}

// concerns reports whether what a living process holds may be a copy of this data.
func concerns(path, dataDir string) bool {
	of, err := os.ReadFile(filepath.Join(path, lockFile))
	return err != nil || len(of) == 0 || below(resolved(dataDir), string(of)) ||
		slices.ContainsFunc(Recall(dataDir), func(r Remembered) bool { return resolved(r.Copy) == string(of) })
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if whole, err := filepath.Abs(path); err == nil && path != "" {
		path = whole
	}
	return path
}
