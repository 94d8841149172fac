package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/tools"
)

// permanentError is an error that would recur at the next start; words is its message.
type permanentError struct {
	words string
	err   error
}

func (e *permanentError) Error() string { return e.words }
func (e *permanentError) Unwrap() error { return e.err }

// errSignIn means that a server requires the user to sign in.
var errSignIn = errors.New("it wants you to sign in")

// notStarted is the error of a call that never reached its tool.
func notStarted(server, format string, args ...any) error {
	return chat.WrapError(chat.CodeUnavailable, "mcp.call", tools.ErrNotStarted, fmt.Sprintf("The server %s: ", server)+fmt.Sprintf(format, args...))
}

// longestWords limits how much of a server's own error is quoted.
const longestWords = 400

// wordsOf is a connection's error as a message, without secrets.
func (s *server) wordsOf(err error) string {
	var permanent *permanentError
	var ended *endedError
	var dns *net.DNSError
	switch {
	case errors.As(err, &ended):
		return s.redact(ended.words)
	case errors.As(err, &permanent):
		return s.redact(permanent.words)
	case errors.Is(err, errSignIn):
		return "It wants you to sign in."
	case errors.Is(err, errFrame):
		return fmt.Sprintf("It sent a message of more than %d MiB, so the connection was ended.", s.m.limits.Frame>>20)
	case errors.Is(err, errFlood), errors.Is(err, errStuck):
		return "The connection was ended: " + plainError(err) + "."
	case errors.Is(err, errRedirect), errors.Is(err, errInside):
		return sentence(plainError(err))
	case errors.Is(err, context.DeadlineExceeded):
		return "It did not answer in time."
	case errors.As(err, &dns):
		return "Its address was not found."
	case isDial(err):
		return "Nothing answers at its address."
	case errors.Is(err, mcp.ErrSessionMissing):
		return "It no longer knows this connection."
	case err == nil:
		return "The connection ended."
	}
	text := strings.TrimSpace(err.Error())
	if text == "EOF" || strings.HasSuffix(text, ": EOF") || errors.Is(err, mcp.ErrConnectionClosed) {
		return "The connection ended."
	}
	return "It failed: " + strings.TrimRight(display.Shorten(clean(s.redact(text)), longestWords), ".") + "."
}

// plainError is our own error wrapped in err.
func plainError(err error) string {
	for _, own := range []error{errRedirect, errInside, errFlood, errStuck} {
		if errors.Is(err, own) {
			return own.Error()
		}
	}
	return err.Error()
}

func sentence(text string) string { return display.Capitalized(text) + "." }

// isDial reports that no connection was established.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// Codes that the SDK uses for local errors; a server does not respond with them.
const (
	codeClientClosing = -32003
	codeServerClosing = -32004
	codeRejected      = -32005
	codeParse         = -32700
	codeInvalid       = -32600
	// codeOpenPage means that a page has to be visited first.
	codeOpenPage = -32042
)

// answered finds a server's own error response in an error: then the server did respond, and the outcome is known.
func answered(err error) (*jsonrpc.Error, bool) {
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

// mayBeOurs reports an error response that the SDK also gives to all calls of a connection that ends because of an
// unreadable message: the calls may have run.
func mayBeOurs(wire *jsonrpc.Error) bool {
	return wire.Code == codeParse || wire.Code == codeInvalid
}
