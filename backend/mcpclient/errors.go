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

// permanentError is one that the same start would end in again: words are for people.
type permanentError struct {
	words string
	err   error
}

func (e *permanentError) Error() string { return e.words }
func (e *permanentError) Unwrap() error { return e.err }

// errSignIn is of a server that wants a person to sign in.
var errSignIn = errors.New("it wants you to sign in")

// notStarted is a call that never reached its tool.
func notStarted(server, format string, args ...any) error {
	return chat.WrapError(chat.CodeUnavailable, "mcp.call", tools.ErrNotStarted, fmt.Sprintf("The server %s: ", server)+fmt.Sprintf(format, args...))
}

// longestWords bounds what of a server's own error is repeated.
const longestWords = 400

// words are an error of a connection for people, without secrets.
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

// plainError is the one of ours that is wrapped in err.
func plainError(err error) string {
	for _, own := range []error{errRedirect, errInside, errFlood, errStuck} {
		if errors.Is(err, own) {
			return own.Error()
		}
	}
	return err.Error()
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// isDial reports that no connection was made at all.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// Codes that the SDK uses for what happened on this side; a server does not answer with them.
const (
	codeClientClosing = -32003
	codeServerClosing = -32004
	codeRejected      = -32005
	codeParse         = -32700
	codeInvalid       = -32600
	// codeOpenPage is a server's way of saying that a page has to be visited first.
	codeOpenPage = -32042
)

// answered finds the server's own error answer in an error: then it did answer, and its outcome is
// known.
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

// mayBeOurs reports an error answer that the SDK also gives to every call of a connection that ends
// over a message which it cannot read: the calls may have run.
func mayBeOurs(wire *jsonrpc.Error) bool {
	return wire.Code == codeParse || wire.Code == codeInvalid
}
