package cli

import "strings"

// lineReader reads stdin one line at a time, on request: a read cannot be cancelled, so it runs beside the
// conversation, which continues on Ctrl-C.
type lineReader struct {
	in     *input
	asks   chan struct{}
	lines  chan string // closed at the end of the input
	done   chan struct{}
	err    error // why it ended; valid once lines is closed
	asking bool  // a read is already in progress
}

func startLines(in *input) *lineReader {
	l := &lineReader{in: in, asks: make(chan struct{}, 1), lines: make(chan string), done: make(chan struct{})}
	go l.loop()
	return l
}

func (l *lineReader) loop() {
	defer close(l.lines)
	for {
		select {
		case <-l.asks:
		case <-l.done:
			return
		}
		text, err := l.in.lines.ReadString('\n')
		if err == nil || text != "" {
			select {
			case l.lines <- strings.TrimRight(text, "\r\n"):
			case <-l.done:
				return
			}
		}
		if err != nil {
			l.err = err
			return
		}
	}
}

// ask starts reading a line, unless a read is in progress, and returns its channel. Whoever takes the line calls got.
func (l *lineReader) ask() <-chan string {
	if !l.asking {
		l.asking = true
		l.asks <- struct{}{}
	}
	return l.lines
}

func (l *lineReader) got() { l.asking = false }

// close ends the reader, as soon as its read returns.
func (l *lineReader) close() { close(l.done) }
