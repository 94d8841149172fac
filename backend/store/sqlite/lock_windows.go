//go:build windows

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockOffset is far beyond the text: on Windows others cannot read a locked range, and the pid must be readable.
const lockOffset = 1 << 30

// tryLock takes an exclusive lock on the open file without waiting. The system releases it when the process ends,
// even if killed.
func tryLock(f descriptor) error {
	return windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, lockRange())
}

// tryShare takes a lock that others can share, without waiting, unless the exclusive one is held.
func tryShare(f descriptor) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, lockRange())
}

func isLocked(err error) bool {
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING)
}

func unlock(f descriptor) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockRange())
}

func lockRange() *windows.Overlapped { return &windows.Overlapped{Offset: lockOffset} }

// tryLockDir has nothing to do: an open file cannot be deleted here.
func tryLockDir(string) (*os.File, error) { return nil, nil }

// ShareDir has nothing to do, for the same reason.
func ShareDir(string) (*os.File, error) { return nil, nil }
