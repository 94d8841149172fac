// Package panics turns a panic into an error, so that a record that the program cannot handle fails only the
// operation on it. The message never contains the panic's value, which may be a prompt or a key; the position in the
// code is enough to fix it.
package panics

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"contextinfinity/backend/chat"
)

// Recover is deferred. If the function panicked, it calls report with an error that names the position, and the stack
// for the log; the function then returns.
func Recover(report func(e *chat.Error, stack []byte)) {
	if p := recover(); p != nil {
		e := chat.Errorf(chat.CodeInternal, "program.defect", "Internal error: the operation crashed (%s%s).", kind(p), place()).
			WithHint("nothing is lost; please report it")
		report(e, debug.Stack())
	}
}

// kind describes the panic if that cannot contain the user's text.
func kind(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return strings.TrimPrefix(err.Error(), "runtime error: ") + " "
	}
	return ""
}

// place returns where the panic was raised: "at file.go:12".
func place() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	panicking := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicking = true
		case panicking && !strings.HasPrefix(f.Function, "runtime."):
			return fmt.Sprintf("at %s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "at an unknown place"
		}
	}
}
