package turn_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/journal"
)

// step returns a turn's newest step from the database.
func (w *env) step(id chat.TurnID) chat.Step {
	w.t.Helper()
	steps, err := w.store.Steps(context.Background(), id)
	if err != nil || len(steps) == 0 {
		w.t.Fatalf("%d steps, %v", len(steps), err)
	}
	return steps[len(steps)-1]
}

// TestReasoningCounts: while a model only reasons, its reasoning is journaled, shown and counted, both in the live
// stream and in the database, and can be read after a crash.
func TestReasoningCounts(t *testing.T) {
	for _, durability := range []journal.Durability{journal.Buffered, journal.WriteAhead} {
		w := newEnv(t)
		w.settings.ProgressEvery = time.Millisecond
		w.journals.Configure(journal.Options{Durability: durability, FsyncMs: 1})
		started := make(chan struct{})
		w.provider.script(call{
			events: []string{reasoning("Let me "), reasoning("think.")}, gate: make(chan struct{}),
			after: func(i int) {
				if i == 1 {
					close(started)
				}
			},
		})
		h := w.start("hi")
		<-started
		const bytes = int64(len("Let me think."))
		w.eventually("the reasoning is not shown as durable", func() bool {
			live, ok := w.engine.Live(h.Turn.ID)
			return ok && live.Frame.Displayed == bytes && live.Frame.Durable == bytes && len(live.Blocks) == 1 &&
				reflect.DeepEqual(live.Blocks[0], chat.Reasoning{Summary: "Let me think."})
		})
		w.eventually("the counters are not stored", func() bool {
			s := w.step(h.Turn.ID)
			return s.Outcome.Status == chat.StepRunning && s.DisplayedBytes == bytes && s.DurableBytes == bytes
		})
		c := w.crashed()
		if c.clean(); c.step(h.Turn.ID).DisplayedBytes != bytes {
			t.Errorf("%s: after the crash %+v", durability, c.step(h.Turn.ID))
		}
		c.recover()
		if s := c.step(h.Turn.ID); s.Outcome.Status == chat.StepRunning || s.DisplayedBytes != bytes {
			t.Errorf("%s: recovered %+v", durability, s)
		}
		c.clean()
	}
}

// TestProgressIsStoredWhileItStreams: the byte counters of a running step follow the stream, never decrease, and are
// final once the step has ended.
func TestProgressIsStoredWhileItStreams(t *testing.T) {
	w := newEnv(t)
	w.settings.ProgressEvery = time.Millisecond
	w.journals.Configure(journal.Options{FsyncMs: 1})
	half, rest := make(chan struct{}), make(chan struct{})
	w.provider.script(call{events: []string{text("four"), text("more"), done}, after: func(i int) {
		if i == 0 {
			close(half)
			<-rest
		}
	}})
	h := w.start("hi")
	<-half
	w.eventually("the first four bytes are not stored", func() bool {
		s := w.step(h.Turn.ID)
		return s.DisplayedBytes == 4 && s.DurableBytes == 4
	})
	close(rest)
	w.wait(h)
	for range 2 {
		if s := w.step(h.Turn.ID); s.Outcome.Status != chat.StepCompleted || s.DisplayedBytes != 8 || s.DurableBytes != 8 {
			t.Fatalf("ended %+v", s)
		}
		if err := w.store.StepProgress(t.Context(), w.step(h.Turn.ID).ID, 99, 99); err != nil { // too late
			t.Fatal(err)
		}
	}
	w.clean()
}
