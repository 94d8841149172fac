//go:build linux || darwin

package documents

import "syscall"

// Limits that the system enforces, whatever the library does between two checks of the heap: bytes of data, including
// what the Go runtime reserves, and seconds of CPU time.
const (
	pdfData = 3 * processMemory
	pdfWork = 60
)

// limitProcess sets the system's limits. Errors are ignored: the process also checks its own memory and time.
func limitProcess() {
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: pdfData, Max: pdfData})
	_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: pdfWork, Max: pdfWork})
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
