//go:build unix

package mcpclient

import (
	"os/signal"
	"syscall"
)

func ignoreTermination() { signal.Ignore(syscall.SIGTERM, syscall.SIGPIPE) }

// alive reports a process that runs; one that has ended and waits for its parent does not.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) }
