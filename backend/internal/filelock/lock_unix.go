//go:build unix

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Try takes an exclusive lock on the open file without waiting. The system releases it when the process ends,
// even if killed.
func Try(f Descriptor) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// TryShare takes a lock that others can share, without waiting, unless the exclusive one is held.
func TryShare(f Descriptor) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
}

// IsLocked reports whether an error means that another process holds the lock.
func IsLocked(err error) bool { return errors.Is(err, unix.EWOULDBLOCK) }

// Unlock drops a lock.
func Unlock(f Descriptor) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// TryDir locks the directory itself. On a file system that cannot lock directories only the file's lock applies.
func TryDir(path string) (*os.File, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := Try(d); err != nil {
		_ = d.Close()
		if IsLocked(err) {
			return nil, err
		}
		return nil, nil
	}
	return d, nil
}

// ShareDir keeps writers, but not other readers, out of a directory until the returned file is closed.
func ShareDir(path string) (*os.File, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(d.Fd()), unix.LOCK_SH|unix.LOCK_NB); IsLocked(err) {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil // if the file system cannot lock directories, no writer can be kept out
}
