package turn

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// emitter converts deltas to frames: at most one per interval, each for one block, numbered without gaps (SPEC 5). In
// write-ahead mode a delta waits until its journal line is fsynced. It also keeps the text shown so far, so that a
// window that missed frames can request all of it.
type emitter struct {
	publish func(chat.Frame)
	every   time.Duration
	base    chat.Blocks

	mu        sync.Mutex
	frame     chat.Frame // the last one sent; Seq, Displayed and the ids are current
	offset    int        // position of the step's block 0 in the turn's answer; -1 until known
	queue     []segment
	allowed   int64 // journal seq up to which text may be shown
	durable   int64
	counted   chat.Frame // the last frame sent, for its counters
	shown     []shownBlock
	final     chat.Blocks // replaces shown once everything has been shown
	done      chan struct{}
	stopped   chan struct{}
	closeOnce sync.Once
}

// maxPaced is how many remaining frames are sent at the normal rate when a stream has ended. An answer with very many
// small blocks would otherwise end minutes after its provider.
const maxPaced = 20

// segment is unsent text of one block.
type segment struct {
	block int
	kind  llm.DeltaKind
	tool  string
	text  string
	seq   int64
}

type shownBlock struct {
	kind llm.DeltaKind
	tool string
	text pieces
}

// pieces is a text that grows without being copied, because an answer may be long.
type pieces [][]byte

// pieceSize is the size of a piece, in bytes.
const pieceSize = 64 << 10

func (p *pieces) add(text string) {
	for text != "" {
		n := len(*p)
		if n == 0 || len((*p)[n-1]) == pieceSize {
			*p = append(*p, make([]byte, 0, min(pieceSize, max(512, len(text)))))
			n++
		}
		last := &(*p)[n-1]
		fits := min(len(text), pieceSize-len(*last))
		*last = append(*last, text[:fits]...)
		text = text[fits:]
	}
}

func (p pieces) bytes() []byte { return slices.Concat(p...) }

func newEmitter(ids chat.Frame, base chat.Blocks, every time.Duration, writeAhead bool, publish func(chat.Frame)) *emitter {
	em := &emitter{
		publish: publish, every: every, base: base, frame: ids, counted: ids, offset: -1,
		allowed: math.MaxInt64, done: make(chan struct{}), stopped: make(chan struct{}),
	}
	if writeAhead {
		em.allowed = 0
	}
	go em.loop()
	return em
}

func (em *emitter) loop() {
	defer close(em.stopped)
	tick := time.NewTicker(em.every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			em.send()
		case <-em.done:
			for n := 0; em.send(); n++ {
				if n < maxPaced {
					<-tick.C
				}
			}
			return
		}
	}
}

// add queues the deltas of one journaled event.
func (em *emitter) add(deltas []llm.Delta, seq int64) {
	em.mu.Lock()
	defer em.mu.Unlock()
	for _, d := range deltas {
		if em.offset < 0 {
			em.offset = len(em.base)
			if d.Block == 0 {
				em.offset = blockOffset(em.base, d.Kind)
			}
		}
		s := segment{block: d.Block + em.offset, kind: d.Kind, tool: d.Tool, text: d.Text, seq: seq}
		em.queue = append(em.queue, s)
	}
}

// progress updates how much of the journal is durable.
func (em *emitter) progress(durableSeq, durableBytes int64) {
	em.mu.Lock()
	defer em.mu.Unlock()
	em.durable = durableBytes
	if em.allowed != math.MaxInt64 {
		em.allowed = durableSeq
	}
}

// finish sends the rest and stops. durableBytes is final.
func (em *emitter) finish(durableSeq, durableBytes int64) {
	em.progress(durableSeq, durableBytes)
	em.closeOnce.Do(func() { close(em.done) })
	<-em.stopped
}

// send publishes at most one frame and reports whether it did.
func (em *emitter) send() bool {
	em.mu.Lock()
	defer em.mu.Unlock()
	f := em.frame
	f.Kind, f.Text, f.Tool = "", "", ""
	em.take(&f)
	f.Durable = min(em.durable, f.Displayed)
	if f.Text == "" && f.Tool == "" && f.Durable == em.counted.Durable && f.JournalSeq == em.counted.JournalSeq {
		return false
	}
	f.Seq++
	em.frame, em.counted = f, f
	// Published under the lock, so that a snapshot matches exactly this seq.
	em.publish(f)
	return true
}

// take merges the queue's first run of one block into f.
func (em *emitter) take(f *chat.Frame) {
	n := 0
	var text []byte
	for ; n < len(em.queue); n++ {
		s := em.queue[n]
		if s.seq > em.allowed || s.block != em.queue[0].block {
			break
		}
		f.Tool = cmp.Or(s.tool, f.Tool)
		text = append(text, s.text...)
		f.JournalSeq = s.seq
	}
	if n == 0 {
		return
	}
	f.Block, f.Kind, f.Text = em.queue[0].block, string(em.queue[0].kind), string(text)
	if visible(em.queue[0].kind) {
		f.Displayed += int64(len(text))
	}
	em.remember(*f)
	em.queue = em.queue[n:]
}

func (em *emitter) remember(f chat.Frame) {
	i := f.Block - max(em.offset, 0)
	for len(em.shown) <= i {
		em.shown = append(em.shown, shownBlock{})
	}
	b := &em.shown[i]
	b.kind = llm.DeltaKind(f.Kind)
	b.tool = cmp.Or(f.Tool, b.tool)
	b.text.add(f.Text)
}

// finalize keeps the decoder's blocks of an ended stream, which need no additional memory.
func (em *emitter) finalize(blocks chat.Blocks) {
	em.mu.Lock()
	defer em.mu.Unlock()
	em.final, em.shown = blocks, nil
}

// Live is a running stream as shown so far: frames with a greater Seq continue it.
type Live struct {
	Frame  chat.Frame // ids and counters; Text is empty
	Blocks chat.Blocks
}

// counters returns the ids and counters of the last frame.
func (em *emitter) counters() chat.Frame {
	em.mu.Lock()
	defer em.mu.Unlock()
	f := em.frame
	f.Text, f.Kind, f.Tool = "", "", ""
	return f
}

func (em *emitter) live() Live {
	em.mu.Lock()
	defer em.mu.Unlock()
	f := em.frame
	f.Text, f.Kind, f.Tool = "", "", ""
	blocks := em.final
	for _, b := range em.shown {
		blocks = append(blocks, b.block())
	}
	return Live{Frame: f, Blocks: join(em.base, blocks)}
}

func (b shownBlock) block() chat.Block {
	switch b.kind {
	case llm.DeltaReasoning:
		return chat.Reasoning{Summary: string(b.text.bytes())}
	case llm.DeltaRefusal:
		return chat.Refusal{Text: string(b.text.bytes())}
	case llm.DeltaTool:
		return chat.ToolUse{Name: b.tool, Input: chat.RawJSON(b.text.bytes())}
	}
	return chat.Text{Text: string(b.text.bytes())}
}

// visible is the text that the byte counters count: everything shown as it arrives, including reasoning, but not
// arguments of tools.
func visible(k llm.DeltaKind) bool {
	return k == llm.DeltaText || k == llm.DeltaRefusal || k == llm.DeltaReasoning
}

func visibleBytes(deltas []llm.Delta) int {
	n := 0
	for _, d := range deltas {
		if visible(d.Kind) {
			n += len(d.Text)
		}
	}
	return n
}
