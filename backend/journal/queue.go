package journal

import (
	"io"
	"sort"
	"time"
)

// queue holds the lines that are not written yet: those waiting, and the batch
// that is being written. On a healthy disk it holds one line.
type queue struct {
	waiting batch
	writing batch
	active  bool // writing is in the hands of the writing goroutine
}

// batch is lines to be written in one call.
type batch struct {
	buf   []byte
	lines []line
	since time.Time // when its first line came
}

// line ends at an offset of its batch.
type line struct {
	end int
	mark
}

// add puts a line, which encode appends, at the end.
func (q *queue) add(m mark, encode func([]byte) []byte) {
	if len(q.waiting.lines) == 0 {
		q.waiting.since = time.Now()
	}
	q.waiting.buf = encode(q.waiting.buf)
	q.waiting.lines = append(q.waiting.lines, line{end: len(q.waiting.buf), mark: m})
}

// take moves what waits into the hands of the caller, until done.
func (q *queue) take() (batch, bool) {
	if len(q.waiting.lines) == 0 {
		return batch{}, false
	}
	q.waiting, q.writing = q.writing, q.waiting
	q.active = true
	return q.writing, true
}

// done gives the taken batch back.
func (q *queue) done() {
	q.active = false
	q.writing.reset()
}

func (q *queue) empty() bool { return !q.active && len(q.waiting.lines) == 0 }

// within reports whether what is not written is under both bounds.
func (q *queue) within(bytes int, age time.Duration) bool {
	size, since := len(q.waiting.buf), q.waiting.since
	if q.active {
		size += len(q.writing.buf)
		since = q.writing.since
	}
	return size < bytes && time.Since(since) < age
}

func (b *batch) reset() {
	if cap(b.buf) > keepBuffer {
		b.buf = nil
	}
	b.buf, b.lines = b.buf[:0], b.lines[:0]
}

// upTo is the last line that lies wholly in the first n bytes.
func (b batch) upTo(n int) (mark, bool) {
	i := sort.Search(len(b.lines), func(i int) bool { return b.lines[i].end > n })
	if i == 0 {
		return mark{}, false
	}
	return b.lines[i-1].mark, true
}

// writeAll writes b and takes a short write for the error it is.
func writeAll(w io.Writer, b []byte) (int, error) {
	n, err := w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}
