//go:build unix

package mcpclient

import (
	"os/signal"
	"syscall"
)

func ignoreTermination() { signal.Ignore(syscall.SIGTERM, syscall.SIGPIPE) }

// alive reports whether a process runs; a zombie does not count.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil && !isZombie(pid) }
