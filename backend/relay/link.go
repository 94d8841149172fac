// Package relay connects a window to the process that has its data open. Both ends can call the other and send it
// events, over a stream of bytes that was opened and authenticated elsewhere (package ipc).
//
// Guarantees:
//   - A frame has at most maxFrame bytes, and its announced size is not trusted. A larger or invalid frame ends the
//     link.
//   - Calls run concurrently, at most maxCalls at a time; further calls wait. Each call gets one answer: a result or
//     an error, which the other end encodes.
//   - Events are sent in order. A slow receiver does not block the sender: when maxEvents frames are waiting, the
//     link ends. A new link starts from the stored state.
//   - When the link ends, every waiting call returns ErrEnded.
//
// The protocol: JSON frames, each after its length in four bytes, big-endian.
package relay

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// maxFrame limits a frame, in bytes. It may contain a message with its pictures, or a whole document.
	maxFrame = 64 << 20
	// maxCalls limits how many calls of the other end run at once.
	maxCalls = 64
	// maxEvents limits how many frames wait to be sent.
	maxEvents = 4096
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
	// Event handles an event. It must return at once.
	Event func(name string, data json.RawMessage)
}

type frame struct {
	Kind string          `json:"kind"` // call, done, failed, event
	ID   uint64          `json:"id,omitempty"`
	Name string          `json:"name,omitempty"` // name of the method or the event
	Data json.RawMessage `json:"data,omitempty"`
}

const (
	kindCall   = "call"
	kindDone   = "done"
	kindFailed = "failed"
	kindEvent  = "event"
)

// Link is one end of a link.
type Link struct {
	handler Handler
	in      io.Reader
	out     io.Writer
	send    chan []byte
	slots   chan struct{}
	done    chan struct{}

	mu      sync.Mutex
	waiting map[uint64]chan frame
	next    uint64
	ended   bool
}

// New returns one end of a link, which reads from in and writes to out after Run is called.
func New(in io.Reader, out io.Writer, h Handler) *Link {
	return &Link{
		handler: h, in: in, out: out, send: make(chan []byte, maxEvents), slots: make(chan struct{}, maxCalls),
		done: make(chan struct{}), waiting: map[uint64]chan frame{},
	}
}

// Run handles the frames of the other end until the link ends, and returns why it ended. Closing in ends it.
func (l *Link) Run() error {
	defer l.End()
	writeErr := make(chan error, 1)
	go func() { writeErr <- l.write() }()
	readErr := make(chan error, 1)
	go func() { readErr <- l.read() }()
	select {
	case err := <-readErr:
		return err
	case err := <-writeErr:
		return err
	}
}

// End ends the link. Calling it twice is harmless.
func (l *Link) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended = true
	close(l.done)
}

// Ended is closed when the link has ended.
func (l *Link) Ended() <-chan struct{} { return l.done }

// Call calls a method of the other end, and decodes its result into result unless that is nil.
//
// Errors: *RemoteError; ErrEnded; the error of ctx.
func (l *Link) Call(ctx context.Context, method string, args, result any) error {
	data, err := json.Marshal(args)
	if err != nil {
		return err
	}
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
	if err := l.enqueue(ctx, frame{Kind: kindCall, ID: id, Name: method, Data: data}); err != nil {
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
	raw, err := json.Marshal(data)
	if err != nil {
		return // does not happen with the program's own types
	}
	encoded, err := encode(frame{Kind: kindEvent, Name: name, Data: raw})
	if err != nil {
		l.End()
		return
	}
	select {
	case l.send <- encoded:
	default:
		l.End()
	}
}

// enqueue adds a frame to the queue, and waits while the queue is full.
func (l *Link) enqueue(ctx context.Context, f frame) error {
	data, err := encode(f)
	if err != nil {
		return err
	}
	select {
	case l.send <- data:
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
			return ErrEnded
		case data := <-l.send:
			if _, err := l.out.Write(data); err != nil {
				return err
			}
		}
	}
}

func (l *Link) read() error {
	for {
		f, err := decode(l.in)
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

// runCall runs one call and sends its answer.
func (l *Link) runCall(f frame) {
	defer func() { <-l.slots }()
	answer := frame{Kind: kindDone, ID: f.ID}
	result, err := l.handler.Call(f.Name, f.Data)
	if err == nil {
		answer.Data, err = json.Marshal(result)
	}
	if err == nil && len(answer.Data) > maxFrame/2 {
		err = fmt.Errorf("the result of %d bytes is too large to be sent", len(answer.Data))
	}
	if err != nil {
		answer.Kind = kindFailed
		answer.Data, _ = json.Marshal(l.handler.EncodeError(err)) // cannot fail: the data is encodable
	}
	_ = l.enqueue(context.Background(), answer) // fails only if the link has ended: then nothing waits for the answer
}

func encode(f frame) ([]byte, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if len(body) > maxFrame {
		return nil, fmt.Errorf("a frame of %d bytes is over the limit of %d", len(body), maxFrame)
	}
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, len(body)+4), uint32(len(body))), body...), nil
}

func decode(r io.Reader) (frame, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxFrame {
		return frame{}, fmt.Errorf("a frame of %d bytes is over the limit of %d", size, maxFrame)
	}
	var body bytes.Buffer
	if _, err := io.CopyN(&body, r, int64(size)); err != nil {
		return frame{}, err
	}
	var f frame
	if err := json.Unmarshal(body.Bytes(), &f); err != nil {
		return frame{}, fmt.Errorf("an invalid frame: %w", err)
	}
	return f, nil
}
