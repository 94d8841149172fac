//go:build !windows

package app

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// restart replaces the process with a new instance of the program, with the same arguments and environment.
func restart(h handover) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	in, env, err := h.pipe()
	if err != nil {
		return err
	}
	if err := unix.Dup2(int(in.Fd()), int(os.Stdin.Fd())); err != nil { //nolint:gosec // descriptors are small
		return err
	}
	return syscall.Exec(path, os.Args, env) //nolint:gosec // this program, with its own arguments
}
