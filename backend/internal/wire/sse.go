package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"contextinfinity/backend/llm"
)

// maxEvent limits one event and one unstreamed body, in bytes, with the default limit of answers. It is generous,
// because generated images are sent inside events, and the last event of a response repeats all of it. It only stops
// servers that never end an event.
const maxEvent = 24 << 20

// eventLimit returns the limit for an endpoint: enough for an answer of its maximum length in JSON.
func eventLimit(ep llm.Endpoint) int { return max(maxEvent, ep.MaxAnswerBytes/2*3) }

// largeEvent is the size, in bytes, from which garbage is collected more often while an event is processed: several
// copies of it are made in a row.
const largeEvent = 1 << 20

// maxValues is the maximum number of values in one event: decoding many small ones takes far more memory than their
// text. Token probabilities stay below it.
const maxValues = 1_000_000

// errEventTooLarge is the error for an event over its limits.
var errEventTooLarge = errors.New("the server sent one event that is larger than any answer")

// tooDense reports whether JSON has too many values.
func tooDense(data []byte) bool {
	if len(data) < maxValues {
		return false
	}
	values := 0
	for i := 0; i < len(data) && values <= maxValues; i++ {
		switch data[i] {
		case '{', '[', ',':
			values++
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		}
	}
	return values > maxValues
}

// event is one server-sent event: its name, empty if it had none, and its data lines joined by line feeds.
type event struct {
	name string
	data []byte
}

// eventReader reads a stream of server-sent events as the WHATWG standard defines them: LF, CRLF or CR line ends,
// comments, several data lines, a leading byte order mark. It differs in three points, because a journal keeps
// everything: it reports an event with a name but no data, a last event that the server did not terminate, and the
// errors of servers that write them as an "error:" line or as plain JSON.
type eventReader struct {
	src    *bufio.Reader
	line   []byte
	skipLF bool
	first  bool
	limit  int
	alive  func() // called for each comment
	// unread is a line that begins the next event: some servers write one event a line without empty lines between them.
	unread []byte
}

// newEventReader returns a reader of events of at most limit bytes from r.
func newEventReader(r io.Reader, limit int) *eventReader {
	return &eventReader{src: bufio.NewReaderSize(r, 32<<10), first: true, limit: limit, alive: func() {}}
}

// next returns the next event, io.EOF after the last one. The caller owns the data. Any other error means that the
// connection failed; an incomplete event is not reported.
func (r *eventReader) next() (event, error) {
	var ev event
	var named, hasData bool
	for {
		line, err := r.unread, error(nil)
		if r.unread = nil; line == nil {
			line, err = r.readLine()
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return event{}, err
		}
		if len(line) > 0 {
			field, value := splitField(line)
			if line[0] == '{' {
				field, value = "data", line
			}
			switch field {
			case "":
				r.alive()
			case "event":
				ev.name, named = string(value), true
			case "data", "error":
				if field == "error" {
					ev.name, named = field, true
				}
				if hasData && beginsEvent(ev.data, value) {
					r.unread = bytes.Clone(line)
					return ev, nil
				}
				if hasData {
					ev.data = append(ev.data, '\n')
				}
				if len(ev.data)+len(value) > r.limit {
					return event{}, errEventTooLarge
				}
				ev.data, hasData = append(ev.data, value...), true
			}
		}
		ended := err != nil || len(line) == 0
		if ended && (named || hasData) {
			return ev, nil
		}
		if err != nil {
			return event{}, io.EOF
		}
	}
}

// beginsEvent reports whether a data line after complete JSON is an event of its own.
func beginsEvent(data, line []byte) bool {
	return (bytes.HasPrefix(line, []byte("{")) || bytes.Equal(line, []byte("[DONE]"))) && len(data) > 0 && data[0] == '{' && json.Valid(data)
}

// splitField cuts a line into its field and value; a comment has an empty field.
func splitField(line []byte) (string, []byte) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	return string(name), bytes.TrimPrefix(value, []byte{' '})
}

// readLine returns the next line without its end. It never waits for the byte after a CR. At the end of input it
// returns the rest, and io.EOF.
func (r *eventReader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		if _, err := r.src.Peek(1); err != nil {
			return r.line, err
		}
		chunk, _ := r.src.Peek(r.src.Buffered())
		if r.skipLF {
			r.skipLF = false
			if chunk[0] == '\n' {
				_, _ = r.src.Discard(1)
				continue
			}
		}
		n := bytes.IndexAny(chunk, "\r\n")
		if n < 0 {
			r.line = append(r.line, chunk...)
			_, _ = r.src.Discard(len(chunk))
			if len(r.line) > r.limit {
				return nil, errEventTooLarge
			}
			continue
		}
		r.line = append(r.line, chunk[:n]...)
		r.skipLF = chunk[n] == '\r'
		_, _ = r.src.Discard(n + 1)
		return r.trimMark(), nil
	}
}

// trimMark drops a byte order mark in front of the first line.
func (r *eventReader) trimMark() []byte {
	if !r.first {
		return r.line
	}
	r.first = false
	return bytes.TrimPrefix(r.line, []byte("\xEF\xBB\xBF"))
}
