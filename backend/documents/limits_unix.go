//go:build linux || darwin

package documents

import "syscall"

// Limits that the system enforces even between two checks of the heap: bytes of data, including what the Go runtime
// reserves, and seconds of CPU time.
const (
	dataLimit  = 3 * processMemory
	cpuSeconds = 60
)

// limitProcess sets the system's limits. Errors are ignored: the process also checks its own memory and time.
func limitProcess() {
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: dataLimit, Max: dataLimit})
	_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: cpuSeconds, Max: cpuSeconds})
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
