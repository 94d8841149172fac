package handover

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

// ErrNobody means that no process listens at an address, or no longer. The call was not started.
var ErrNobody = errors.New("nobody listens")

const (
	// answerTime is how long the server may take to accept or refuse a call.
	answerTime = 10 * time.Second
	// partingTime is how long a command may take to end after it was terminated.
	partingTime = 10 * time.Second
	// patience is how many interrupts a client forwards. At the next one it exits.
	patience = 2
)

// Asker is the client's input, output and interrupts, which the server uses to run its call.
type Asker struct {
	In         io.Reader
	Out, Err   io.Writer
	Interrupts <-chan struct{} // each Ctrl-C
}

// Ask has the server at an address run a call, and returns its exit code. When ctx ends, the call is terminated in an
// orderly way.
//
// Errors: ErrNobody; the server's refusal; CodeTimeout (the server does not answer, and nothing was done);
// CodeUnavailable (the connection broke during the call); CodeCancelled (the user interrupted the client).
func Ask(ctx context.Context, address, version string, call Call, a Asker) (int, error) {
	c, err := (&net.Dialer{Timeout: answerTime}).DialContext(ctx, "unix", address)
	if err != nil {
		return 0, errors.Join(ErrNobody, err)
	}
	defer func() { _ = c.Close() }()
	if err := checkPeer(c); err != nil {
		return 0, chat.WrapError(chat.CodeInternal, "handover.ask", err, "The socket in the data directory belongs to another user; nothing was done.")
	}
	l := &line{Conn: c}
	if err := greet(l, version, call); err != nil {
		return 0, err
	}
	s := &asking{line: l, Asker: a, wants: make(chan int, 1), done: make(chan struct{})}
	defer close(s.done)
	go s.feed()
	go s.interrupt(ctx)
	return s.follow()
}

func greet(l *line, version string, call Call) error {
	const op = "handover.ask"
	data, err := appendFrame(nil, frame{Kind: kindHello, Hello: &hello{protocol, version, call}})
	if err != nil {
		return chat.WrapError(chat.CodeTooLarge, op, err, "The arguments are too large for the program that has this data open; nothing was done.").
			WithHint("pipe the text in, or close that program")
	}
	_ = l.SetDeadline(time.Now().Add(answerTime))
	// A server that refuses early may close before everything is written; its answer counts.
	_, writeErr := l.Write(data)
	f, err := readFrame(l)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return chat.WrapError(chat.CodeTimeout, op, err, "The program that has this data open does not answer; nothing was done.").
			WithHint("it may be busy or stopped: try again, or end it")
	case err != nil:
		return errors.Join(ErrNobody, writeErr, err)
	case f.Kind == kindRefused && f.Refusal != nil:
		return f.Refusal.error()
	case f.Kind != kindWelcome:
		return chat.Errorf(chat.CodeConflict, op, "The program that has this data open is a different version; nothing was done.").
			WithHint("close other versions of the program")
	}
	return l.SetDeadline(time.Time{})
}

// asking is a call that another process runs.
type asking struct {
	line *line
	Asker
	wants chan int
	done  chan struct{} // closed at the end

	mu  sync.Mutex
	why error // set if the client closed the connection itself
}

// follow shows the call's output until it ends.
func (s *asking) follow() (int, error) {
	for {
		f, err := readFrame(s.line)
		if err != nil {
			return 0, s.lost(err)
		}
		switch f.Kind {
		case kindOut:
			_, _ = s.Out.Write(f.Data)
		case kindErr:
			_, _ = s.Err.Write(f.Data)
		case kindWant:
			select {
			case s.wants <- f.Number:
			default: // requested again before it was answered: one answer is enough
			}
		case kindExit:
			return f.Number, nil
		}
	}
}

// leave closes the connection from the client's side and records the reason.
func (s *asking) leave(why error) {
	s.mu.Lock()
	s.why = cmp.Or(s.why, why)
	s.mu.Unlock()
	_ = s.line.Close()
}

func (s *asking) lost(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why != nil {
		return s.why
	}
	return chat.WrapError(chat.CodeUnavailable, "handover.ask", err,
		"The program that ran this ended before it reported the outcome. What it had confirmed is stored.").
		WithHint("check how far it got before trying again: contextinfinity sessions, contextinfinity show")
}

// feed answers the server's requests for input.
func (s *asking) feed() {
	for {
		select {
		case <-s.done:
			return
		case n := <-s.wants:
			if err := s.read(n); err != nil {
				s.leave(chat.WrapError(chat.CodeInvalid, "handover.ask", err, "The input could not be read; nothing more of it was sent."))
				return
			}
		}
	}
}

func (s *asking) read(n int) error {
	buf := make([]byte, max(1, min(n, maxPiece)))
	got, err := s.In.Read(buf)
	if got > 0 {
		_ = s.line.send(frame{Kind: kindIn, Data: buf[:got]}) // follow notices a broken connection
	}
	switch {
	case errors.Is(err, io.EOF):
		_ = s.line.send(frame{Kind: kindEnd})
	case err != nil:
		return err
	case got == 0:
		return io.ErrNoProgress
	}
	return nil
}

// interrupt forwards interrupts and the end of ctx.
func (s *asking) interrupt(ctx context.Context) {
	passed := 0
	for {
		select {
		case <-s.done:
			return
		case <-s.Interrupts:
			if passed == patience {
				s.leave(left())
				return
			}
			passed++
			_ = s.line.send(frame{Kind: kindSignal, Number: wireInterrupt})
		case <-ctx.Done():
			_ = s.line.send(frame{Kind: kindSignal, Number: wireTerminate})
			select {
			case <-s.done:
			case <-time.After(partingTime):
				s.leave(left())
			}
			return
		}
	}
}

func left() error {
	return chat.Errorf(chat.CodeCancelled, "handover.ask", "Interrupted.").
		WithHint("the program that is carrying this out continues; what it stores can be seen with contextinfinity show")
}
