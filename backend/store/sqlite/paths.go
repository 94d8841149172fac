package sqlite

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/internal/faultfs"
)

// SizeOf returns the size of a file in bytes; 0 for none.
func SizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// CopyFile copies a file's bytes into a new one, accessible to the owner only.
func CopyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := faultfs.OpenFile(faultfs.Backup, to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// notAFile says what exists in place of an expected file, as the end of a sentence; empty: a file, or nothing.
func notAFile(path string) string {
	info, err := os.Lstat(path)
	switch {
	case err != nil || info.Mode().IsRegular():
		return ""
	case info.IsDir():
		return "a folder"
	case info.Mode()&os.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "not a regular file (" + strings.TrimSpace(info.Mode().Type().String()) + ")"
}

// Names of files and folders in the data directory.
const (
	DatabaseFile = atrest.Database
	LockFile     = "writer.lock"
	BackupDir    = atrest.Backups
)

// Exists reports whether a file or folder exists in a directory.
func Exists(dir, path string) bool {
	_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(path)))
	return err == nil
}
