//go:build faults

package faults

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Enabled reports whether this build has fault points.
const Enabled = true

// ExitCode is what the shell reports for a process killed by signal 9.
const ExitCode = 137

// ErrInjected is returned by a point that a test makes fail.
var ErrInjected = errors.New("faults: injected error")

var current = sync.OnceValue(func() *plan {
	p, err := parse(os.Getenv("CONTEXTINFINITY_FAULT"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return p
})

// known is the set of the names of all points.
var known = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, name := range Points {
		names[name] = true
	}
	return names
})

// Point marks a place in the program. It returns an error, or ends the process, if the environment says so.
func Point(name string) error {
	if !known()[name] && !strings.HasPrefix(name, TestPrefix) {
		fmt.Fprintf(os.Stderr, "faults: the point %s is not in Points\n", name)
		os.Exit(2)
	}
	trace(name)
	switch do := current().hit(name); do {
	case exit:
		os.Exit(ExitCode)
	case power:
		losePower()
	case fill:
		fillDisk()
	case fail:
		return fmt.Errorf("%w at %s", ErrInjected, name)
	case eio, enospc:
		return fmt.Errorf("%s: %w", name, errno(do))
	}
	return nil
}

// Transaction is the point at one moment of a writing transaction.
func Transaction(op, moment string) error { return Point(transactionPoint(op, moment)) }

// Skipped reports whether a test turns a safeguard off.
func Skipped(name string) bool {
	return current().hit(name) == skip
}

// Verdict is what happens to a call of the operating system. The zero Verdict lets it proceed.
type Verdict struct {
	Errno syscall.Errno // fail with this error, without doing anything unless Short
	Short bool          // write half before failing
	Skip  bool          // do nothing and report success
}

// At is the I/O site of one kind of call on one class of files. It returns what happens to the call.
func At(class, op string) Verdict {
	name := "io." + class + "." + op
	trace(name)
	switch do := current().hit(name); do {
	case exit:
		os.Exit(ExitCode)
	case power:
		losePower()
	case fill:
		fillDisk()
	case skip:
		return Verdict{Skip: true}
	case short:
		return Verdict{Errno: syscall.ENOSPC, Short: true}
	case fail, eio, enospc:
		return Verdict{Errno: errno(do)}
	}
	if needsSpace(op) && full() {
		return Verdict{Errno: syscall.ENOSPC}
	}
	return Verdict{}
}

func errno(do action) syscall.Errno {
	if do == enospc {
		return syscall.ENOSPC
	}
	return syscall.EIO
}

// needsSpace reports whether the call fails on a full disk.
func needsSpace(op string) bool { return slices.Contains([]string{"create", "mkdir", "write"}, op) }

// full reports whether the "disk full" switch is set.
func full() bool {
	file := os.Getenv("CONTEXTINFINITY_FAULT_FULL")
	if file == "" {
		return false
	}
	_, err := os.Stat(file)
	return err == nil
}

// fillDisk sets the "disk full" switch.
func fillDisk() {
	file := os.Getenv("CONTEXTINFINITY_FAULT_FULL")
	if err := os.WriteFile(file, nil, 0o600); err != nil { // #nosec G703 -- a test names it
		fmt.Fprintln(os.Stderr, "CONTEXTINFINITY_FAULT_FULL:", err)
		os.Exit(2)
	}
}

var (
	powerMu  sync.Mutex
	handlers []func()
)

// OnPowerLoss registers f to run when the power fails. f discards what is not durable in its files, and prevents later
// writes.
func OnPowerLoss(f func()) {
	powerMu.Lock()
	handlers = append(handlers, f)
	powerMu.Unlock()
}

// losePower does not return.
func losePower() {
	powerMu.Lock() // never released: the power fails only once
	for _, f := range handlers {
		f()
	}
	os.Exit(ExitCode)
}

// tracer is the file to which hits are appended, nil if there is none.
var tracer = sync.OnceValue(func() *os.File {
	path := os.Getenv("CONTEXTINFINITY_FAULT_TRACE")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "CONTEXTINFINITY_FAULT_TRACE:", err)
		os.Exit(2)
	}
	return f
})

// trace writes a line in a single call, so that programs can share a file.
func trace(name string) {
	if f := tracer(); f != nil {
		_, _ = f.WriteString(name + "\n")
	}
}
