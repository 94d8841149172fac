package journal

import (
	"io"
	"sort"
	"time"
)

// queue contains the lines that are not written yet: the waiting ones, and the batch being written. With a healthy disk
// that is one line.
type queue struct {
	waiting batch
	writing batch
	active  bool // the writing goroutine is writing
}

// batch is lines to be written in one call.
type batch struct {
	buf   []byte
	lines []line
	since time.Time // when its first line was added
}

// line ends at an offset of its batch.
type line struct {
	end int
	mark
}

// add adds a line, which encode appends to the buffer.
func (q *queue) add(m mark, encode func([]byte) []byte) {
	if len(q.waiting.lines) == 0 {
		q.waiting.since = time.Now()
	}
	q.waiting.buf = encode(q.waiting.buf)
	q.waiting.lines = append(q.waiting.lines, line{end: len(q.waiting.buf), mark: m})
}

// take takes the waiting lines for writing. done must be called when they are written.
func (q *queue) take() (batch, bool) {
	if len(q.waiting.lines) == 0 {
		return batch{}, false
	}
	q.waiting, q.writing = q.writing, q.waiting
	q.active = true
	return q.writing, true
}

// done frees the buffer of the written batch for reuse.
func (q *queue) done() {
	q.active = false
	q.writing.reset()
}

func (q *queue) empty() bool { return !q.active && len(q.waiting.lines) == 0 }

// within reports whether the unwritten lines are within both limits.
func (q *queue) within(bytes int, age time.Duration) bool {
	size, since := len(q.waiting.buf), q.waiting.since
	if q.active {
		size += len(q.writing.buf)
		since = q.writing.since
	}
	return size < bytes && time.Since(since) < age
}

func (b *batch) reset() {
	if cap(b.buf) > maxKeptBuffer {
		b.buf = nil
	}
	b.buf, b.lines = b.buf[:0], b.lines[:0]
}

// lastLineWithin is the last complete line in the first n bytes.
func (b batch) lastLineWithin(n int) (mark, bool) {
	i := sort.Search(len(b.lines), func(i int) bool { return b.lines[i].end > n })
	if i == 0 {
		return mark{}, false
	}
	return b.lines[i-1].mark, true
}

// writeAll writes b and reports a short write as an error.
func writeAll(w io.Writer, b []byte) (int, error) {
	n, err := w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}
