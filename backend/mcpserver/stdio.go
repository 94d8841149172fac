package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
)

// maxMessage bounds a message of a program, in bytes: a note in JSON comes nowhere near it.
const maxMessage = 1 << 20

// Stdio serves the program at the other end of in and out, until it closes in or ctx ends.
func Stdio(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	if err := chat.CheckClientName(o.Client); err != nil {
		return err
	}
	w := &lineWriter{out: out}
	r := &messages{in: bufio.NewReaderSize(in, 64<<10), refuse: w.refuse}
	err := newServer(o).Run(ctx, &mcp.IOTransport{Reader: r, Writer: w, MaxLineLength: maxMessage + 1024})
	if ctx.Err() != nil { // it was told to end
		return nil
	}
	return err
}

// Codes of JSON-RPC for what cannot be answered otherwise.
const (
	codeParse   = -32700
	codeInvalid = -32600
)

// messages reads the lines that are messages of the protocol. Any other is answered as JSON-RPC
// wants it, and the connection continues: to the SDK it would be the end.
type messages struct {
	in     *bufio.Reader
	refuse func(code int, words string)
	rest   []byte // of a message, still to be read
}

func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		line, over, err := readLine(m.in)
		switch line = bytes.TrimSpace(line); {
		case over:
			m.refuse(codeInvalid, fmt.Sprintf("The message is larger than %d bytes.", maxMessage))
		case len(line) == 0, err != nil && !json.Valid(line): // its end came in the middle of a line
		case !json.Valid(line):
			m.refuse(codeParse, "The line is not JSON.")
		default:
			if _, derr := jsonrpc.DecodeMessage(line); derr != nil {
				m.refuse(codeInvalid, "The line is not a message of JSON-RPC 2.0.")
			} else {
				m.rest = append(line, '\n')
			}
		}
		if len(m.rest) == 0 && err != nil {
			return 0, err
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// Close leaves the input to whoever gave it.
func (m *messages) Close() error { return nil }

// readLine reads a line. Of one that is too long no more than its end is looked for.
func readLine(r *bufio.Reader) (line []byte, over bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if over = over || len(line)+len(part) > maxMessage+1; over {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, over, err
		}
	}
}

// lineWriter writes whole lines, of the protocol and of what is refused.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// refuse answers what has no id that could be read.
func (w *lineWriter) refuse(code int, words string) {
	answer, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": words}})
	_, _ = w.Write(append(answer, '\n')) // a reader that is gone is noticed by the next answer
}

// Close leaves the output to whoever gave it.
func (w *lineWriter) Close() error { return nil }
