//go:build unix

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes an exclusive lock on the open file without waiting. The system releases it when the process ends,
// even if killed.
func tryLock(f descriptor) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// tryShare takes a lock that others can share, without waiting, unless the exclusive one is held.
func tryShare(f descriptor) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
}

func isLocked(err error) bool { return errors.Is(err, unix.EWOULDBLOCK) }

func unlock(f descriptor) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// tryLockDir locks the directory itself. On a file system that cannot lock directories only the file's lock applies.
func tryLockDir(path string) (*os.File, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := tryLock(d); err != nil {
		_ = d.Close()
		if isLocked(err) {
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
	if err := unix.Flock(int(d.Fd()), unix.LOCK_SH|unix.LOCK_NB); isLocked(err) {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil // if the file system cannot lock directories, no writer can be kept out
}
