//go:build unix && !linux

package builtin

import (
	"os/exec"
	"syscall"
)

// setGroup puts a command into its own process group.
func setGroup(cmd *exec.Cmd, _ bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
