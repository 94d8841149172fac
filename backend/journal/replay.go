package journal

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"contextinfinity/backend/chat"
)

// Replay is the readable content of a journal.
type Replay struct {
	LastSeq   int64   // of the last line read, including the end entry
	End       EndKind // empty: the stream was interrupted
	EndReason string

	// TornTail: the last line has no newline because the write was interrupted. It is left out.
	TornTail bool
	// BadLine is the number, from 1, of the first line that is unreadable or out of sequence; reading ended before
	// it. 0: none.
	BadLine int
	// DroppedBytes is the size of what TornTail or BadLine left out.
	DroppedBytes int64
	// Missing: the journal does not exist.
	Missing bool
}

// Read reads the journal of a finished, interrupted or running stream: it yields each event, in order and without the
// end entry, and keeps none in memory. Damage is reported in the result and is not an error; an error means that the
// file could not be read, and is returned with the result so far. An error of yield ends the reading and is returned
// unchanged.
func (j *Journals) Read(step chat.StepID, yield func(chat.RawEvent) error) (Replay, error) {
	const op = "journal.replay"
	path, err := j.file(op, step)
	if err != nil {
		return Replay{}, err
	}
	f, err := j.options().FS.Open(path)
	if missing(err) {
		return Replay{Missing: true}, nil
	}
	if err != nil {
		return Replay{}, readError(op, step, err)
	}
	defer func() { _ = f.Close() }()
	rep, yieldErr, err := read(f, yield)
	switch {
	case err != nil:
		return rep, readError(op, step, err)
	case yieldErr != nil:
		return rep, yieldErr
	}
	return rep, nil
}

// maxLine limits one line, in bytes: the largest possible event, as base64.
const maxLine = 1 << 30

// read replays r to its end, to the first damage, or to an error of yield, which is returned as yieldErr.
func read(r io.Reader, yield func(chat.RawEvent) error) (rep Replay, yieldErr, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		line, err := readLine(in)
		if errors.Is(err, errNoLine) {
			tail := tail{}
			_, err := io.Copy(&tail, in)
			rep.DroppedBytes = int64(len(line)) + tail.bytes
			if rep.TornTail = !tail.lines; tail.lines {
				rep.BadLine = number
			}
			return rep, nil, err
		}
		if errors.Is(err, io.EOF) {
			rep.DroppedBytes = int64(len(line))
			if n := len(line) - 1; n > 0 && rep.follows(line[:n]) {
				rep.BadLine = number // its newline was changed to another byte
			} else {
				rep.TornTail = len(line) > 0
			}
			return rep, nil, nil
		}
		if err != nil {
			return rep, nil, err
		}
		ev, isEvent, ok := rep.take(bytes.TrimSuffix(line, []byte{'\n'}))
		if !ok {
			rep.BadLine = number
			rest, err := io.Copy(io.Discard, in)
			rep.DroppedBytes = int64(len(line)) + rest
			return rep, nil, err
		}
		if isEvent {
			if err := yield(ev); err != nil {
				return rep, err, nil
			}
		}
	}
}

// tail measures the part of a journal that is left out.
type tail struct {
	bytes int64
	lines bool // it contains the end of a line
}

func (t *tail) Write(b []byte) (int, error) {
	t.bytes += int64(len(b))
	t.lines = t.lines || bytes.IndexByte(b, '\n') >= 0
	return len(b), nil
}

// errNoLine is returned for data that cannot be a line: it is not read to its end, because the file may be full of
// zeros.
var errNoLine = errors.New("not a line of a journal")

// readLine returns the next line with its newline, or an incomplete one and io.EOF.
func readLine(in *bufio.Reader) ([]byte, error) {
	begin, err := in.Peek(len(lineBegin))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case err == nil && string(begin) != lineBegin:
		return nil, errNoLine
	}
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxLine {
			return line, errNoLine
		}
	}
}

// follows reports whether a line is the next entry of the journal.
func (rep *Replay) follows(line []byte) bool {
	e, ok := parseEntry(line)
	return ok && e.Seq == rep.LastSeq+1
}

// take adds one line to the replay. ok is false if the line is unreadable, out of sequence, or after the end entry.
func (rep *Replay) take(line []byte) (ev chat.RawEvent, isEvent, ok bool) {
	e, ok := parseEntry(line)
	if !ok || e.Seq != rep.LastSeq+1 || rep.End != "" {
		return ev, false, false
	}
	if e.Provider == ownProvider {
		if rep.End, rep.EndReason, ok = e.end(); !ok {
			return ev, false, false
		}
	} else {
		ev, isEvent = e.event(), true
	}
	rep.LastSeq = e.Seq
	return ev, isEvent, true
}
