//go:build !windows

package faultfs

import (
	"errors"
	"os"
	"syscall"
)

// NoFollow is the flag for OpenFile to refuse a symbolic link.
const NoFollow = syscall.O_NOFOLLOW

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Full reports whether the error means that the disk is full or a quota is exhausted.
func Full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
