// Package panics turns a panic into an error: one record that the program cannot handle
// fails what works on it, and nothing else. Its words never hold what the panic was
// about, which may be a prompt or a key; the place in the code is enough to fix it.
package panics

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"contextinfinity/backend/chat"
)

// Recover is deferred. If the function panicked, it calls tell with an error that says
// where, and the stack for the log; the function then returns.
func Recover(tell func(e *chat.Error, stack []byte)) {
	if p := recover(); p != nil {
		e := chat.Errorf(chat.CodeInternal, "program.defect", "Internal error: the operation crashed (%s%s).", kind(p), place()).
			WithHint("nothing is lost; please report it")
		tell(e, debug.Stack())
	}
}

// kind is what a panic is about, where that cannot be the user's words.
func kind(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return strings.TrimPrefix(err.Error(), "runtime error: ") + " "
	}
	return ""
}

// place is where the panic was raised: "at file.go:12".
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
