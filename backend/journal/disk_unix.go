//go:build !windows

package journal

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes the entries of a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir) // #nosec G304 -- the data directory's own
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// diskFull reports that a disk or a quota is exhausted.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
