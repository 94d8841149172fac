//go:build linux || darwin

package documents

import "syscall"

// What the system holds the process to, whatever the library does between two looks at
// the heap: bytes of its data, the reserves of the runtime included, and seconds of work.
const (
	pdfData = 3 * processMemory
	pdfWork = 60
)

// limitProcess lets the system end the process. Where it refuses the limits, those that
// the process keeps itself remain.
func limitProcess() {
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: pdfData, Max: pdfData})
	_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: pdfWork, Max: pdfWork})
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
