package mcpclient

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"contextinfinity/backend/internal/display"
)

// Origins of a log line.
const (
	FromStderr  = "stderr"
	FromStdout  = "stdout"  // a line that is not a protocol message
	FromServer  = "server"  // a log message of the protocol
	FromProgram = "program" // a message of this program, such as how the server ended
)

// Line is a line of a server's log.
type Line struct {
	At   time.Time `json:"at"`
	From string    `json:"from"`
	Text string    `json:"text"`
}

// ring keeps the last lines of a server, up to a number of bytes.
type ring struct {
	maxBytes, maxLine int // limits in bytes: total, and per line
	now               func() time.Time
	redact            func(string) string

	mu      sync.Mutex
	lines   []Line
	bytes   int
	dropped int
}

// perLine is the overhead of a line, in bytes.
const perLine = 64

func (r *ring) add(from, text string) {
	r.mu.Lock()
	redact := r.redact
	r.mu.Unlock()
	text = display.Shorten(clean(redact(text)), r.maxLine) // redacted first, because the cut could leave half of a secret
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, Line{At: r.now(), From: from, Text: text})
	r.bytes += len(text) + perLine
	if r.bytes <= r.maxBytes {
		return
	}
	first := 0
	for r.bytes > r.maxBytes*3/4 && first < len(r.lines)-1 { // several at once, because each removal copies the rest
		r.bytes -= len(r.lines[first].Text) + perLine
		first++
	}
	r.dropped += first
	r.lines = append(r.lines[:0:0], r.lines[first:]...)
}

// last returns the last line from an origin since a time, shortened for a message; empty if there is none.
func (r *ring) last(from string, since time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range slices.Backward(r.lines) {
		if line.At.Before(since) {
			break
		}
		if line.From == from {
			return display.Shorten(line.Text, maxErrorText)
		}
	}
	return ""
}

func (r *ring) read() (lines []Line, dropped int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Line{}, r.lines...), r.dropped
}

// clean removes terminal control characters, and replaces line breaks by spaces.
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

// alsoRedact makes the ring redact later lines with another server's secrets too.
func (r *ring) alsoRedact(redact func(string) string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	previous := r.redact
	r.redact = func(text string) string { return redact(previous(text)) }
}
