package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"contextinfinity/backend/chat"
)

// Exit codes (SPEC 15).
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2
	exitProblems = 3
	exitWaits    = 4 // tool calls wait for a decision
)

// usageError is the error for wrong usage: nothing was opened or changed.
type usageError struct{ cause *chat.Error }

func (e usageError) Error() string { return e.cause.Error() }
func (e usageError) Unwrap() error { return e.cause }

func usagef(format string, args ...any) error {
	return usageError{chat.Errorf(chat.CodeInvalid, "cli.usage", format, args...)}
}

func usageHint(hint, format string, args ...any) error {
	return usageError{chat.Errorf(chat.CodeInvalid, "cli.usage", format, args...).WithHint("%s", hint)}
}

// problemsError is the error of a verb that succeeded but found problems: verify, backups --check, import.
type problemsError struct{ cause *chat.Error }

func (e problemsError) Error() string { return e.cause.Error() }
func (e problemsError) Unwrap() error { return e.cause }

// waitsError is for an answer that continues after the user has decided about its tool calls.
type waitsError struct{ cause *chat.Error }

func (e waitsError) Error() string { return e.cause.Error() }
func (e waitsError) Unwrap() error { return e.cause }

// errQuit is the second Ctrl-C: the program exits without closing anything.
var errQuit = chat.Errorf(chat.CodeCancelled, "cli.quit", "Interrupted.").
	WithHint("the partial answer is in the stream journal and is recovered at the next start")

func exitCode(err error) int {
	var usage usageError
	var problems problemsError
	var waits waitsError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &problems):
		return exitProblems
	case errors.As(err, &waits):
		return exitWaits
	}
	return exitFailed
}

// errorJSON is an error as --json prints it.
type errorJSON struct {
	Code    chat.Code `json:"code"`
	Op      string    `json:"op"`
	Message string    `json:"message"`
	Hint    string    `json:"hint"`
}

// describe prepares an error for output: with a code and an operation, redacted.
func (c *call) describe(err error) errorJSON {
	e := chat.AsError(err)
	out := errorJSON{Code: e.Code, Op: e.Op, Message: e.Message, Hint: e.Hint}
	if out.Message == "" && e.Err != nil {
		out.Message = e.Err.Error()
	}
	if errors.Is(err, context.Canceled) && out.Code == chat.CodeInternal {
		out.Code, out.Message = chat.CodeCancelled, "Interrupted."
	}
	out.Op = cmp.Or(out.Op, "cli."+c.verbName)
	out.Message, out.Hint = c.redact(out.Message), c.redact(out.Hint)
	return out
}

func (c *call) redact(s string) string {
	if c.app.Redact == nil {
		return s
	}
	return c.app.Redact(s)
}

// closedPipe reports that the reader of the output has gone away, so that nothing needs to be printed.
func closedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed)
}

func outputError(err error) error {
	code := chat.CodeInternal
	if errors.Is(err, syscall.ENOSPC) {
		code = chat.CodeNoSpace
	}
	return chat.WrapError(code, "cli.output", err, "The output could not be written: %s.", err).
		WithHint("everything was done and stored nevertheless")
}
