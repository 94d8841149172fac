package turn

import (
	"runtime/debug"
	"sync"

	"contextinfinity/backend/chat"
)

// maxKept is how many bytes of an attempt's raw events are kept in memory. The events of
// a longer stream are read from its journal when its end is stored.
const maxKept = 8 << 20

// stream is what arrived in one attempt, as the provider sent it.
type stream struct {
	kept  []chat.RawEvent // nil once they are more than maxKept
	bytes int
	count int
	long  bool // more than maxKept
}

func (s *stream) add(ev chat.RawEvent) {
	s.count++
	if s.bytes += len(ev.Type) + len(ev.Data); s.bytes > maxKept {
		if s.kept = nil; !s.long {
			s.long = true
			long.begin()
		}
		return
	}
	s.kept = append(s.kept, ev)
}

// events are all of them, to be stored with the step.
func (s *stream) events(e *Engine, step chat.StepID) chat.EventSeq {
	if s.long {
		return e.journalled(step, s.count)
	}
	return chat.EventsOf(s.kept)
}

// end is called when nothing of the stream is needed any more.
func (s *stream) end() {
	if s.long {
		long.end()
	}
	*s = stream{}
}

// long counts the long answers under way. While there is one, memory that is no longer
// used is taken back sooner: storing a long answer makes several copies of it in a row.
var long longAnswers

type longAnswers struct {
	mu     sync.Mutex
	n      int
	before int // percent
}

// gcPercent is how much garbage may gather meanwhile, as a share of what is in use.
const gcPercent = 20

func (l *longAnswers) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n++; l.n == 1 {
		l.before = debug.SetGCPercent(gcPercent)
	}
}

func (l *longAnswers) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n--; l.n == 0 {
		debug.SetGCPercent(l.before)
		debug.FreeOSMemory()
	}
}
