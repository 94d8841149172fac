//go:build unix

package builtin

import (
	"os/exec"
	"syscall"
)

// ulimits sets the limits of a command in its shell, generous ones: 16 GB in a file, 16 GB of memory and 8 192 processes,
// and no core dumps. A limit that is lower already stays.
const ulimits = `{ ulimit -c 0; ulimit -f 33554432; ulimit -d 16777216; ulimit -u 8192 || ulimit -p 8192; } 2>/dev/null; `

// limited returns the arguments of a shell that runs a command with limits, in a shell below it: the first process of a
// namespace is exempt from signals.
func limited(command string) []string {
	return []string{commandShell, "-c", ulimits + `"$0" -c "$1"; exit $?`, commandShell, command}
}

// plain returns the process that runs a command without confinement.
func plain(dir workDir, temporary, command string) *exec.Cmd {
	args := limited(command)
	cmd := exec.Command(args[0], args[1:]...) // #nosec G204 -- a person approved it
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
