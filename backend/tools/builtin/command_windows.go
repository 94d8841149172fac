package builtin

import (
	"os/exec"
	"strconv"
)

// plain returns the process that runs a command without confinement.
func plain(dir workDir, temporary, command string) *exec.Cmd {
	cmd := exec.Command("cmd.exe", "/d", "/s", "/c", command) // #nosec G204 -- a person approved it
	cmd.Dir, cmd.Env = dir.path(), append(environment("", temporary), "TEMP="+temporary, "TMP="+temporary)
	setGroup(cmd, true)
	return cmd
}

// setGroup does nothing: taskkill finds the child processes.
func setGroup(*exec.Cmd, bool) {}

// endGroup terminates a command with all its processes.
func endGroup(cmd *exec.Cmd, kill bool) {
	tree := exec.Command("taskkill.exe", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)) // #nosec G204 -- a number
	if tree.Run() != nil && kill {
		_ = cmd.Process.Kill() // it may have ended just now
	}
}
