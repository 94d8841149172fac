//go:build !windows

package app

import (
	"os"
	"syscall"

	"contextinfinity/backend/secrets"
)

// restart replaces the process with a new instance of the program, with the same arguments and environment.
func restart() error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(path, os.Args, secrets.Environ()) //nolint:gosec // this program, with its own arguments
}
