package chat

import (
	"errors"
	"io/fs"
	"syscall"
)

// Code classifies an error for programs: it is stable, part of the command
// line's JSON and of the window's contract.
type Code string

const (
	CodeInvalid     Code = "invalid"       // the request itself is wrong
	CodeNotFound    Code = "not_found"     // no such record
	CodeConflict    Code = "conflict"      // lost a compare-and-swap, or the record's phase does not allow it
	CodeBusy        Code = "busy"          // a turn is already running on this branch
	CodeIncomplete  Code = "incomplete"    // an incomplete turn blocks its branch until the user decides
	CodeOverBudget  Code = "over_budget"   // the context cannot be reduced to its budget
	CodeAuth        Code = "auth"          // no key, or the provider refused it
	CodeRateLimited Code = "rate_limited"  // 429
	CodeProvider    Code = "provider"      // the provider returned an error
	CodeUnavailable Code = "unavailable"   // connection refused, 5xx, dropped
	CodeTimeout     Code = "timeout"       // no data for too long
	CodeCancelled   Code = "cancelled"     // stopped by the user
	CodeTooLarge    Code = "too_large"     // the provider rejected the request for its size
	CodeTooLong     Code = "too_long"      // an answer over stream.max_answer_bytes or _tokens; the partial answer is kept
	CodeToolCall    Code = "tool_call"     // a tool call arrived while tools are disabled
	CodeLocked      Code = "locked"        // another process is the writer
	CodeNewer       Code = "newer_version" // the data was written by a newer program
	CodeSealed      Code = "sealed"        // it is encrypted, and its passphrase is missing or wrong
	CodeCorrupt     Code = "corrupt"       // a record does not match its hash or is unreadable
	CodeNoSpace     Code = "no_space"      // the disk is full
	CodeConfig      Code = "config"        // the configuration has an error
	CodeInternal    Code = "internal"      // a bug in this program
)

// Error is the only error type shown to people: a code, the operation, what happened, and what to do about it. Its
// text never contains a key or a prompt. Message and Hint are English; Said and Advised are the same with their values
// apart, for other languages.
type Error struct {
	Code    Code
	Op      string // verb and object: "turn.accept"
	Message string // what happened and what is safe
	Hint    string // what to do; may be empty
	Err     error  // the cause, for the log

	said, advised Phrase
}

func (e *Error) Error() string { return e.Phrase().String() }

func (e *Error) Unwrap() error { return e.Err }

// Phrase returns the message, or the cause's if there is none, and the hint in brackets.
func (e *Error) Phrase() Phrase {
	said := e.Said()
	if e.Hint == "" {
		return said
	}
	return Say("%s (%s)", said, e.Advised())
}

// Said returns the message with its values, or the cause's text if there is none.
func (e *Error) Said() Phrase {
	if e.Message == "" && e.Err != nil {
		return Quote(e.Err.Error())
	}
	return e.said.As(e.Message)
}

// Advised returns the hint with its values.
func (e *Error) Advised() Phrase { return e.advised.As(e.Hint) }

// Errorf creates an Error without a cause.
func Errorf(code Code, op, format string, args ...any) *Error {
	return NewError(code, op, Say(format, args...), Phrase{})
}

// WrapError gives err a code, an operation and a message, and keeps it as the cause.
func WrapError(code Code, op string, err error, format string, args ...any) *Error {
	e := Errorf(code, op, format, args...)
	e.Err = err
	return e
}

// WithHint returns the error with advice added.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.advised = Say(format, args...)
	e.Hint = e.advised.String()
	return e
}

// NewError creates an Error from texts that exist already.
func NewError(code Code, op string, said, advised Phrase) *Error {
	return &Error{Code: code, Op: op, Message: said.String(), Hint: advised.String(), said: said, advised: advised}
}

// CodeOf returns the code of the first Error in err's chain: CodeInternal if there
// is none, and empty for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// IsUnwritable reports whether err says that a place is not writable: the disk is full or read-only, or the user may
// not write there. What is there can still be read.
func IsUnwritable(err error) bool {
	return CodeOf(err) == CodeNoSpace || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)
}

// AsError returns the first Error in err's chain, or err as an internal one.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: CodeInternal, Message: err.Error(), Err: err}
}
