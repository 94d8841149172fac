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

// exitError is an error with an exit code of its own: wrong usage, where nothing was opened or changed; problems that a
// verb found although it succeeded (verify, backups --check, import); or an answer that continues after the user has
// decided about its tool calls.
type exitError struct {
	cause *chat.Error
	code  int
}

func (e exitError) Error() string { return e.cause.Error() }
func (e exitError) Unwrap() error { return e.cause }

func problemsError(e *chat.Error) error { return exitError{e, exitProblems} }
func waitsError(e *chat.Error) error    { return exitError{e, exitWaits} }

func usagef(format string, args ...any) error {
	return exitError{chat.Errorf(chat.CodeInvalid, "cli.usage", format, args...), exitUsage}
}

func usageHint(hint, format string, args ...any) error {
	return exitError{chat.Errorf(chat.CodeInvalid, "cli.usage", format, args...).WithHint("%s", hint), exitUsage}
}

// errQuit is the second Ctrl-C: the program exits without closing anything.
var errQuit = chat.Errorf(chat.CodeCancelled, "cli.quit", "Interrupted.").
	WithHint("the partial answer is in the stream journal and is recovered at the next start")

func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[exitError](err); ok {
		return e.code
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
