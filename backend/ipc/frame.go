package ipc

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"contextinfinity/backend/chat"
)

// protocol is the version of the frames. The shape of hello and refused is the same from version 2 on, so that two
// versions can recognize each other.
const protocol = 2

// maxPiece is how much input or output is put into one frame, in bytes.
const maxPiece = 32 << 10

// limits are those of a connection.
type limits struct {
	frame int           // bytes
	queue int           // frames that wait to be sent
	body  time.Duration // how long the rest of a frame may take once it has begun; 0: any time
}

var (
	// helloLimits: a hello contains a command line in base64, and systems allow up to 2 MB for one.
	helloLimits = limits{frame: 4 << 20}
	// commandLimits hold for the pieces of input and output of a command.
	commandLimits = limits{frame: 64 << 10, queue: 4, body: 10 * time.Second}
	// windowLimits: a frame may contain a message with its pictures, or a whole document.
	windowLimits = limits{frame: 64 << 20, queue: 4096}
)

// kind is the type of a frame.
type kind string

const (
	kindHello   kind = "hello"
	kindWelcome kind = "welcome"
	kindRefused kind = "refused"
	kindCall    kind = "call"
	kindDone    kind = "done"
	kindFailed  kind = "failed"
	kindEvent   kind = "event"
)

// frame is one message in either direction.
type frame struct {
	Kind kind            `json:"kind"`
	ID   uint64          `json:"id,omitempty"`   // of a call and its answer
	Name string          `json:"name,omitempty"` // of a method or an event
	Data json.RawMessage `json:"data,omitempty"` // a hello, a refusal, arguments, a result, an error, or an event's data
}

// hello is the first frame of a client.
type hello struct {
	Protocol int     `json:"protocol"`
	Version  string  `json:"version"`
	Request  Request `json:"call"`
}

// refusal is an error of the server, for the client to report.
type refusal struct {
	Code    chat.Code `json:"code"`
	Op      string    `json:"op"`
	Message string    `json:"message"`
	Hint    string    `json:"hint"`
}

func refusalOf(err error) refusal {
	e := chat.AsError(err)
	r := refusal{e.Code, e.Op, e.Message, e.Hint}
	if r.Message == "" {
		r.Message = e.Error()
	}
	return r
}

func (r refusal) error() error {
	e := chat.Errorf(r.Code, r.Op, "%s", r.Message)
	if r.Hint != "" {
		e = e.WithHint("%s", r.Hint)
	}
	return e
}

// newFrame encodes a frame with its length.
func newFrame(kind kind, id uint64, name string, data any, limit int) ([]byte, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(frame{Kind: kind, ID: id, Name: name, Data: raw})
	if err == nil && len(body) > limit {
		err = fmt.Errorf("a frame of %d bytes is over the limit of %d", len(body), limit)
	}
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, len(body)+4), uint32(len(body))), body...), nil
}

// readFrame reads one frame. io.EOF means that the other end closed the connection between two frames.
func readFrame(r io.Reader, limit int) (frame, error) {
	size, err := readSize(r, limit)
	if err != nil {
		return frame{}, err
	}
	return readBody(r, size)
}

// readSize reads the length of a frame.
func readSize(r io.Reader, limit int) (int, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if int64(size) > int64(limit) {
		return 0, fmt.Errorf("a frame of %d bytes is over the limit of %d", size, limit)
	}
	return int(size), nil
}

func readBody(r io.Reader, size int) (f frame, err error) {
	// The announced size is not trusted: memory is allocated as the bytes arrive.
	var body bytes.Buffer
	if _, err := io.CopyN(&body, r, int64(size)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return f, err
	}
	if err := json.Unmarshal(body.Bytes(), &f); err != nil {
		return frame{}, fmt.Errorf("an invalid frame: %w", err)
	}
	return f, nil
}
