package ipc

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
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
	// maxInterrupts limits how many interrupts a client forwards. At the next one it exits.
	maxInterrupts = 2
)

// ClientIO is the client's input, output and interrupts, which the server uses to run its request.
type ClientIO struct {
	In         io.Reader
	Out, Err   io.Writer
	Interrupts <-chan struct{} // each Ctrl-C
}

// Send sends a request to the server at an address, which runs it, and returns its exit code. When ctx ends, the request gets
// a termination signal.
//
// Errors: ErrNoServer; the server's refusal; CodeTimeout (the server does not answer, and nothing was done);
// CodeUnavailable (the connection broke during the request); CodeCancelled (the user interrupted the client).
func Send(ctx context.Context, address, version string, request Request, a ClientIO) (int, error) {
	c, err := (&net.Dialer{Timeout: acceptTimeout}).DialContext(ctx, "unix", address)
	if err != nil {
		return 0, errors.Join(ErrNoServer, err)
	}
	defer func() { _ = c.Close() }()
	if err := checkPeer(c); err != nil {
		return 0, chat.WrapError(chat.CodeInternal, "ipc.ask", err, "The socket in the data directory belongs to another user; nothing was done.")
	}
	l := &frameConn{Conn: c}
	if err := handshake(l, version, request); err != nil {
		return 0, err
	}
	s := &clientRequest{conn: l, ClientIO: a, inputRequests: make(chan int, 1), done: make(chan struct{})}
	defer close(s.done)
	go s.sendInput()
	go s.forwardSignals(ctx)
	return s.receive()
}

func handshake(l *frameConn, version string, request Request) error {
	const op = "ipc.ask"
	data, err := appendFrame(nil, frame{Kind: kindHello, Hello: &hello{protocol, version, request}})
	if err != nil {
		return chat.WrapError(chat.CodeTooLarge, op, err, "The arguments are too large for the program that has this data open; nothing was done.").
			WithHint("pipe the text in, or close that program")
	}
	_ = l.SetDeadline(time.Now().Add(acceptTimeout))
	// A server that refuses the request early may close the connection before everything is written, so its answer is read
	// even after a write error.
	_, writeErr := l.Write(data)
	f, err := readFrame(l)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return chat.WrapError(chat.CodeTimeout, op, err, "The program that has this data open does not answer; nothing was done.").
			WithHint("it may be busy or stopped: try again, or end it")
	case err != nil:
		return errors.Join(ErrNoServer, writeErr, err)
	case f.Kind == kindRefused && f.Refusal != nil:
		return f.Refusal.error()
	case f.Kind != kindWelcome:
		return chat.Errorf(chat.CodeConflict, op, "The program that has this data open is a different version; nothing was done.").
			WithHint("close other versions of the program")
	}
	return l.SetDeadline(time.Time{})
}

// clientRequest is the client's end of a request that another process runs.
type clientRequest struct {
	conn *frameConn
	ClientIO
	inputRequests chan int
	done          chan struct{} // closed at the end

	mu     sync.Mutex
	reason error // set if the client closed the connection itself
}

// receive handles the server's frames and copies the request's output until the request ends.
func (s *clientRequest) receive() (int, error) {
	for {
		f, err := readFrame(s.conn)
		if err != nil {
			return 0, s.connectionError(err)
		}
		switch f.Kind {
		case kindOut:
			_, _ = s.Out.Write(f.Data)
		case kindErr:
			_, _ = s.Err.Write(f.Data)
		case kindWant:
			select {
			case s.inputRequests <- f.Number:
			default: // requested again before it was answered: one answer is enough
			}
		case kindExit:
			return f.Number, nil
		}
	}
}

// disconnect closes the connection from the client's side, and records the first reason.
func (s *clientRequest) disconnect(reason error) {
	s.mu.Lock()
	s.reason = cmp.Or(s.reason, reason)
	s.mu.Unlock()
	_ = s.conn.Close()
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

// sendInput answers the server's requests for input.
func (s *clientRequest) sendInput() {
	for {
		select {
		case <-s.done:
			return
		case n := <-s.inputRequests:
			if err := s.sendPiece(n); err != nil {
				s.disconnect(chat.WrapError(chat.CodeInvalid, "ipc.ask", err, "The input could not be read; nothing more of it was sent."))
				return
			}
		}
	}
}

func (s *clientRequest) sendPiece(n int) error {
	buf := make([]byte, max(1, min(n, maxPiece)))
	size, err := s.In.Read(buf)
	if size > 0 {
		_ = s.conn.send(frame{Kind: kindIn, Data: buf[:size]}) // receive notices a broken connection
	}
	switch {
	case errors.Is(err, io.EOF):
		_ = s.conn.send(frame{Kind: kindEnd})
	case err != nil:
		return err
	case size == 0:
		return io.ErrNoProgress
	}
	return nil
}

// forwardSignals forwards interrupts, and sends a termination signal when ctx ends.
func (s *clientRequest) forwardSignals(ctx context.Context) {
	forwarded := 0
	for {
		select {
		case <-s.done:
			return
		case <-s.Interrupts:
			if forwarded == maxInterrupts {
				s.disconnect(errInterrupted())
				return
			}
			forwarded++
			_ = s.conn.send(frame{Kind: kindSignal, Number: wireInterrupt})
		case <-ctx.Done():
			_ = s.conn.send(frame{Kind: kindSignal, Number: wireTerminate})
			select {
			case <-s.done:
			case <-time.After(exitTimeout):
				s.disconnect(errInterrupted())
			}
			return
		}
	}
}

func errInterrupted() error {
	return chat.Errorf(chat.CodeCancelled, "ipc.ask", "Interrupted.").
		WithHint("the operation continues in the other process; contextinfinity show displays the result")
}
