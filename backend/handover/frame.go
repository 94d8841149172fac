package handover

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"

	"contextinfinity/backend/chat"
)

// protocol is the version of the frames. Hello and refused keep their shape in
// every version, so that two versions can tell each other apart.
const protocol = 1

const (
	// maxFrame bounds a frame in bytes. A hello holds a command line, of which
	// systems take 2 MB, as base64.
	maxFrame = 4 << 20
	// smallFrame bounds a frame that is read at any time, in bytes: a piece of input, or
	// the command line of all but those who put a document there.
	smallFrame = 64 << 10
	// maxPiece is how much input or output goes into one frame, in bytes.
	maxPiece = 32 << 10
)

// kind says what a frame is.
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

// frame is one message of either side; a kind uses the fields that it needs.
type frame struct {
	Kind    kind     `json:"kind"`
	Hello   *hello   `json:"hello,omitempty"`
	Refusal *refusal `json:"refusal,omitempty"`
	Data    []byte   `json:"data,omitempty"`   // in, out, err
	Number  int      `json:"number,omitempty"` // want: bytes; exit: code; signal: which
}

// hello is how a caller begins.
type hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
	Call     Call   `json:"call"`
}

// refusal is an error of the holder's, as the caller reports it.
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

// readFrame reads one frame. io.EOF means that the other end closed between two.
func readFrame(r io.Reader) (frame, error) {
	size, err := readSize(r)
	if err != nil {
		return frame{}, err
	}
	return readBody(r, size)
}

// readSize reads what a frame announces of itself.
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
	// What was announced is not believed before it comes.
	var body bytes.Buffer
	if _, err := io.CopyN(&body, r, int64(size)); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return f, err
	}
	if err := json.Unmarshal(body.Bytes(), &f); err != nil {
		return frame{}, fmt.Errorf("an invalid frame: %w", err)
	}
	return f, nil
}

// appendFrame encodes f behind its length.
func appendFrame(to []byte, f frame) ([]byte, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return to, err
	}
	if len(body) > maxFrame {
		return to, fmt.Errorf("a frame of %d bytes is over the limit of %d", len(body), maxFrame)
	}
	to = binary.BigEndian.AppendUint32(to, uint32(len(body)))
	return append(to, body...), nil
}

// line is a connection whose frames may be sent from several goroutines.
type line struct {
	net.Conn
	mu sync.Mutex
}

func (l *line) send(f frame) error {
	data, err := appendFrame(nil, f)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.Write(data)
	return err
}

// pieces is a writer whose bytes leave as frames.
type pieces struct {
	line *line
	kind kind
}

func (p pieces) Write(data []byte) (int, error) {
	written := 0
	for written < len(data) {
		n := min(maxPiece, len(data)-written)
		if err := p.line.send(frame{Kind: p.kind, Data: data[written : written+n]}); err != nil {
			return written, err
		}
		written += n
	}
	return written, nil
}
