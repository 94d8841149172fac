package ipc

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"contextinfinity/backend/chat"
)

// protocol is the version of the frames. The shape of hello and refused is the same in every version, so that two
// versions can recognize each other.
const protocol = 1

const (
	// maxFrame limits a frame, in bytes. A hello contains a command line in base64, and systems allow up to 2 MB for
	// one.
	maxFrame = 4 << 20
	// smallFrame limits, in bytes, the frames that are read without waiting for a slot: pieces of input, and all but
	// unusually long command lines.
	smallFrame = 64 << 10
	// maxPiece is how much input or output is put into one frame, in bytes.
	maxPiece = 32 << 10
)

// kind is the type of a frame.
type kind string

const (
	kindHello   kind = "hello"
	kindWelcome kind = "welcome"
	kindRefused kind = "refused"
	kindWant    kind = "want"
	kindIn      kind = "in"
	kindEnd     kind = "end"
	kindSignal  kind = "signal"
	kindOut     kind = "out"
	kindErr     kind = "err"
	kindExit    kind = "exit"
)

// frame is one message in either direction; each kind uses the fields it needs.
type frame struct {
	Kind    kind     `json:"kind"`
	Hello   *hello   `json:"hello,omitempty"`
	Refusal *refusal `json:"refusal,omitempty"`
	Data    []byte   `json:"data,omitempty"`   // in, out, err
	Number  int      `json:"number,omitempty"` // want: bytes; exit: code; signal: which
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

func refuse(err error) frame {
	e := chat.AsError(err)
	r := refusal{e.Code, e.Op, e.Message, e.Hint}
	if r.Message == "" {
		r.Message = e.Error()
	}
	return frame{Kind: kindRefused, Refusal: &r}
}

func (r *refusal) error() error {
	e := chat.Errorf(r.Code, r.Op, "%s", r.Message)
	if r.Hint != "" {
		e = e.WithHint("%s", r.Hint)
	}
	return e
}

// readFrame reads one frame. io.EOF means that the other end closed the connection between two frames.
func readFrame(r io.Reader) (frame, error) {
	size, err := readSize(r)
	if err != nil {
		return frame{}, err
	}
	return readBody(r, size)
}

// readSize reads the length of a frame.
func readSize(r io.Reader) (uint32, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxFrame {
		return 0, fmt.Errorf("a frame of %d bytes is over the limit of %d", size, maxFrame)
	}
	return size, nil
}

func readBody(r io.Reader, size uint32) (frame, error) {
	var f frame
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

// appendFrame appends the length and the encoding of f to dst.
func appendFrame(dst []byte, f frame) ([]byte, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return dst, err
	}
	if len(body) > maxFrame {
		return dst, fmt.Errorf("a frame of %d bytes is over the limit of %d", len(body), maxFrame)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(body)))
	return append(dst, body...), nil
}

// frameConn is a connection on which several goroutines can send frames.
type frameConn struct {
	net.Conn
	mu sync.Mutex
}

func (l *frameConn) send(f frame) error {
	data, err := appendFrame(nil, f)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.Write(data)
	return err
}

// frameWriter is a writer that sends its bytes as frames.
type frameWriter struct {
	conn *frameConn
	kind kind
}

func (p frameWriter) Write(data []byte) (int, error) {
	written := 0
	for written < len(data) {
		n := min(maxPiece, len(data)-written)
		if err := p.conn.send(frame{Kind: p.kind, Data: data[written : written+n]}); err != nil {
			return written, err
		}
		written += n
	}
	return written, nil
}
