//go:build !linux

package builtin

import (
	"fmt"
	"io"
	"os/exec"
)

// detect returns ConfinedNot: no confinement is supported on this system.
func (*Commands) detect() (Confinement, string) { return ConfinedNot, "" }

// command returns the process that runs a command.
func (*Commands) command(dir workDir, temporary, command string) *exec.Cmd {
	return plain(dir, temporary, command)
}

// RunCommand is used only on systems with a confinement.
func RunCommand(_ []string, errs io.Writer) int {
	fmt.Fprintln(errs, "commands are run without a process of the program's own here")
	return 126
}
