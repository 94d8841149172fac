package mcpclient

import (
	"strings"
	"sync"
	"time"
	"unicode"

	"contextinfinity/backend/internal/display"
)

// Where a line of a log comes from.
const (
	FromStderr  = "stderr"
	FromStdout  = "stdout"  // a line that is not a message of the protocol
	FromServer  = "server"  // a log message of the protocol
	FromProgram = "program" // the outcome of the server
)

// Line is a line of a server's log.
type Line struct {
	At   time.Time
	From string
	Text string
}

// ring keeps the last lines of a server, up to a number of bytes.
type ring struct {
	most, line int // bytes: of all, and of one line
	now        func() time.Time
	redact     func(string) string

	mu      sync.Mutex
	lines   []Line
	bytes   int
	dropped int
}

// perLine is what a line costs beside its text.
const perLine = 64

func (r *ring) add(from, text string) {
	text = display.Shorten(clean(r.redact(text)), r.line) // redacted first: what is cut could be half a secret
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, Line{At: r.now(), From: from, Text: text})
	r.bytes += len(text) + perLine
	if r.bytes <= r.most {
		return
	}
	first := 0
	for r.bytes > r.most*3/4 && first < len(r.lines)-1 { // many at once: each copies what is left
		r.bytes -= len(r.lines[first].Text) + perLine
		first++
	}
	r.dropped += first
	r.lines = append(r.lines[:0:0], r.lines[first:]...)
}

func (r *ring) read() (lines []Line, dropped int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Line{}, r.lines...), r.dropped
}

// clean takes out what would steer a terminal, and line breaks become spaces.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r), r == '\u2028', r == '\u2029', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return -1
		}
		return r
	}, strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), "\r\n"))
}

// rebind has the lines to come redacted by another server's knowledge too.
func (r *ring) rebind(redact func(string) string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.redact
	r.redact = func(text string) string { return redact(before(text)) }
}
