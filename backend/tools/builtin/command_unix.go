//go:build unix

package builtin

import (
	"os/exec"
	"syscall"
)

// plain returns the process that runs a command without confinement.
func plain(dir workDir, temporary, command string) *exec.Cmd {
	cmd := exec.Command(commandShell, "-c", command) // #nosec G204 -- a person approved it
	cmd.Dir, cmd.Env = dir.path(), environment("", temporary)
	setGroup(cmd, true)
	return cmd
}

// endGroup asks the command's process to terminate, or kills its group.
func endGroup(cmd *exec.Cmd, kill bool) {
	if !kill {
		_ = syscall.Kill(cmd.Process.Pid, syscall.SIGTERM) // it may have ended just now
		return
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
