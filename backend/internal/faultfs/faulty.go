//go:build faults

package faultfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"contextinfinity/backend/internal/faults"
)

// File is an open file whose calls are I/O sites.
type File struct {
	*os.File
	class Class
	node  *node
}

// injected returns the error of a call that a test makes fail, otherwise nil.
func injected(v faults.Verdict, op, path string) error {
	if v.Errno == 0 {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: v.Errno}
}

// OpenFile is os.OpenFile: site create if it creates the file, else open.
func OpenFile(c Class, path string, flag int, perm os.FileMode) (*File, error) {
	op := "open"
	if _, err := os.Lstat(path); err != nil && flag&os.O_CREATE != 0 {
		op = "create"
	}
	if err := injected(faults.At(string(c), op), "open", path); err != nil {
		return nil, err
	}
	machine.RLock()
	defer machine.RUnlock()
	f, err := os.OpenFile(path, flag, perm)
	if err == nil && flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		return &File{File: f, class: c}, nil
	}
	return opened(c, f, op == "create", err)
}

// CreateTemp is os.CreateTemp.
func CreateTemp(c Class, dir, pattern string) (*File, error) {
	if err := injected(faults.At(string(c), "create"), "open", filepath.Join(dir, pattern)); err != nil {
		return nil, err
	}
	machine.RLock()
	defer machine.RUnlock()
	f, err := os.CreateTemp(dir, pattern)
	return opened(c, f, true, err)
}

func opened(c Class, f *os.File, isNew bool, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	if isNew {
		created(f.Name())
	}
	return &File{File: f, class: c, node: nodeOf(f, isNew)}, nil
}

// Write writes all of p; if a test makes it fail, half of it or nothing.
func (f *File) Write(p []byte) (int, error) { return f.write(p, f.File.Write) }

// WriteAt is like Write.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	return f.write(p, func(p []byte) (int, error) { return f.File.WriteAt(p, off) })
}

// WriteString is like Write.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// ReadFrom makes io.Copy use Write.
func (f *File) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{f}, r)
}

func (f *File) write(p []byte, write func([]byte) (int, error)) (int, error) {
	v := faults.At(string(f.class), "write")
	if v.Skip {
		return len(p), nil
	}
	err := injected(v, "write", f.Name())
	if err != nil && !v.Short {
		return 0, err
	}
	machine.RLock()
	defer machine.RUnlock()
	if v.Short {
		n, _ := write(p[:len(p)/2])
		return n, err
	}
	return write(p)
}

// Sync makes durable what was written before the call.
func (f *File) Sync() error { return f.flush((*os.File).Sync) }

// SyncData makes f's bytes and size durable, not its times.
func SyncData(f *File) error { return f.flush(syncData) }

func (f *File) flush(sync func(*os.File) error) error {
	v := faults.At(string(f.class), "sync")
	if v.Skip {
		return nil
	}
	covered := sizeOf(f.File)
	err := injected(v, "sync", f.Name())
	if err == nil {
		machine.RLock()
		defer machine.RUnlock()
		err = sync(f.File)
	}
	f.node.flushed(covered, err)
	return err
}

// Truncate is os.File.Truncate.
func (f *File) Truncate(size int64) error {
	v := faults.At(string(f.class), "truncate")
	if v.Skip {
		return nil
	}
	if err := injected(v, "truncate", f.Name()); err != nil {
		return err
	}
	machine.RLock()
	defer machine.RUnlock()
	f.node.cut(size)
	return f.File.Truncate(size)
}

// Close is os.File.Close; bytes that were not fsynced stay recorded.
func (f *File) Close() error {
	err := f.File.Close()
	if !errors.Is(err, fs.ErrClosed) {
		f.node.handleClosed()
	}
	return err
}

// Mkdir is os.Mkdir.
func Mkdir(c Class, path string, perm os.FileMode) error {
	return step(c, "mkdir", path, func() error { return os.Mkdir(path, perm) })
}

// MkdirAll is os.MkdirAll; it is a site only if it creates a directory.
func MkdirAll(c Class, path string, perm os.FileMode) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	return step(c, "mkdir", path, func() error { return os.MkdirAll(path, perm) })
}

// Rename is os.Rename.
func Rename(c Class, from, to string) error {
	return step(c, "rename", from, func() error {
		undo := beforeRename(from, to)
		err := os.Rename(from, to)
		undo.finish(err)
		return err
	})
}

// Remove is os.Remove.
func Remove(c Class, path string) error {
	return step(c, "remove", path, func() error {
		undo := beforeRemove(path)
		err := os.Remove(path)
		undo.finish(err)
		return err
	})
}

// SyncDir makes creations, renames and removals in dir durable.
func SyncDir(c Class, dir string) error {
	return step(c, "syncdir", dir, func() error {
		covered := newestChange()
		err := syncDir(dir)
		if err == nil {
			entriesFlushed(dir, covered)
		}
		return err
	})
}

func step(c Class, op, path string, do func() error) error {
	v := faults.At(string(c), op)
	if v.Skip {
		return nil
	}
	if err := injected(v, op, path); err != nil {
		return err
	}
	machine.RLock()
	defer machine.RUnlock()
	return do()
}
