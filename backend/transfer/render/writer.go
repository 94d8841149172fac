package render

import (
	"bufio"
	"io"
	"strconv"
)

// writer is a buffered output that remembers its first error.
type writer struct {
	w   *bufio.Writer
	err error
	// texts counts the Markdown texts written so far.
	texts int
}

const bufferBytes = 64 << 10

func newWriter(w io.Writer) *writer { return &writer{w: bufio.NewWriterSize(w, bufferBytes)} }

func (o *writer) put(parts ...string) {
	for _, s := range parts {
		if o.err == nil {
			_, o.err = o.w.WriteString(s)
		}
	}
}

func (o *writer) bytes(b []byte) {
	if o.err == nil {
		_, o.err = o.w.Write(b)
	}
}

func (o *writer) flush() error {
	if o.err != nil {
		return o.err
	}
	return o.w.Flush()
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// amount formats a number of bytes for people.
func amount(bytes int) string {
	switch {
	case bytes < 1000:
		return strconv.Itoa(bytes) + " bytes"
	case bytes < 1_000_000:
		return strconv.Itoa((bytes+500)/1000) + " kB"
	}
	return strconv.FormatFloat(float64(bytes)/1e6, 'f', 1, 64) + " MB"
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
