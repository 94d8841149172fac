//go:build !linux

package builtin

import (
	"fmt"
	"io"
	"os/exec"
)

// detect: no confinement is supported here.
func (*Commands) detect() (Confinement, string) { return ConfinedNot, "" }

// command is the process that runs a command.
func (*Commands) command(in place, temporary, command string) *exec.Cmd {
	return plain(in, temporary, command)
}

// RunCommand is for systems with a confinement.
func RunCommand(_ []string, errs io.Writer) int {
	fmt.Fprintln(errs, "commands are run without a process of the program's own here")
	return 126
}
