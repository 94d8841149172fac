package ipc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"contextinfinity/backend/chat"
)

// ErrNoServer means that no process listens at an address, or that it stopped listening. The request was not started.
var ErrNoServer = errors.New("no process is listening")

const (
	// acceptTimeout is how long the server may take to accept or refuse a request.
	acceptTimeout = 10 * time.Second
	// exitTimeout is how long a command may take to end after the termination signal.
	exitTimeout = 10 * time.Second
	// aliveEvery is how often a client checks that the server still answers, which may take aliveTimeout.
	aliveEvery   = 10 * time.Second
	aliveTimeout = 20 * time.Second
	// maxInterrupts limits how many interrupts a client forwards. At the next one it exits.
	maxInterrupts = 2
)

// ClientIO is the client's input, output and interrupts, which the server uses to run its request.
type ClientIO struct {
	In         io.Reader
	Out, Err   io.Writer
	Interrupts <-chan struct{} // each Ctrl-C
	// Server is the process at the address, for messages; 0: unknown.
	Server int
}

// named returns the name of the server in messages, as their beginning.
func (a ClientIO) named() string {
	if a.Server == 0 {
		return "The program that has this data open"
	}
	return fmt.Sprintf("The program that has this data open (pid %d)", a.Server)
}

// Join returns the link of a new window to the server at an address. Run starts it.
//
// Errors: ErrNoServer; the server's refusal; CodeTimeout (the server does not answer, and nothing was done).
func Join(ctx context.Context, address, version string, request Request, h Handler) (*Link, error) {
	c, err := dial(ctx, address, version, request)
	if err != nil {
		return nil, err
	}
	return newLink(c, windowLimits, h), nil
}

// Send sends a request to the server at an address, which runs it, and returns its exit code. When ctx ends, the request
// gets a termination signal.
//
// Errors: those of Join; CodeUnavailable (the connection broke during the request); CodeCancelled (the user interrupted
// the client).
func Send(ctx context.Context, address, version string, request Request, a ClientIO) (int, error) {
	c, err := dial(ctx, address, version, request)
	if chat.CodeOf(err) == chat.CodeTimeout {
		err = chat.WrapError(chat.CodeTimeout, "ipc.ask", err, "%s does not answer; nothing was done.", a.named()).
			WithHint("it may be busy or stopped: try again, let it continue, or end it")
	}
	if err != nil {
		return 0, err
	}
	s := &clientRequest{ClientIO: a, exit: make(chan int, 1)}
	s.link = newLink(c, commandLimits, Handler{
		Call:        s.readInput,
		EncodeError: func(err error) any { return err.Error() },
		Event:       s.event,
	})
	go s.forwardSignals(ctx)
	go s.checkAlive(aliveEvery, aliveTimeout)
	broken := s.link.Run()
	select {
	case code := <-s.exit:
		return code, nil
	default:
		return 0, s.connectionError(broken)
	}
}

// dial connects to the server and has it accept a request.
func dial(ctx context.Context, address, version string, request Request) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: acceptTimeout}).DialContext(ctx, "unix", address)
	if err != nil {
		return nil, errors.Join(ErrNoServer, err)
	}
	if err = checkPeer(c); err != nil {
		err = chat.WrapError(chat.CodeInternal, "ipc.ask", err, "The socket in the data directory belongs to another user; nothing was done.")
	} else {
		err = handshake(c, version, request)
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func handshake(c net.Conn, version string, request Request) error {
	const op = "ipc.ask"
	data, err := newFrame(kindHello, 0, "", hello{protocol, version, request}, helloLimits.frame)
	if err != nil {
		return chat.WrapError(chat.CodeTooLarge, op, err, "The arguments are too large for the program that has this data open; nothing was done.").
			WithHint("pipe the text in, or close that program")
	}
	_ = c.SetDeadline(time.Now().Add(acceptTimeout))
	// A server that refuses the request early may close the connection before everything is written, so its answer is read
	// even after a write error.
	_, writeErr := c.Write(data)
	f, err := readFrame(c, commandLimits.frame)
	var r refusal
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return chat.WrapError(chat.CodeTimeout, op, err, "The program that has this data open does not answer; nothing was done.").
			WithHint("it may be busy or stopped: try again, or end it")
	case err != nil:
		return errors.Join(ErrNoServer, writeErr, err)
	case f.Kind == kindRefused && json.Unmarshal(f.Data, &r) == nil:
		return r.error()
	case f.Kind != kindWelcome:
		return chat.Errorf(chat.CodeConflict, op, "The program that has this data open is a different version; nothing was done.").
			WithHint("close other versions of the program")
	}
	return c.SetDeadline(time.Time{})
}

// clientRequest is the client's end of a command that another process runs.
type clientRequest struct {
	link *Link
	ClientIO
	exit chan int
	// events is odd while an event is handled, and grows with each: output may wait for the user, in a pager for example.
	events atomic.Int64

	mu     sync.Mutex
	reason error // set if the client ended the link itself
}

// event handles the command's output and its end.
func (s *clientRequest) event(name string, data json.RawMessage) {
	s.events.Add(1)
	defer s.events.Add(1)
	switch name {
	case eventOut:
		writePiece(s.Out, data)
	case eventErr:
		writePiece(s.Err, data)
	case eventExit:
		var code int
		if json.Unmarshal(data, &code) == nil {
			s.exit <- code
		}
		s.link.End()
	}
}

func writePiece(w io.Writer, data json.RawMessage) {
	var piece []byte
	if json.Unmarshal(data, &piece) == nil {
		_, _ = w.Write(piece)
	}
}

// disconnect ends the link from the client's side, and records the first reason.
func (s *clientRequest) disconnect(reason error) {
	s.mu.Lock()
	s.reason = cmp.Or(s.reason, reason)
	s.mu.Unlock()
	s.link.End()
}

// connectionError returns the reason for which the client disconnected, otherwise an error for a connection that the
// server closed.
func (s *clientRequest) connectionError(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason != nil {
		return s.reason
	}
	return chat.WrapError(chat.CodeUnavailable, "ipc.ask", err,
		"The program that ran this ended before it reported the outcome. Changes that it had confirmed are stored.").
		WithHint("check how far it got before trying again: contextinfinity sessions, contextinfinity show")
}

// readInput answers the server's request for at most a number of bytes of input; at its end, it returns none.
func (s *clientRequest) readInput(_ string, args json.RawMessage) (any, error) {
	var n int
	if err := json.Unmarshal(args, &n); err != nil {
		return nil, err
	}
	buf := make([]byte, max(1, min(n, maxPiece)))
	size, err := s.In.Read(buf)
	if size == 0 && err == nil {
		err = io.ErrNoProgress
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.disconnect(chat.WrapError(chat.CodeInvalid, "ipc.ask", err, "The input could not be read; nothing more of it was sent."))
		return nil, err
	}
	return buf[:size], nil
}

// forwardSignals forwards interrupts, and sends a termination signal when ctx ends.
func (s *clientRequest) forwardSignals(ctx context.Context) {
	forwarded := 0
	for {
		select {
		case <-s.link.Ended():
			return
		case <-s.Interrupts:
			if forwarded == maxInterrupts {
				s.disconnect(errInterrupted())
				return
			}
			forwarded++
			s.link.Notify(eventSignal, wireInterrupt)
		case <-ctx.Done():
			s.link.Notify(eventSignal, wireTerminate)
			select {
			case <-s.link.Ended():
			case <-time.After(exitTimeout):
				s.disconnect(errInterrupted())
			}
			return
		}
	}
}

// checkAlive disconnects when the server no longer answers, because its process was stopped for example. The error that
// there is no such method is an answer too.
func (s *clientRequest) checkAlive(every, limit time.Duration) {
	for {
		select {
		case <-s.link.Ended():
			return
		case <-time.After(every):
		}
		before := s.events.Load()
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		err := s.link.Call(ctx, "alive", nil, nil)
		cancel()
		if handled := s.events.Load(); errors.Is(err, context.DeadlineExceeded) && handled == before && handled%2 == 0 {
			s.disconnect(chat.WrapError(chat.CodeTimeout, "ipc.ask", err,
				"%s has not answered for %s. Changes that it had confirmed are stored.", s.named(), limit).
				WithHint("it may be stopped: let it continue, or end it; then check how far it got: contextinfinity sessions, contextinfinity show"))
			return
		}
	}
}

func errInterrupted() error {
	return chat.Errorf(chat.CodeCancelled, "ipc.ask", "Interrupted.").
		WithHint("the operation continues in the other process; contextinfinity show displays the result")
}
