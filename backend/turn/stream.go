package turn

import (
	"fmt"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/heap"
)

// maxKept is how many bytes of an attempt's raw events are kept in memory. A longer stream is encoded for the store
// as it arrives, so that its end, possibly Ctrl-C in the middle of a flood, takes no time; if it does not compress
// well, it is read from the journal when the end is stored.
const maxKept = 8 << 20

// stream is what arrived in one attempt, exactly as sent by the provider.
type stream struct {
	kept  []chat.RawEvent // nil once they exceed maxKept
	bytes int
	count int
	long  bool           // more than maxKept
	pack  chat.EventPack // of a long stream; nil: only the journal has it
	// refused: the journal could not be written, so the last event will not be stored
	refused bool
	// loosen ends the memory settings for a long answer.
	loosen func()
}

// add adds the next event; newPack is called once, when the stream becomes long.
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

// events returns all events, to be stored with the step unless they were encoded already.
func (s *stream) events(e *Engine, step chat.StepID) chat.EventSeq {
	if s.long {
		return e.journalEvents(step, s.count)
	}
	return chat.EventsOf(s.kept)
}

// missing is a sentence about stored raw events that will end before the stream did, because its journal, from which
// those of a long stream are read, could not be written completely. Empty: all will be stored.
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
	return fmt.Sprintf("The raw events stored with this call end after event %d: later events could not be written to the stream journal.", n)
}

func joinSentences(before, after string) string { return strings.TrimSpace(before + " " + after) }

// end is called when the stream is no longer needed.
func (s *stream) end() {
	if s.loosen != nil {
		s.loosen()
	}
	*s = stream{}
}
