package journal

import "contextinfinity/backend/chat"

// Abandon closes the journal without an end entry, as if the process ended, but syncs the written lines. After End it
// does nothing.
func (w *Writer) Abandon() error {
	w.appending.Lock()
	defer w.appending.Unlock()
	if w.isClosed() {
		return nil
	}
	err := w.shut()
	w.endErr = err
	if err == nil {
		w.endErr = chat.Errorf(chat.CodeConflict, "journal.end", "the stream journal of step %s was closed without an end entry", w.step)
	}
	return err
}

// Replayed is a journal with all its events in order, without the end entry.
type Replayed struct {
	Replay
	Events []chat.RawEvent
}

// Replay reads a complete journal.
func (j *Journals) Replay(step chat.StepID) (Replayed, error) {
	var all Replayed
	var err error
	all.Replay, err = j.Read(step, func(ev chat.RawEvent) error {
		all.Events = append(all.Events, ev)
		return nil
	})
	return all, err
}
