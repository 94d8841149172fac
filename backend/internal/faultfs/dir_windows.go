package faultfs

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// NoFollow is no flag here: callers check the file before they open it.
const NoFollow = 0

// syncDir has nothing to do: NTFS journals directory entries itself, and directories cannot be flushed.
func syncDir(string) error { return nil }

// Full reports whether the error means that a disk or a quota is exhausted.
func Full(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) ||
		errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED) ||
		errors.Is(err, syscall.ENOSPC)
}
