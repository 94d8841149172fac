// Package relay joins a window to the program that has its data: each end calls the other and tells it of events, over a
// stream of bytes that someone else has opened and authenticated (package handover).
//
// Guarantees:
//   - A frame is at most maxFrame bytes and is not believed before it comes; an end that sends more, or what is not a frame, ends
//     the link.
//   - Calls are carried out side by side, at most maxCalls at a time; more wait. Each is answered once: with a result, or with
//     an error in the words that the other end made of it.
//   - Events leave in order. An end that does not take them is not waited for: when maxEvents wait, the link ends, and whoever
//     opens it again starts from what is stored.
//   - When the link ends, every call that waits ends with ErrEnded.
//
// The protocol: frames of JSON behind their length in four bytes, big-endian.
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
	// maxFrame bounds a frame in bytes: a message with its pictures, a whole document.
	maxFrame = 64 << 20
	// maxCalls bounds how many calls of the other end are carried out at once.
	maxCalls = 64
	// maxEvents bounds how many frames wait to be sent.
	maxEvents = 4096
)

// ErrEnded means that the link has ended; a call that was under way may have been carried out.
var ErrEnded = errors.New("the link to the program has ended")

// Refused is the error of a call as the other end words it.
type Refused struct{ Words json.RawMessage }

func (e *Refused) Error() string { return string(e.Words) }

// Handler carries out what the other end calls. An error becomes the words of Refused.
type Handler struct {
	Call  func(method string, args json.RawMessage) (any, error)
	Words func(error) any
	// Event takes what the other end tells; it returns at once.
	Event func(name string, data json.RawMessage)
}

type frame struct {
	Kind string          `json:"kind"` // call, done, failed, event
	ID   uint64          `json:"id,omitempty"`
	Name string          `json:"name,omitempty"` // of a method or an event
	Data json.RawMessage `json:"data,omitempty"`
}

const (
	kindCall   = "call"
	kindDone   = "done"
	kindFailed = "failed"
	kindEvent  = "event"
)

// Link is one end.
type Link struct {
	handler Handler
	in      io.Reader
	out     io.Writer
	send    chan []byte
	slots   chan struct{}
	over    chan struct{}

	mu      sync.Mutex
	waiting map[uint64]chan frame
	next    uint64
	ended   bool
}

// New is an end of a link that reads from in and writes to out. Run makes it work.
func New(in io.Reader, out io.Writer, h Handler) *Link {
	return &Link{
		handler: h, in: in, out: out, send: make(chan []byte, maxEvents), slots: make(chan struct{}, maxCalls),
		over: make(chan struct{}), waiting: map[uint64]chan frame{},
	}
}

// Run carries out what the other end asks for until the link ends, and returns why. Closing in ends it.
func (l *Link) Run() error {
	defer l.End()
	wrote := make(chan error, 1)
	go func() { wrote <- l.write() }()
	read := make(chan error, 1)
	go func() { read <- l.read() }()
	select {
	case err := <-read:
		return err
	case err := <-wrote:
		return err
	}
}

// End ends the link; more than once is harmless.
func (l *Link) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended = true
	close(l.over)
}

// Ended is closed when the link has ended.
func (l *Link) Ended() <-chan struct{} { return l.over }

// Call has the other end carry out a method, and decodes its result into result unless that is nil.
//
// Errors: *Refused; ErrEnded; that of ctx.
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
	if err := l.put(ctx, frame{Kind: kindCall, ID: id, Name: method, Data: data}); err != nil {
		return err
	}
	select {
	case f := <-answer:
		if f.Kind == kindFailed {
			return &Refused{f.Data}
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(f.Data, result)
	case <-l.over:
		return ErrEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Tell sends an event. It does not wait: an end that lags too far behind is given up.
func (l *Link) Tell(name string, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		return // our own types: it does not fail
	}
	sent, err := encode(frame{Kind: kindEvent, Name: name, Data: raw})
	if err != nil {
		l.End()
		return
	}
	select {
	case l.send <- sent:
	default:
		l.End()
	}
}

// put waits until a frame can be sent.
func (l *Link) put(ctx context.Context, f frame) error {
	data, err := encode(f)
	if err != nil {
		return err
	}
	select {
	case l.send <- data:
		return nil
	case <-l.over:
		return ErrEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Link) write() error {
	for {
		select {
		case <-l.over:
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
			case <-l.over:
				return ErrEnded
			}
			go l.carryOut(f)
		default:
			return fmt.Errorf("a frame of the kind %q", f.Kind)
		}
	}
}

// carryOut answers one call.
func (l *Link) carryOut(f frame) {
	defer func() { <-l.slots }()
	answer := frame{Kind: kindDone, ID: f.ID}
	result, err := l.handler.Call(f.Name, f.Data)
	if err == nil {
		answer.Data, err = json.Marshal(result)
	}
	if err == nil && len(answer.Data) > maxFrame/2 {
		err = fmt.Errorf("the result of %d bytes is too large to be passed on", len(answer.Data))
	}
	if err != nil {
		answer.Kind = kindFailed
		answer.Data, _ = json.Marshal(l.handler.Words(err)) // a text
	}
	_ = l.put(context.Background(), answer) // the link has ended: nobody waits
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
