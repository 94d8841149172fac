package faultfs

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// NoFollow has no flag here: whoever opens a file looks at it first.
const NoFollow = 0

// syncDir has nothing to do: NTFS journals directory entries itself and does not
// let a directory be flushed.
func syncDir(string) error { return nil }

// Full reports that a disk or a quota is exhausted.
func Full(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) ||
		errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED) ||
		errors.Is(err, syscall.ENOSPC)
}
