package cli

import (
	"bytes"
	"errors"
	"io"

	"contextinfinity/backend/chat"
)

// With --events a verb that runs a turn prints a line of JSON for each event: "accepted" once the message is durable,
// "frame" for each piece of the answer and whenever more of it became durable, and as the last line "settled", with
// the content of --json. An answer that was left with a second Ctrl-C, or whose process was killed, has no "settled".

// announcer prints the events of one answer.
type announcer struct {
	c *call
	*showing
}

func (c *call) startEvents(s *stream, t chat.Turn) *announcer {
	a := &announcer{c: c, showing: s.showing()}
	s.limitTo(t.ID)
	c.printEvent("accepted", fields{ // the message is saved
		{"session_id", t.SessionID},
		{"branch_id", t.BranchID},
		{"turn_id", t.ID},
		{"turn_seq", t.Seq},
	}, nil)
	go a.loop(func() {
		for _, f := range s.take() {
			c.printEvent("frame", frameDocument(f), nil)
		}
	})
	return a
}

// frameDocument is a piece of an answer. The counters are for the step's visible text so far, in bytes of UTF-8; seq
// counts the step's frames from 1 without gaps.
func frameDocument(f chat.Frame) fields {
	return fields{
		{"turn_id", f.Turn},
		{"step_id", f.Step},
		{"attempt", f.Attempt},
		{"seq", f.Seq},
		{"block", f.Block},
		{"kind", f.Kind},
		{"text", f.Text},
		{"tool,omitempty", f.Tool},
		{"displayed_bytes", f.Displayed},
		{"durable_bytes", f.Durable},
		{"journal_seq", f.JournalSeq},
	}
}

// finish implements presenter. Text that the frames lacked is in "settled".
func (a *announcer) finish(string) bool {
	a.wait()
	return true
}

// printEvent prints an event with one write.
func (c *call) printEvent(event string, v any, err error) {
	body, encodeErr := c.eventLine(event, v, err)
	if encodeErr != nil {
		body, _ = c.eventLine(event, nil, errors.Join(err, encodeErr))
	}
	_, _ = c.out.Write(body)
}

func (c *call) finishEvents(err error) {
	if errors.Is(err, errQuit) { // an announcer may still write
		return
	}
	c.printEvent("settled", c.reply.doc, err)
}

// completeLines passes on complete lines only, so that a reader never gets a part of a line if the program ends.
type completeLines struct {
	to   io.Writer
	rest []byte
}

func (w *completeLines) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	if end := bytes.LastIndexByte(w.rest, '\n') + 1; end > 0 {
		if _, err := w.to.Write(w.rest[:end]); err != nil {
			return len(p), err
		}
		w.rest = append(w.rest[:0], w.rest[end:]...)
	}
	return len(p), nil
}
