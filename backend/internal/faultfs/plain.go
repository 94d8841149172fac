//go:build !faults

package faultfs

import "os"

// File is an open file.
type File = os.File

// OpenFile is os.OpenFile.
func OpenFile(_ Class, path string, flag int, perm os.FileMode) (*File, error) {
	return os.OpenFile(path, flag, perm)
}

// CreateTemp is os.CreateTemp.
func CreateTemp(_ Class, dir, pattern string) (*File, error) { return os.CreateTemp(dir, pattern) }

// Mkdir is os.Mkdir.
func Mkdir(_ Class, path string, perm os.FileMode) error { return os.Mkdir(path, perm) }

// MkdirAll is os.MkdirAll.
func MkdirAll(_ Class, path string, perm os.FileMode) error { return os.MkdirAll(path, perm) }

// Rename is os.Rename.
func Rename(_ Class, from, to string) error { return os.Rename(from, to) }

// Remove is os.Remove.
func Remove(_ Class, path string) error { return os.Remove(path) }

// SyncDir makes creations, renames and removals in dir durable.
func SyncDir(_ Class, dir string) error { return syncDir(dir) }

// SyncData makes f's bytes and size durable, not its times.
func SyncData(f *File) error { return syncData(f) }
