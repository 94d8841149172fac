//go:build unix

package mcpclient

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// group is a process group: a program and its child processes.
type group struct{ id int }

func groupOf(p *os.Process) group { return group{p.Pid} }

// Errors of kill mean that the group no longer has any processes.

func (g group) terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }
func (g group) kill()      { _ = syscall.Kill(-g.id, syscall.SIGKILL) }
func (g group) close()     {}

// watch starts a watcher, which kills the group when this program has ended, for whatever reason: a server's child
// processes need not end with its input. done ends the watcher.
//
// The watcher is a shell in its own session that waits for the end of its input, which only this program keeps open.
// Without a shell there is no watcher.
func (g group) watch() (done func()) {
	r, w, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	cmd := exec.Command("/bin/sh", "-c", `read word && exit; kill -9 -"$1"`, "sh", strconv.Itoa(g.id)) // a fixed script, and a number
	cmd.Stdin, cmd.Env, cmd.Dir = r, []string{}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = r.Close()
	if err != nil {
		_ = w.Close()
		return func() {}
	}
	return func() {
		_, _ = w.WriteString("done\n")
		_ = w.Close()
		_ = cmd.Wait()
	}
}

// prepareShell starts a shell in its own session: one with the terminal of this program would stop.
func prepareShell(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func prepare(cmd *exec.Cmd) { cmd.SysProcAttr = ownGroup() }
