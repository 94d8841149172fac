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
	return held(of, func() (string, error) { return os.MkdirTemp(dir, prefix) })
}

// MakeNamed is like MakeFolder, for a folder with this exact name.
func MakeNamed(class faultfs.Class, path string) (*Folder, error) {
	return held("", func() (string, error) { return path, faultfs.Mkdir(class, path, 0o700) })
}

// held makes a folder and locks it. Another process may find it before it is locked, and remove it: then it is made again.
func held(of string, mkdir func() (string, error)) (*Folder, error) {
	making.Lock()
	defer making.Unlock()
	for {
		path, err := mkdir()
		if err != nil {
			return nil, err
		}
		name := filepath.Join(path, lockFile)
		lock, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(path))
		}
		_, _ = lock.WriteString(resolved(of))       // without it, it concerns every data directory
		for filelock.IsLocked(filelock.Try(lock)) { // on a file system without locks, Sweep goes by the folder's age
			time.Sleep(time.Millisecond)
		}
		mine, err := lock.Stat()
		if now, err2 := os.Stat(name); err == nil && err2 == nil && os.SameFile(mine, now) {
			return &Folder{Path: path, lock: lock}, nil
		}
		_ = lock.Close()
	}
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
