//go:build windows

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockOffset is far beyond the text: on Windows others cannot read a locked range, and the pid must be readable.
const lockOffset = 1 << 30

// Try takes an exclusive lock on the open file without waiting. The system releases it when the process ends,
// even if killed.
func Try(f Descriptor) error {
	return windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, lockRange())
}

// TryShare takes a lock that others can share, without waiting, unless the exclusive one is held.
func TryShare(f Descriptor) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, lockRange())
}

// IsLocked reports whether an error means that another process holds the lock.
func IsLocked(err error) bool {
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING)
}

// Unlock drops a lock.
func Unlock(f Descriptor) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockRange())
}

func lockRange() *windows.Overlapped { return &windows.Overlapped{Offset: lockOffset} }

// TryDir has nothing to do: an open file cannot be deleted here.
func TryDir(string) (*os.File, error) { return nil, nil }

// ShareDir has nothing to do, for the same reason.
func ShareDir(string) (*os.File, error) { return nil, nil }
