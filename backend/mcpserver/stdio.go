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

// maxMessage limits a message of a program, in bytes. Notes are far smaller.
const maxMessage = 1 << 20

// Stdio serves the program at the other end of in and out, until in is closed or ctx ends.
func Stdio(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	if err := chat.CheckClientName(o.Client); err != nil {
		return err
	}
	w := &lineWriter{out: out}
	r := &messages{in: bufio.NewReaderSize(in, 64<<10), refuse: w.refuse}
	err := newServer(o).Run(ctx, &mcp.IOTransport{Reader: r, Writer: w, MaxLineLength: maxMessage + 1024})
	if ctx.Err() != nil { // stopped on purpose
		return nil
	}
	return err
}

// JSON-RPC codes for lines that are not valid messages.
const (
	codeParse   = -32700
	codeInvalid = -32600
)

// messages reads the lines that are messages of the protocol. An invalid line is answered with a JSON-RPC error and
// skipped, because the SDK would end the connection.
type messages struct {
	in     *bufio.Reader
	refuse func(code int, message string)
	rest   []byte // rest of a message that Read returned in part
}

func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		line, tooLong, err := readLine(m.in)
		switch line = bytes.TrimSpace(line); {
		case tooLong:
			m.refuse(codeInvalid, fmt.Sprintf("The message is larger than %d bytes.", maxMessage))
		case len(line) == 0, err != nil && !json.Valid(line): // the input ended in the middle of a line
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

// Close does nothing: the caller owns the input.
func (m *messages) Close() error { return nil }

// readLine reads a line. If it is too long, the rest is skipped without being kept.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxMessage+1; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// lineWriter writes whole lines, from the SDK and from refuse.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// refuse writes an error answer without an id, as none could be read.
func (w *lineWriter) refuse(code int, message string) {
	answer, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": message}})
	_, _ = w.Write(append(answer, '\n')) // if the reader is gone, writing the next answer fails
}

// Close does nothing: the caller owns the output.
func (w *lineWriter) Close() error { return nil }
