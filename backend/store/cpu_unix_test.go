//go:build unix

package store

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time of this process on all cores. Unlike elapsed time, it does not depend on the load of the
// machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
