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

// TestReasoningIsCounted: while a model only reasons, its reasoning is journaled and shown, its bytes are counted in the
// live stream and in the database, and the count survives a crash.
func TestReasoningIsCounted(t *testing.T) {
	for _, durability := range []journal.Durability{journal.Buffered, journal.WriteAhead} {
		w := newEnv(t)
		w.settings.ProgressEvery = time.Millisecond
		w.journals.Configure(journal.Options{Durability: durability, FsyncMs: 1})
		reasoningSent := make(chan struct{})
		w.provider.script(call{
			events: []string{reasoning("Let me "), reasoning("think.")}, gate: make(chan struct{}),
			after: func(i int) {
				if i == 1 {
					close(reasoningSent)
				}
			},
		})
		h := w.start("hi")
		<-reasoningSent
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

// TestProgressIsStoredDuringStreaming: the byte counters of a running step follow the stream, and are final once the step
// has ended.
func TestProgressIsStoredDuringStreaming(t *testing.T) {
	w := newEnv(t)
	w.settings.ProgressEvery = time.Millisecond
	w.journals.Configure(journal.Options{FsyncMs: 1})
	firstSent, sendRest := make(chan struct{}), make(chan struct{})
	w.provider.script(call{events: []string{text("four"), text("more"), done}, after: func(i int) {
		if i == 0 {
			close(firstSent)
			<-sendRest
		}
	}})
	h := w.start("hi")
	<-firstSent
	w.eventually("the first four bytes are not stored", func() bool {
		s := w.step(h.Turn.ID)
		return s.DisplayedBytes == 4 && s.DurableBytes == 4
	})
	close(sendRest)
	w.wait(h)
	for range 2 {
		if s := w.step(h.Turn.ID); s.Outcome.Status != chat.StepCompleted || s.DisplayedBytes != 8 || s.DurableBytes != 8 {
			t.Fatalf("ended %+v", s)
		}
		if err := w.store.StepProgress(t.Context(), w.step(h.Turn.ID).ID, 99, 99); err != nil { // ignored after the end
			t.Fatal(err)
		}
	}
	w.clean()
}
