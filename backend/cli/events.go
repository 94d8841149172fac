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

// acceptedEvent is printed once the message is saved.
type acceptedEvent struct {
	SessionID chat.SessionID `json:"session_id"`
	BranchID  chat.BranchID  `json:"branch_id"`
	TurnID    chat.TurnID    `json:"turn_id"`
	Seq       int64          `json:"turn_seq"`
}

// frameEvent is a piece of an answer. The counters are for the step's visible text so far, in bytes of UTF-8; seq
// counts the step's frames from 1 without gaps.
type frameEvent struct {
	TurnID     chat.TurnID `json:"turn_id"`
	StepID     chat.StepID `json:"step_id"`
	Attempt    int         `json:"attempt"`
	Seq        int64       `json:"seq"`
	Block      int         `json:"block"`
	Kind       string      `json:"kind"`
	Text       string      `json:"text"`
	Tool       string      `json:"tool,omitempty"`
	Displayed  int64       `json:"displayed_bytes"`
	Durable    int64       `json:"durable_bytes"`
	JournalSeq int64       `json:"journal_seq"`
}

// announcer prints the events of one answer.
type announcer struct {
	c    *call
	s    *stream
	stop chan struct{}
	done chan struct{}
}

func (c *call) startEvents(s *stream, t chat.Turn) *announcer {
	a := &announcer{c: c, s: s, stop: make(chan struct{}), done: make(chan struct{})}
	s.limitTo(t.ID)
	c.printEvent("accepted", acceptedEvent{t.SessionID, t.BranchID, t.ID, t.Seq}, nil)
	go a.loop()
	return a
}

func (a *announcer) loop() {
	defer close(a.done)
	for {
		select {
		case <-a.s.arrived:
			a.frames()
		case <-a.stop:
			a.frames()
			return
		}
	}
}

func (a *announcer) frames() {
	for _, f := range a.s.take() {
		a.c.printEvent("frame", frameEvent{
			TurnID: f.Turn, StepID: f.Step, Attempt: f.Attempt, Seq: f.Seq, Block: f.Block, Kind: f.Kind, Text: f.Text, Tool: f.Tool,
			Displayed: f.Displayed, Durable: f.Durable, JournalSeq: f.JournalSeq,
		}, nil)
	}
}

// cancel implements presenter.
func (a *announcer) cancel() {
	a.s.unsubscribe()
	close(a.stop)
}

// finish implements presenter. Text that the frames lacked is in "settled".
func (a *announcer) finish(string) bool {
	a.cancel()
	<-a.done
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
