package mcpclient

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/tools"
)

// permanentError is an error that would recur at the next start.
type permanentError struct {
	said chat.Phrase
	err  error
}

func (e *permanentError) Error() string { return e.said.String() }
func (e *permanentError) Unwrap() error { return e.err }

// errForgotten means that a server did not process a call because it no longer knows the session.
var errForgotten = errors.New("the server no longer knows the session")

// errSignIn means that a server requires the user to sign in.
var errSignIn = errors.New("it wants you to sign in")

// notStarted returns the error of a call that never reached its tool.
func notStarted(server, format string, args ...any) error {
	return chat.WrapError(chat.CodeUnavailable, "mcp.call", tools.ErrNotStarted, "The server %s: %s", server, chat.Say(format, args...))
}

// maxErrorText limits how much of a server's own error is quoted, in bytes.
const maxErrorText = 400

// describeError describes a connection's error in a message without secrets.
func (s *server) describeError(err error) chat.Phrase {
	var permanent *permanentError
	var ended *endedError
	var dns *net.DNSError
	switch {
	case errors.As(err, &ended):
		return chat.Quote(s.redact(ended.message))
	case errors.As(err, &permanent):
		if text := permanent.Error(); s.redact(text) != text {
			return chat.Quote(s.redact(text))
		}
		return permanent.said
	case errors.Is(err, errSignIn):
		return chat.Say("It wants you to sign in.")
	case errors.Is(err, errFrame):
		return chat.Say("It sent a message of more than %d MiB, so the connection was closed.", s.m.limits.Frame>>20)
	case errors.Is(err, errFlood), errors.Is(err, errStuck):
		return chat.Say("The connection was closed: %s.", plainError(err))
	case errors.Is(err, errRedirect), errors.Is(err, errRedirects), errors.Is(err, errInternal):
		return chat.Quote(sentence(plainError(err)))
	case errors.Is(err, context.DeadlineExceeded):
		return chat.Say("It did not answer in time.")
	case errors.As(err, &dns):
		return chat.Say("Its address was not found.")
	case isDial(err):
		return chat.Say("No server responds at its address.")
	case errors.Is(err, mcp.ErrSessionMissing):
		return chat.Say("It no longer knows this connection.")
	case err == nil:
		return chat.Say("The connection ended.")
	}
	text := strings.TrimSpace(err.Error())
	if text == "EOF" || strings.HasSuffix(text, ": EOF") || errors.Is(err, mcp.ErrConnectionClosed) {
		return chat.Say("The connection ended.")
	}
	return chat.Say("It failed: %s.", display.Shorten(clean(s.redact(text)), maxErrorText))
}

// plainError returns the text of this package's error that err wraps, or of err if there is none.
func plainError(err error) string {
	for _, own := range []error{errRedirect, errRedirects, errInternal, errFlood, errStuck} {
		if errors.Is(err, own) {
			return own.Error()
		}
	}
	return err.Error()
}

func sentence(text string) string { return display.Capitalized(text) + "." }

// isDial reports whether no connection was established.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// Codes of JSON-RPC errors.
const (
	// The SDK uses these only for its own errors: a server does not respond with them.
	codeClientClosing = -32003
	codeServerClosing = -32004
	codeRejected      = -32005
	// The SDK uses these too, but a server may respond with them, see mayBeLocal.
	codeParse   = -32700
	codeInvalid = -32600
	// codeOpenPage is of a server whose user has to visit a page first.
	codeOpenPage = -32042
)

// serverError finds the server's error response in an error. If there is one, the outcome of the call is known.
func serverError(err error) (*jsonrpc.Error, bool) {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		return nil, false
	}
	switch wire.Code {
	case codeClientClosing, codeServerClosing, codeRejected:
		return nil, false
	}
	return wire, true
}

// mayBeLocal reports whether an error may be from the SDK, which returns it from all calls of a connection that ends
// because of an unreadable message: those calls may have run.
func mayBeLocal(wire *jsonrpc.Error) bool {
	return wire.Code == codeParse || wire.Code == codeInvalid
}
