//go:build !windows

package app

import (
	"os"
	"syscall"

	"contextinfinity/backend/secrets"
)

// restart puts the program again in its own place: the same process, arguments and
// environment.
func restart() error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(path, os.Args, secrets.Environ())
}
