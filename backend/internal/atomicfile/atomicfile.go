// Package atomicfile replaces a file completely or not at all.
//
// After Write returns nil the new content is on disk and survives a power failure. After any error, or a crash at any
// moment, the old content is unchanged. A symbolic link is followed: its target is replaced and the link stays.
package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
)

// Writer holds the steps of a replacement as fields, so that a test can make any of them fail. The zero Writer uses
// the real ones.
type Writer struct {
	Create  func(dir, pattern string) (*faultfs.File, error)
	Content func(w io.Writer, data []byte) error
	Sync    func(f *faultfs.File) error
	Rename  func(from, to string) error
	SyncDir func(dir string) error
}

// Write replaces path with data. The file gets perm whatever the umask; its directory must exist. A full disk is
// CodeNoSpace, anything else CodeInternal with the operating system's message.
func Write(path string, data []byte, perm os.FileMode) error {
	return Writer{}.Write(path, data, perm)
}

// Write is like the function Write, using w's steps.
func (w Writer) Write(path string, data []byte, perm os.FileMode) error {
	w = w.withDefaults()
	target, err := resolve(path)
	if err != nil {
		return failure(path, err)
	}
	temp, err := w.writeTemp(target, data, perm)
	if err != nil {
		return failure(path, err)
	}
	if err := w.Rename(temp, target); err != nil {
		_ = faultfs.Remove(faultfs.Config, temp)
		return failure(path, err)
	}
	if err := w.SyncDir(filepath.Dir(target)); err != nil {
		// The new content is in place; only its survival of a power failure is uncertain.
		return chat.WrapError(chat.CodeInternal, "file.write", err,
			"%s was replaced, but its folder could not be flushed to disk", path)
	}
	return nil
}

func (w Writer) withDefaults() Writer {
	if w.Create == nil {
		w.Create = func(dir, pattern string) (*faultfs.File, error) {
			return faultfs.CreateTemp(faultfs.Config, dir, pattern)
		}
	}
	if w.Content == nil {
		w.Content = writeAll
	}
	if w.Sync == nil {
		w.Sync = (*faultfs.File).Sync
	}
	if w.Rename == nil {
		w.Rename = func(from, to string) error { return faultfs.Rename(faultfs.Config, from, to) }
	}
	if w.SyncDir == nil {
		w.SyncDir = func(dir string) error { return faultfs.SyncDir(faultfs.Config, dir) }
	}
	return w
}

// writeTemp leaves a complete, flushed file beside target, or nothing.
func (w Writer) writeTemp(target string, data []byte, perm os.FileMode) (name string, err error) {
	f, err := w.Create(filepath.Dir(target), "."+filepath.Base(target)+".tmp-*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = faultfs.Remove(faultfs.Config, f.Name())
		}
	}()
	if err = f.Chmod(perm); err != nil && runtime.GOOS != "windows" {
		return "", err
	}
	if err = w.Content(f, data); err != nil {
		return "", err
	}
	if err = w.Sync(f); err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

func writeAll(w io.Writer, data []byte) error {
	_, err := w.Write(data)
	return err
}

// resolve follows path if it is a symbolic link, so that a linked configuration
// stays linked.
func resolve(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		return path, nil
	}
	return target, err
}

func failure(path string, err error) error {
	if faultfs.Full(err) {
		return chat.WrapError(chat.CodeNoSpace, "file.write", err,
			"the disk is full: %s was not changed", path).WithHint("free some space and try again")
	}
	return chat.WrapError(chat.CodeInternal, "file.write", err,
		"%s could not be written and was not changed: %v", path, cause(err))
}

// cause returns the operating system's message for err, without the temporary name.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return pathErr.Err
	}
	if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		return linkErr.Err
	}
	return err
}
