package journal

import (
	"cmp"
	"sync"
	"time"

	"contextinfinity/backend/chat"
)

// stallGrace is how long Append waits for its write before it considers the disk stalled. A write to the page cache
// takes a microsecond.
const stallGrace = 5 * time.Millisecond

// maxKeptBuffer is the largest buffer that a writer keeps for reuse.
const maxKeptBuffer = 1 << 20

// Progress is the progress of a journal. Bytes count visible UTF-8 text (SPEC 5).
type Progress struct {
	Seq        int64 // last line accepted by Append
	DurableSeq int64 // last fsynced line
	// Displayed is the text that may be on the screen. With Buffered that is everything accepted by Append; with
	// WriteAhead it is Durable.
	Displayed int64
	Durable   int64 // text in fsynced lines
}

// mark is a position in a journal: the end of a line, and the visible bytes up to it.
type mark struct {
	seq     int64
	visible int64
}

// Writer appends to one journal. It has two goroutines: one writes, so that a stalled disk does not block the stream,
// and one fsyncs, so that an fsync does not delay writes. Methods are safe for concurrent use.
type Writer struct {
	journals *Journals
	opt      Options
	step     chat.StepID
	provider string
	file     File

	appending sync.Mutex  // one Append or End at a time, so that lines are in the order of seq
	grace     *time.Timer // belongs to the holder of appending

	mu         sync.Mutex
	queue      queue
	last       mark // last line added to the queue
	accepted   mark // last line with a successful Append
	written    mark // last line passed to the operating system
	durable    mark // last fsynced line
	stalled    bool // a write took longer than stallGrace and the queue has not been empty since
	err        error
	syncFailed bool // nothing becomes durable any more
	closed     bool
	notify     func(Progress)

	work       chan struct{} // lines are queued; closed after the last line
	wrote      chan struct{} // the writing goroutine made progress, or failed
	dirty      chan struct{} // written lines need an fsync
	closing    chan struct{} // no more lines will be added
	writerDone chan struct{}
	syncerDone chan struct{}

	endErr error // result of End, returned by further calls
}

func newWriter(j *Journals, opt Options, step chat.StepID, provider string, f File) *Writer {
	w := &Writer{
		journals: j, opt: opt, step: step, provider: provider, file: f,
		grace:      time.NewTimer(stallGrace),
		work:       make(chan struct{}, 1),
		wrote:      make(chan struct{}, 1),
		dirty:      make(chan struct{}, 1),
		closing:    make(chan struct{}),
		writerDone: make(chan struct{}),
		syncerDone: make(chan struct{}),
	}
	w.grace.Stop()
	go w.writeLoop()
	go w.syncLoop()
	return w
}

// Append adds one event as one line, and returns its number. visibleBytes is how much text the event adds to the
// screen. With Buffered the text may be shown once Append has returned; with WriteAhead once OnDurable reports seq.
//
// On an error the event does not count as displayed, and every later call returns the same error: CodeNoSpace,
// CodeInternal, or CodeConflict if the journal has ended.
func (w *Writer) Append(ev chat.RawEvent, visibleBytes int) (int64, error) {
	w.appending.Lock()
	defer w.appending.Unlock()
	m, err := w.enqueue("journal.append", w.provider, ev, max(visibleBytes, 0))
	if err != nil {
		return 0, err
	}
	if err := w.await(m.seq); err != nil {
		return 0, err
	}
	w.mu.Lock()
	w.accepted = m
	w.mu.Unlock()
	return m.seq, nil
}

// enqueue assigns the event's number and adds it to the queue.
func (w *Writer) enqueue(op, provider string, ev chat.RawEvent, visible int) (mark, error) {
	ts := w.opt.Clock.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return mark{}, w.err
	}
	if w.closed {
		return mark{}, chat.Errorf(chat.CodeConflict, op, "the stream journal of step %s has ended", w.step)
	}
	w.last = mark{seq: w.last.seq + 1, visible: w.last.visible + int64(visible)}
	w.queue.add(w.last, func(dst []byte) []byte {
		return appendEntry(dst, ts, provider, ev.Type, w.last.seq, ev.Data)
	})
	pulse(w.work)
	return w.last, nil
}

// await returns when line seq is written or, on a stalled disk, when it may wait in memory.
func (w *Writer) await(seq int64) error {
	w.grace.Reset(stallGrace)
	defer w.grace.Stop()
	for {
		if done, err := w.settled(seq); done {
			return err
		}
		select {
		case <-w.wrote:
		case <-w.grace.C:
			w.mu.Lock()
			w.stalled = w.written.seq < seq
			w.mu.Unlock()
		}
	}
}

// settled reports whether an Append of line seq is done, and its result.
func (w *Writer) settled(seq int64) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.written.seq >= seq:
		return true, nil
	case w.err != nil:
		return true, w.err
	case w.stalled:
		return w.queue.within(w.opt.FlushBytes, milliseconds(w.opt.FlushMs)), nil
	}
	return false, nil
}

// Progress returns the journal's current progress.
func (w *Writer) Progress() Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.progress()
}

func (w *Writer) progress() Progress {
	p := Progress{
		Seq: w.accepted.seq, DurableSeq: w.durable.seq,
		Displayed: w.accepted.visible, Durable: w.durable.visible,
	}
	// An fsync may cover a line whose Append is just about to return.
	p.Seq, p.Displayed = max(p.Seq, p.DurableSeq), max(p.Displayed, p.Durable)
	if w.opt.Durability == WriteAhead {
		p.Displayed = p.Durable
	}
	return p
}

// WriteAhead reports whether text may be shown only after OnDurable has reported it.
func (w *Writer) WriteAhead() bool { return w.opt.Durability == WriteAhead }

// OnDurable sets a function that is called after each fsync that made lines durable, never concurrently, and for the
// last time before End returns. It must be set before the first Append; f must not call End, because End waits for f.
func (w *Writer) OnDurable(f func(Progress)) {
	w.mu.Lock()
	w.notify = f
	w.mu.Unlock()
}

// End appends the end entry, fsyncs and closes: the journal is sealed. If it fails, Progress is still correct, and
// the journal reads as interrupted. A second call changes nothing and returns the same result, whatever its kind.
func (w *Writer) End(kind EndKind, reason string) (Progress, error) {
	const op = "journal.end"
	if !kind.valid() {
		return w.Progress(), chat.Errorf(chat.CodeInvalid, op, "%q is not a way to end a journal", string(kind))
	}
	payload, err := chat.MarshalJSON(endPayload{Reason: reason})
	if err != nil {
		return w.Progress(), chat.WrapError(chat.CodeInternal, op, err, "the end entry cannot be encoded")
	}
	w.appending.Lock()
	defer w.appending.Unlock()
	if !w.isClosed() {
		_, _ = w.enqueue(op, ownProvider, chat.RawEvent{Type: string(kind), Data: payload}, 0) // a failure is in w.err
		w.endErr = w.shut()
	}
	return w.Progress(), w.endErr
}

func (w *Writer) isClosed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// shut waits until both goroutines have processed the queue, then closes the file.
func (w *Writer) shut() error {
	w.mu.Lock()
	w.closed = true
	close(w.work)
	w.mu.Unlock()
	close(w.closing)
	<-w.syncerDone
	closeErr := w.file.Close()
	w.journals.release(w.step)

	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.accepted = w.last
	}
	if w.err == nil && closeErr != nil {
		// Everything is fsynced, but a file that cannot be closed is not trusted.
		return diskError("journal.end", closeErr, "The stream journal could not be closed.")
	}
	return w.err
}

// writeLoop writes queued lines until work is closed.
func (w *Writer) writeLoop() {
	defer close(w.writerDone)
	for range w.work {
		for w.writeBatch() {
		}
	}
	for w.writeBatch() {
	}
}

// writeBatch writes all queued lines in one call. It returns false if there were none.
func (w *Writer) writeBatch() bool {
	w.mu.Lock()
	batch, ok := w.queue.take()
	failed := w.err != nil
	w.mu.Unlock()
	if !ok {
		return false
	}
	n := 0
	var err error
	if !failed {
		n, err = writeAll(w.file, batch.buf)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if m, ok := batch.lastLineWithin(n); ok {
		w.written = m
		pulse(w.dirty)
	}
	w.queue.done()
	w.stalled = w.stalled && !w.queue.empty()
	if err != nil {
		w.fail(diskError("journal.append", err, "The answer could not be written to its stream journal; the part written before is kept."))
	}
	pulse(w.wrote)
	return true
}

// fail keeps the first error and wakes a waiting Append. The caller holds mu.
func (w *Writer) fail(err error) {
	w.err = cmp.Or(w.err, err)
	pulse(w.wrote)
}

// syncLoop fsyncs when an fsync is due, and again at the end.
func (w *Writer) syncLoop() {
	defer close(w.syncerDone)
	var last time.Time
	for w.awaitSync(last) {
		last = time.Now()
		w.sync()
	}
	<-w.writerDone
	w.sync()
}

// awaitSync waits until written lines are due for an fsync. It returns false when no more lines will come.
func (w *Writer) awaitSync(last time.Time) bool {
	select {
	case <-w.dirty:
	case <-w.closing:
		return false
	}
	delay := milliseconds(w.opt.FsyncMs)
	if w.opt.Durability == WriteAhead {
		// A line after a pause is fsynced at once; lines in a burst are fsynced in groups.
		delay = milliseconds(w.opt.GroupMs) - time.Since(last)
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.closing:
		return false
	}
}

// sync makes the lines durable that were written before it was called.
func (w *Writer) sync() {
	w.mu.Lock()
	target := w.written
	idle := w.syncFailed || target.seq == w.durable.seq
	w.mu.Unlock()
	if idle {
		return
	}
	err := w.file.Sync()

	w.mu.Lock()
	if err != nil {
		w.syncFailed = true
		w.fail(diskError("journal.sync", err, "The stream journal could not be flushed to disk; the part flushed before is safe."))
		w.mu.Unlock()
		return
	}
	w.durable = target
	p, notify := w.progress(), w.notify
	w.mu.Unlock()
	if notify != nil {
		notify(p)
	}
}

// pulse wakes the receiver of c; several pulses may be combined.
func pulse(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
