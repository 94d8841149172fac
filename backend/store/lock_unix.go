//go:build unix

package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes an exclusive lock on the open file, without waiting. The system
// drops it when the process ends, however it ends.
func tryLock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

func isLocked(err error) bool { return err == unix.EWOULDBLOCK }

func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
