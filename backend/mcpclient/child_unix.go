//go:build unix

package mcpclient

import (
	"os"
	"os/exec"
	"syscall"
)

// group is a process group: a program and what it started.
type group struct{ id int }

func groupOf(p *os.Process) group { return group{p.Pid} }

// Errors are of groups in which nothing lives any more.
func (g group) terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }
func (g group) kill()      { _ = syscall.Kill(-g.id, syscall.SIGKILL) }
func (g group) close()     {}

func prepare(cmd *exec.Cmd) { cmd.SysProcAttr = ownGroup() }
