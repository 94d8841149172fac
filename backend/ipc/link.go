package ipc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	// maxCalls limits how many calls of the other end run at once.
	maxCalls = 64
	// bufferedInput is the buffer size for frames, in bytes.
	bufferedInput = 32 << 10
)

// ErrEnded means that the link has ended. A call in progress may or may not have been completed.
var ErrEnded = errors.New("the link to the program has ended")

// RemoteError is the error of a call, as the other end encoded it.
type RemoteError struct{ Data json.RawMessage }

func (e *RemoteError) Error() string { return string(e.Data) }

// Handler handles the calls and events of the other end.
type Handler struct {
	Call func(method string, args json.RawMessage) (any, error)
	// EncodeError returns the data for the RemoteError of the other end. It must be encodable as JSON.
	EncodeError func(error) any
	// Event handles an event. Until it returns, nothing more is read.
	Event func(name string, data json.RawMessage)
}

// Link is one end of a connection after the handshake. Both ends can call the other and send it events.
type Link struct {
	handler Handler
	conn    net.Conn
	limits  limits
	send    chan []byte
	slots   chan struct{}
	done    chan struct{}
	end     sync.Once

	mu      sync.Mutex
	waiting map[uint64]chan frame
	next    uint64
}

// NewLink returns the server's end of a window's connection. Run starts it.
func NewLink(conn net.Conn, h Handler) *Link { return newLink(conn, windowLimits, h) }

func newLink(conn net.Conn, limits limits, h Handler) *Link {
	return &Link{
		handler: h,
		conn:    conn,
		limits:  limits,
		send:    make(chan []byte, limits.queue),
		slots:   make(chan struct{}, maxCalls),
		done:    make(chan struct{}),
		waiting: map[uint64]chan frame{},
	}
}

// Run handles the frames of the other end until the link ends, and returns why it ended.
func (l *Link) Run() error {
	writeErr := make(chan error, 1)
	go func() {
		writeErr <- l.write()
		l.End()
	}()
	err := l.read()
	l.End()
	if failed := <-writeErr; failed != nil {
		return failed
	}
	return err
}

// End ends the link and closes its connection. Calling it twice is harmless.
func (l *Link) End() {
	l.end.Do(func() {
		close(l.done)
		_ = l.conn.Close()
	})
}

// Ended is closed when the link has ended.
func (l *Link) Ended() <-chan struct{} { return l.done }

// Call calls a method of the other end, and decodes its result into result unless that is nil.
//
// Errors: *RemoteError; ErrEnded; the error of ctx.
func (l *Link) Call(ctx context.Context, method string, args, result any) error {
	answer := make(chan frame, 1)
	l.mu.Lock()
	l.next++
	id := l.next
	l.waiting[id] = answer
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.waiting, id)
		l.mu.Unlock()
	}()
	if err := l.enqueue(ctx, kindCall, id, method, args); err != nil {
		return err
	}
	select {
	case f := <-answer:
		if f.Kind == kindFailed {
			return &RemoteError{f.Data}
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(f.Data, result)
	case <-l.done:
		return ErrEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Notify sends an event. It never blocks: if the other end is too far behind, the link ends.
func (l *Link) Notify(name string, data any) {
	encoded, err := newFrame(kindEvent, 0, name, data, l.limits.frame)
	if err != nil {
		l.End() // it is over the limit: the program's own types can be encoded
		return
	}
	select {
	case l.send <- encoded:
	default:
		l.End()
	}
}

// enqueue adds a frame to the queue, and waits while the queue is full.
func (l *Link) enqueue(ctx context.Context, kind kind, id uint64, name string, data any) error {
	encoded, err := newFrame(kind, id, name, data, l.limits.frame)
	if err != nil {
		return err
	}
	select {
	case l.send <- encoded:
		return nil
	case <-l.done:
		return ErrEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Link) write() error {
	for {
		select {
		case <-l.done:
			return nil
		case data := <-l.send:
			if _, err := l.conn.Write(data); err != nil {
				return err
			}
		}
	}
}

func (l *Link) read() error {
	in := bufio.NewReaderSize(l.conn, bufferedInput)
	for {
		f, err := l.nextFrame(in)
		if err != nil {
			return err
		}
		switch f.Kind {
		case kindEvent:
			l.handler.Event(f.Name, f.Data)
		case kindDone, kindFailed:
			l.mu.Lock()
			answer := l.waiting[f.ID]
			delete(l.waiting, f.ID)
			l.mu.Unlock()
			if answer != nil {
				answer <- f
			}
		case kindCall:
			select {
			case l.slots <- struct{}{}:
			case <-l.done:
				return ErrEnded
			}
			go l.runCall(f)
		default:
			return fmt.Errorf("a frame of the kind %q", f.Kind)
		}
	}
}

// nextFrame reads a frame. Only the rest of a frame has a time limit, not the pause between two frames.
func (l *Link) nextFrame(in *bufio.Reader) (frame, error) {
	size, err := readSize(in, l.limits.frame)
	if err != nil {
		return frame{}, err
	}
	if l.limits.body > 0 {
		_ = l.conn.SetReadDeadline(time.Now().Add(l.limits.body))
		defer func() { _ = l.conn.SetReadDeadline(time.Time{}) }()
	}
	return readBody(in, size)
}

// runCall runs one call and sends its answer.
func (l *Link) runCall(f frame) {
	defer func() { <-l.slots }()
	ctx := context.Background() // an answer waits until the link ends: then nothing waits for it
	result, err := l.handler.Call(f.Name, f.Data)
	if err == nil {
		if err = l.enqueue(ctx, kindDone, f.ID, "", result); err == nil || errors.Is(err, ErrEnded) {
			return
		}
	}
	_ = l.enqueue(ctx, kindFailed, f.ID, "", l.handler.EncodeError(err))
}
