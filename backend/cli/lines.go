package cli

import "strings"

// lineReader reads stdin a line at a time, when asked: a read cannot be called
// off, so it happens beside the conversation, which continues at a Ctrl-C.
type lineReader struct {
	in     *input
	asks   chan struct{}
	lines  chan string // closed at the end of the input
	done   chan struct{}
	err    error // why it ended; valid once lines is closed
	asking bool  // a line is being waited for already
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

// ask has a line read, unless one is being read, and returns where it comes.
// Whoever takes it calls got.
func (l *lineReader) ask() <-chan string {
	if !l.asking {
		l.asking = true
		l.asks <- struct{}{}
	}
	return l.lines
}

func (l *lineReader) got() { l.asking = false }

// close lets the reader go, as soon as its read returns.
func (l *lineReader) close() { close(l.done) }
