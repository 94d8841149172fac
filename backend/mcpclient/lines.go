package mcpclient

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// errFrame is the error for a message over the limit. The connection ends, because the message may have been a response
// that a call waits for.
var errFrame = errors.New("the server sent a message that is too large")

// logLine is the maximum length of the logged part of a line, in bytes.
const logLine = 64 << 10

// filter passes on the lines of a server's standard output that are protocol messages; all others go to its log,
// because a single line of a package manager would otherwise end the connection. It also answers the probe for the
// newer protocol in place of a server that does not respond: many old ones ignore unknown requests.
type filter struct {
	maxMessage int
	log        *ring
	out        *io.PipeReader
	in         *io.PipeWriter

	traffic *traffic

	mu        sync.Mutex      // guards writes to in, and the following fields
	probe     json.RawMessage // id of a probe without an answer
	timer     *time.Timer     // answers the probe
	lateProbe string          // id of a probe that was answered here
	failed    error           // why no more output is passed on, unless the output ended
}

func newFilter(maxMessage int, log *ring, t *traffic) *filter {
	f := &filter{maxMessage: maxMessage, log: log, traffic: t}
	f.out, f.in = io.Pipe()
	return f
}

// run reads until the output ends or a message is too large.
func (f *filter) run(stdout io.Reader) {
	err := f.copy(stdout)
	f.mu.Lock()
	f.stopProbe()
	f.failed = err
	f.mu.Unlock()
	err = cmp.Or(err, io.EOF)
	_ = f.in.CloseWithError(err)
}

func (f *filter) copy(stdout io.Reader) error {
	r := bufio.NewReaderSize(stdout, 64<<10)
	for {
		line, cut, err := readLine(r, f.maxMessage, looksLikeMessage)
		if cut && looksLikeMessage(line) {
			return fmt.Errorf("%w: more than %d MiB", errFrame, f.maxMessage>>20)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if werr := f.pass(line, cut); werr != nil {
				return werr
			}
		}
		if err != nil {
			return nil
		}
	}
}

func (f *filter) pass(line []byte, cut bool) error {
	line = bytes.TrimSpace(line)
	if cut || !looksLikeMessage(line) || !json.Valid(line) {
		f.log.add(FromStdout, string(line[:min(len(line), logLine)]))
		return nil
	}
	if ok, err := f.traffic.admit(line); err != nil || !ok {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.probe != nil || f.lateProbe != "" {
		var head struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(line, &head) == nil && head.Method == "" {
			if f.lateProbe != "" && string(head.ID) == f.lateProbe {
				f.lateProbe = ""
				return nil
			}
			f.stopProbe()
		}
	}
	_, err := f.in.Write(append(bytes.Clone(line), '\n'))
	return err
}

// watchProbe examines a message that is sent to the server: a probe starts the time limit for its answer.
func (f *filter) watchProbe(message []byte, timeout time.Duration) {
	if !bytes.Contains(message, []byte(`"server/discover"`)) {
		return
	}
	var head struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(message, &head) != nil || head.Method != "server/discover" || len(head.ID) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopProbe()
	f.probe = head.ID
	f.timer = time.AfterFunc(timeout, f.answerProbe)
}

// answerProbe answers a probe in place of the server.
func (f *filter) answerProbe() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.probe == nil {
		return
	}
	id := f.probe
	f.stopProbe()
	f.lateProbe = string(id)
	_, _ = fmt.Fprintf(f.in, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no answer"}}`+"\n", id)
}

// stopProbe ends the wait for the answer to a probe. mu must be held.
func (f *filter) stopProbe() {
	if f.timer != nil {
		f.timer.Stop()
	}
	f.probe, f.timer = nil, nil
}

func (f *filter) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

func (f *filter) Read(p []byte) (int, error) { return f.out.Read(p) }

// Close also unblocks pending writes.
func (f *filter) Close() error { return f.out.Close() }

// looksLikeMessage reports whether a line could be a JSON-RPC message, which is an object. Batches are no longer part
// of the protocol.
func looksLikeMessage(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && line[0] == '{'
}

// readLine reads a line of at most limit bytes. The rest of a longer line is dropped, or left unread if stop says so of
// its beginning.
func readLine(r *bufio.Reader, limit int, stop func(line []byte) bool) (line []byte, cut bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if space := limit - len(line); len(part) > space {
			part, cut = part[:max(space, 0)], true
		}
		line = append(line, part...)
		switch {
		case cut && stop(line):
			return line, true, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		default:
			return line, cut, err
		}
	}
}

// copyLog writes a server's standard error to its log.
func copyLog(stderr io.Reader, log *ring) {
	r := bufio.NewReaderSize(stderr, 16<<10)
	for {
		line, _, err := readLine(r, logLine, func([]byte) bool { return false }) // a log contains no messages
		if len(bytes.TrimSpace(line)) > 0 {
			log.add(FromStderr, string(line))
		}
		if err != nil {
			return
		}
	}
}
