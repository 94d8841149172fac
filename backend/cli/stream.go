package cli

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"slices"
	"strings"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// stream is the Publisher of verbs that show an answer as it arrives. Its queue of frames is only limited by the size
// of an answer, because a slow reader of stdout must not delay receiving. In a program that runs other turns too, it
// only takes the frames of its own turn, and none without one.
type stream struct {
	arrived chan struct{} // capacity 1
	changed chan struct{} // capacity 1: a turn changed

	mu     sync.Mutex
	queue  []chat.Frame
	open   bool        // an answer is expected
	turn   chat.TurnID // its turn; empty while it is about to begin
	silent bool        // show the answer only at its end
	all    bool        // take all kinds of frames, including those that only report durability
	shown  bool        // the existing part of the answer was already shown
}

func (c *call) newStream() *stream {
	return &stream{arrived: make(chan struct{}, 1), changed: make(chan struct{}, 1), all: c.events}
}

// Frame implements turn.Publisher.
func (s *stream) Frame(f chat.Frame) {
	if !s.all && (!isVisible(f.Kind) || f.Text == "") {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open || s.silent && !s.all || s.turn != "" && s.turn != f.Turn {
		return
	}
	s.queue = append(s.queue, f)
	notify(s.arrived)
}

// subscribe starts taking frames, before the id of their turn is known.
func (s *stream) subscribe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.turn, s.queue = true, "", nil
}

// limitTo drops the frames of other turns.
func (s *stream) limitTo(id chat.TurnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = id
	s.queue = slices.DeleteFunc(s.queue, func(f chat.Frame) bool { return f.Turn != id })
}

// unsubscribe stops taking frames.
func (s *stream) unsubscribe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = false
}

func (s *stream) mute(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = on
}

// Change implements turn.Publisher.
func (s *stream) Change(ch chat.Change) {
	if ch.Kind == chat.ChangeTurn {
		notify(s.changed)
	}
}

func isVisible(kind string) bool {
	return kind == string(llm.DeltaText) || kind == string(llm.DeltaRefusal)
}

func notify(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// setShown says whether the existing part of the answer was already shown, so that only the rest is shown.
func (s *stream) setShown(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = on
}

func (s *stream) isShown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown
}

func (s *stream) take() []chat.Frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queue
	s.queue = nil
	return q
}

// showing is the part of a presenter that takes the frames of a stream in the background.
type showing struct {
	s          *stream
	stop, done chan struct{}
}

func (s *stream) showing() *showing {
	return &showing{s: s, stop: make(chan struct{}), done: make(chan struct{})}
}

// loop calls frames whenever frames have arrived, and a last time at the end.
func (x *showing) loop(frames func()) {
	defer close(x.done)
	for {
		select {
		case <-x.s.arrived:
			frames()
		case <-x.stop:
			frames()
			return
		}
	}
}

// cancel implements presenter.
func (x *showing) cancel() {
	x.s.unsubscribe()
	close(x.stop)
}

// wait ends the loop after the frames that have arrived.
func (x *showing) wait() {
	x.cancel()
	<-x.done
}

// printer writes one answer from a stream of frames. Blocks are separated by an
// empty line, as in the stored visible text.
type printer struct {
	*showing
	o *output

	block      int // the current one, -1 before the first
	shown      printedText
	outOfOrder bool // a frame of an earlier block came late
	ended      bool // the existing part ended a line already
}

// startPrinter shows base, the existing part of a turn's answer, then its frames.
func startPrinter(s *stream, o *output, base chat.Blocks, id chat.TurnID) *printer {
	p := &printer{showing: s.showing(), o: o, block: -1}
	s.limitTo(id)
	p.base(base)
	go p.loop(p.frames)
	return p
}

func (p *printer) base(base chat.Blocks) {
	for i, b := range base {
		if (chat.Blocks{b}).RenderedText() != "" {
			p.block = i
		}
	}
	text := base.RenderedText()
	if p.s.isShown() {
		p.shown.add(text)
		p.ended = text != ""
		return
	}
	p.write(text)
}

func (p *printer) frames() {
	for _, f := range p.s.take() {
		switch {
		case f.Block < p.block:
			p.outOfOrder = true
		case f.Block > p.block && p.shown.length > 0:
			p.write("\n\n")
		}
		if p.outOfOrder {
			return
		}
		p.block = f.Block
		p.write(f.Text)
	}
}

func (p *printer) write(text string) {
	p.shown.add(text)
	if p.ended && text != "" {
		text, p.ended = strings.TrimPrefix(text, "\n"), false
	}
	p.o.text(text)
}

// printedText remembers what was printed by its length and hash, because an answer may be long.
type printedText struct {
	length int
	hash   hash.Hash
}

func (s *printedText) add(text string) {
	if s.hash == nil {
		s.hash = sha256.New()
	}
	s.length += len(text)
	hashText(s.hash, text)
}

// hashText hashes a text in pieces, which avoids copying it.
func hashText(h hash.Hash, text string) {
	var piece [32 << 10]byte
	for text != "" {
		n := copy(piece[:], text)
		_, _ = h.Write(piece[:n]) // a hash never returns an error
		text = text[n:]
	}
}

// rest returns the part of a text that was not printed; false if a different text was printed.
func (s *printedText) rest(final string) (string, bool) {
	if s.length == 0 {
		return final, true
	}
	if s.length > len(final) {
		return "", false
	}
	begin := sha256.New()
	hashText(begin, final[:s.length])
	return final[s.length:], bytes.Equal(begin.Sum(nil), s.hash.Sum(nil))
}

// finish implements presenter. It writes the text that the frames lacked, and ends the line.
func (p *printer) finish(final string) bool {
	p.wait()
	rest, ok := p.shown.rest(final)
	if ok {
		p.write(rest)
	}
	if p.shown.length > 0 {
		p.o.text("\n")
	}
	return ok
}
