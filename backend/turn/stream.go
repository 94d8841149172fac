package turn

import (
	"fmt"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/heap"
)

// maxKept is how many bytes of an attempt's raw events are kept in memory. The events of
// a longer stream are encoded for the store as they arrive, so that its end, which may be
// Ctrl-C in the midst of a flood, takes no time; those that do not become small by it are
// read from the journal when the end is stored.
const maxKept = 8 << 20

// stream is what arrived in one attempt, as the provider sent it.
type stream struct {
	kept  []chat.RawEvent // nil once they are more than maxKept
	bytes int
	count int
	long  bool           // more than maxKept
	pack  chat.EventPack // of a long one; nil: it is in the journal alone
	// refused: the journal took no more; the last event is not among those that are stored
	refused bool
	// loosen ends what was done for the memory of a long answer.
	loosen func()
}

// add takes the next event; newPack is asked once the stream is long.
func (s *stream) add(ev chat.RawEvent, newPack func() chat.EventPack) {
	s.count++
	if s.bytes += len(ev.Type) + len(ev.Data); s.bytes <= maxKept {
		s.kept = append(s.kept, ev)
		return
	}
	if !s.long {
		s.long, s.pack = true, newPack()
		s.loosen = heap.Tighten()
		s.encode(s.kept...)
		s.kept = nil
	}
	s.encode(ev)
}

func (s *stream) encode(events ...chat.RawEvent) {
	for _, ev := range events {
		if s.pack != nil && s.pack.Add(ev) != nil {
			s.pack = nil
		}
	}
}

// events are all of them, to be stored with the step where they are not encoded already.
func (s *stream) events(e *Engine, step chat.StepID) chat.EventSeq {
	if s.long {
		return e.journalled(step, s.count)
	}
	return chat.EventsOf(s.kept)
}

// missing says, in a sentence, where the raw events that will be stored end before the
// stream did, because its journal could not be written to its end: those of a long stream
// are read from it. Empty: all of them will be stored.
func (s *stream) missing(e *Engine, step chat.StepID) string {
	n := s.count
	if s.long && s.pack == nil {
		n = 0
		for _, err := range s.events(e, step) {
			if err != nil {
				break
			}
			n++
		}
	}
	if n == s.count && !s.refused {
		return ""
	}
	return fmt.Sprintf("The raw events stored with this call end after event %d: what followed could not be written to the stream journal.", n)
}

func joinSentences(before, after string) string { return strings.TrimSpace(before + " " + after) }

// end is called when nothing of the stream is needed any more.
func (s *stream) end() {
	if s.loosen != nil {
		s.loosen()
	}
	*s = stream{}
}
