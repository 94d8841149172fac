package journal

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"contextinfinity/backend/chat"
)

// Replay is what a journal holds, as far as it can be read.
type Replay struct {
	Events    []chat.RawEvent // in order, end entry not included
	LastSeq   int64           // of the last line that was read, end entry included
	End       EndKind         // empty: the stream was cut
	EndReason string

	// TornTail: the last line has no newline; the write was cut. It is left out.
	TornTail bool
	// BadLine is the number, from 1, of the first line that cannot be read or
	// breaks the sequence; reading ended before it. 0: none.
	BadLine int
	// DroppedBytes counts what TornTail or BadLine left unread.
	DroppedBytes int64
	// Missing: there is no such journal.
	Missing bool
}

// Replay reads a journal, of a finished, cut or still running stream. Damage is
// not an error, it is in the result; an error means the file could not be read,
// and comes with what was read before it.
func (j *Journals) Replay(step chat.StepID) (Replay, error) {
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
	rep, err := read(f)
	if err != nil {
		return rep, readError(op, step, err)
	}
	return rep, nil
}

// read replays r to its end or to the first damage.
func read(r io.Reader) (Replay, error) {
	var rep Replay
	in := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			rep.DroppedBytes = int64(len(line))
			if n := len(line) - 1; n > 0 && rep.follows(line[:n]) {
				rep.BadLine = number // whole but for its newline, which is another byte now
			} else {
				rep.TornTail = len(line) > 0
			}
			return rep, nil
		}
		if err != nil {
			return rep, err
		}
		if !rep.take(bytes.TrimSuffix(line, []byte{'\n'})) {
			rep.BadLine = number
			rest, err := io.Copy(io.Discard, in)
			rep.DroppedBytes = int64(len(line)) + rest
			return rep, err
		}
	}
}

// follows reports that a line would be the next one.
func (rep *Replay) follows(line []byte) bool {
	e, ok := parseEntry(line)
	return ok && e.Seq == rep.LastSeq+1
}

// take adds one line to the replay. It is false if the line does not belong
// there: unreadable, out of sequence, or after the end entry.
func (rep *Replay) take(line []byte) bool {
	e, ok := parseEntry(line)
	if !ok || e.Seq != rep.LastSeq+1 || rep.End != "" {
		return false
	}
	if e.Provider == ownProvider {
		if rep.End, rep.EndReason, ok = e.end(); !ok {
			return false
		}
	} else {
		rep.Events = append(rep.Events, e.event())
	}
	rep.LastSeq = e.Seq
	return true
}
