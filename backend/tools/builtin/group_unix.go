//go:build unix && !linux

package builtin

import (
	"os/exec"
	"syscall"
)

// setGroup gives a command a group of its own.
func setGroup(cmd *exec.Cmd, _ bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
