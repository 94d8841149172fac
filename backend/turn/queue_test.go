package turn_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/turn"
)

// A message that is queued behind an answer is sent when the answer ends, even if recovery runs at the same moment.
func TestRecoveryLeavesAQueuedMessageToItsTurn(t *testing.T) {
	w := newEnv(t)
	gate, started := make(chan struct{}), make(chan struct{}, 2)
	w.provider.script(call{events: []string{text("a"), done}, gate: gate, after: func(int) { started <- struct{}{} }}, answer("b"))
	h := w.start("one")
	<-started
	if _, err := w.engine.SendOrQueue(t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("two")}); err != nil {
		t.Fatal(err)
	}
	w.afterEnd(h, func() {
		if _, err := w.engine.Recover(context.Background()); err != nil {
			t.Error(err)
		}
	})
	close(gate)
	w.eventually("the queued message was not answered", func() bool {
		last, ok, err := w.store.LastTurn(context.Background(), w.branch.ID)
		return err == nil && ok && last.Seq == 2 && last.Phase == chat.PhaseResponseFinalized && last.User.RenderedText() == "two"
	})
	w.clean()
}

// afterEnd calls do when a running turn has ended, before its queue is sent. The test fails if it never did.
func (w *env) afterEnd(h *turn.Handle, do func()) {
	var called atomic.Bool
	w.published.mu.Lock()
	defer w.published.mu.Unlock()
	w.published.onChange = func(c chat.Change) {
		if c.Kind == chat.ChangeTurn && c.ID == string(h.Turn.ID) && !w.engine.IsRunning(h.Turn.ID) && !called.Swap(true) {
			do()
		}
	}
	w.t.Cleanup(func() {
		if !called.Load() {
			w.t.Error("the end of the turn was not announced")
		}
	})
}

// running starts a turn that is completed when gate is closed, and scripts the answers to further messages.
func (w *env) running(answers ...call) (h *turn.Handle, gate chan struct{}) {
	return w.runningTo(done, answers...)
}

// runningTo is running with another end event.
func (w *env) runningTo(end string, answers ...call) (h *turn.Handle, gate chan struct{}) {
	gate = make(chan struct{})
	started := make(chan struct{}, 2)
	w.provider.script(append([]call{{events: []string{text("a"), end}, gate: gate, after: func(int) { started <- struct{}{} }}}, answers...)...)
	h = w.start("one")
	<-started
	return h, gate
}

// startUnfinished starts a turn whose answer never completes.
func (w *env) startUnfinished() *turn.Handle {
	started := make(chan struct{}, 1)
	w.provider.script(call{events: []string{text("a")}, gate: make(chan struct{}), after: func(int) { started <- struct{}{} }})
	h := w.start("one")
	<-started
	return h
}

const cut = `{"t":"cut"}`

func (w *env) enqueue(texts ...string) {
	w.t.Helper()
	for _, message := range texts {
		h, err := w.engine.SendOrQueue(context.Background(), turn.Message{Branch: w.branch.ID, Content: chat.UserText(message)})
		if err != nil || h != nil {
			w.t.Fatalf("queueing %q returned %v, %v", message, h, err)
		}
	}
}

func (w *env) queue() turn.Queue {
	w.t.Helper()
	q, err := w.engine.Queue(context.Background(), w.branch.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

// waiting returns the texts of the queue, and why it is held.
func (w *env) waiting() string {
	q := w.queue()
	texts := lists.Map(q.Messages, func(m chat.QueuedMessage) string { return m.Message.RenderedText() })
	return strings.TrimSpace(strings.Join(texts, " ") + " " + string(q.Hold.Cause))
}

// waitUntilSent waits until the newest turn is final and has this message.
func (w *env) waitUntilSent(message string) {
	w.t.Helper()
	w.eventually(message+" was not sent", func() bool {
		last, ok, err := w.store.LastTurn(context.Background(), w.branch.ID)
		return err == nil && ok && last.Phase.Finalized() && last.User.RenderedText() == message
	})
}

// checkBranch checks the messages of the branch, in order.
func (w *env) checkBranch(want ...string) {
	w.t.Helper()
	page, err := w.store.Lineage(context.Background(), chat.LineageQuery{Branch: w.branch.ID})
	if err != nil {
		w.t.Fatal(err)
	}
	if texts := lists.Map(page, func(t chat.Turn) string { return t.User.RenderedText() }); !slices.Equal(texts, want) {
		w.t.Errorf("sent: %q", texts)
	}
}

// Queued messages are sent one after another, in the order that they have at that time.
func TestAQueueIsSentInOrder(t *testing.T) {
	w := newEnv(t)
	_, gate := w.running(answer("b"), answer("c"), answer("d"))
	w.enqueue("two", "three", "four")
	q := w.queue()
	if w.waiting() != "two three four" {
		t.Fatal(w.waiting())
	}
	if err := w.engine.MoveQueued(t.Context(), q.Messages[2].ID, 0); err != nil {
		t.Fatal(err)
	}
	if w.waiting() != "four two three" {
		t.Fatal(w.waiting())
	}
	close(gate)
	w.waitUntilSent("three")
	w.checkBranch("one", "four", "two", "three")
	if len(w.queue().Messages) != 0 {
		t.Errorf("%q waits", w.waiting())
	}
	w.clean()
}

// A message that is sent between the end of an answer and the sending of the queue does not overtake the queue, neither
// from the window nor from a command that waits in line.
func TestNothingOvertakesTheQueue(t *testing.T) {
	for _, command := range []bool{false, true} {
		w := newEnv(t)
		h, gate := w.running(answer("b"), answer("c"))
		w.enqueue("two")
		tried, ended := make(chan struct{}), make(chan error, 1)
		if command {
			waits := make(chan struct{})
			go func() {
				ended <- w.engine.SendInOrder(context.Background(), w.branch.ID, time.Hour, func() { close(waits) }, func() error {
					_, err := w.engine.Send(context.Background(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("three")})
					if err == nil {
						close(tried)
					}
					return err
				})
			}()
			<-waits
		}
		w.afterEnd(h, func() {
			if !command {
				w.enqueue("three")
				return
			}
			select { // it has time to be sent too early
			case <-tried:
			case <-time.After(300 * time.Millisecond):
			}
		})
		close(gate)
		w.waitUntilSent("three")
		w.checkBranch("one", "two", "three")
		if command {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		w.clean()
	}
}

// An answer that was cut off, or that ends in calls that are not run, is not complete: the queue is held behind it, and
// the rest of the answer can still be requested.
func TestAnUnfinishedAnswerHoldsTheQueue(t *testing.T) {
	for _, end := range []string{cut, pause} {
		w := newEnv(t)
		w.settings.MaxSteps = 1
		h, gate := w.runningTo(end)
		w.enqueue("two")
		close(gate)
		w.eventually("the queue is not held", func() bool { return w.waiting() == "two answer" })
		w.checkBranch("one")
		if end == cut {
			rest, err := w.engine.Continue(t.Context(), h.Turn.ID, "")
			if err != nil {
				t.Fatal(err)
			}
			w.wait(rest)
		}
		w.clean()
	}
}

// A decision about a turn holds the queue only if the turn is the last one before the queue.
func TestAnOlderTurnDoesNotHoldTheQueue(t *testing.T) {
	w := newEnv(t)
	w.provider.script(call{err: errRefused})
	failed := w.send("zero")
	_, gate := w.running(answer("b"))
	w.enqueue("two")
	if _, err := w.engine.Discard(t.Context(), failed.ID); err != nil {
		t.Fatal(err)
	}
	if w.waiting() != "two" {
		t.Errorf("the queue is %q", w.waiting())
	}
	close(gate)
	w.waitUntilSent("two")
	w.clean()
}

// An answer that ends while a message joins its queue does not hold the queue, even if its turn was read before it
// ended.
func TestAnAnswerEndsWhileAMessageIsQueued(t *testing.T) {
	w := newEnv(t)
	h, gate := w.running(answer("b"), answer("c"))
	w.enqueue("two")
	end := sync.OnceFunc(func() {
		close(gate)
		w.wait(h)
	})
	read := func() error { end(); return nil }
	w.lastTurnRead.Store(&read)
	w.enqueue("three")
	w.lastTurnRead.Store(nil)
	end()
	w.waitUntilSent("three")
	w.checkBranch("one", "two", "three")
	w.clean()
}

// A message is not reported as refused once it is queued, because it would be sent again. The queue says why it is
// held.
func TestAQueuedMessageIsNotReportedAsRefused(t *testing.T) {
	w := newEnv(t)
	h, gate := w.running()
	w.enqueue("two")
	w.afterEnd(h, func() {
		read := func() error { w.lastTurnRead.Store(nil); return errRefused }
		w.lastTurnRead.Store(&read)
		w.enqueue("three")
	})
	close(gate)
	w.eventually("the queue is not held", func() bool { return w.waiting() == "two three error" })
	w.checkBranch("one")
	w.clean()
}

// A stop that saves a complete answer, whose end could not be saved before, also continues the queue behind it.
func TestStopContinuesTheQueue(t *testing.T) {
	newFullDisk(t, 2, func(w *env, _ *refusing, _ func(int) *refusing) {
		h, gate := w.running(answer("b"))
		w.enqueue("two")
		close(gate)
		if _, err := h.Wait(context.Background()); err == nil {
			t.Fatal("the end was not refused")
		}
		synctest.Wait() // it was refused again
		stopped, err := w.engine.Stop(context.Background(), h.Turn.ID)
		if err != nil {
			t.Fatal(err)
		}
		if stopped.Outcome != chat.OutcomeCompleted {
			t.Errorf("the turn is %s %q", stopped.Phase, stopped.Outcome)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		w.checkBranch("one", "two")
		w.clean()
	})
}

// A stopped answer holds the queue until the user resumes it. A message that joins it meanwhile waits too.
func TestAStopHoldsTheQueue(t *testing.T) {
	w := newEnv(t)
	h := w.startUnfinished()
	w.enqueue("two", "three")
	if _, err := w.engine.Stop(t.Context(), h.Turn.ID); err != nil {
		t.Fatal(err)
	}
	w.eventually("the queue is not held", func() bool { return w.waiting() == "two three stop" })
	direct, gate := w.running(answer("b"), answer("c"), answer("d"))
	w.enqueue("four")
	close(gate)
	w.wait(direct)
	if w.waiting() != "two three four stop" {
		t.Fatalf("%q", w.waiting())
	}
	if err := w.engine.ResumeQueue(t.Context(), w.branch.ID); err != nil {
		t.Fatal(err)
	}
	w.waitUntilSent("four")
	w.clean()
}

// An answer that is stopped before its first word was stopped, not cut off.
func TestAnEarlyStopHoldsTheQueue(t *testing.T) {
	w := newEnv(t)
	w.provider.script(call{gate: make(chan struct{})})
	h := w.start("one")
	w.enqueue("two")
	if _, err := w.engine.Stop(t.Context(), h.Turn.ID); err != nil {
		t.Fatal(err)
	}
	w.eventually("the queue is not held", func() bool { return w.waiting() == "two stop" })
	w.clean()
}

// After a restart nothing is sent until the user resumes the queue.
func TestARestartHoldsTheQueue(t *testing.T) {
	w := newEnv(t)
	h := w.startUnfinished()
	w.enqueue("two", "three")
	c := w.crashed()
	c.recover()
	if len(c.provider.requests()) != 0 || c.waiting() != "two three idle" {
		t.Fatalf("%d requests, the queue is %q", len(c.provider.requests()), c.waiting())
	}
	if err := c.engine.ResumeQueue(t.Context(), c.branch.ID); chat.CodeOf(err) != chat.CodeIncomplete || c.waiting() != "two three error" {
		t.Errorf("behind an incomplete answer: %v, the queue is %q", err, c.waiting())
	}
	if _, err := c.engine.Keep(t.Context(), h.Turn.ID); err != nil {
		t.Fatal(err)
	}
	c.provider.script(answer("b"), answer("c"))
	if err := c.engine.ResumeQueue(t.Context(), c.branch.ID); err != nil {
		t.Fatal(err)
	}
	c.waitUntilSent("three")
	c.clean()
}

// A message that cannot be sent stays the first of its queue, with the reason. Without it, the reason is gone, and the
// others still wait for the user.
func TestAQueuedMessageThatIsRefused(t *testing.T) {
	w := newEnv(t)
	_, gate := w.running(answer("b"))
	message := chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{chat.Document{File: "01JZZZZZZZZZZZZZZZZZZZZZZZ", Name: "gone.txt"}, chat.Text{Text: "two"}}}
	if _, err := w.store.Enqueue(t.Context(), w.branch.ID, message, chat.QueueLimit, false); err != nil {
		t.Fatal(err)
	}
	w.enqueue("three")
	if err := w.engine.ResumeQueue(t.Context(), w.branch.ID); err != nil {
		t.Fatal(err)
	}
	close(gate)
	w.eventually("the queue is not held", func() bool { return w.waiting() == "two three error" })
	if err := w.engine.ResumeQueue(t.Context(), w.branch.ID); chat.CodeOf(err) != chat.CodeInvalid || w.queue().Hold.Err == nil {
		t.Errorf("%v, %+v", err, w.queue().Hold)
	}
	if _, err := w.engine.RemoveQueued(t.Context(), w.queue().Messages[0].ID); err != nil || w.waiting() != "three idle" || w.queue().Hold.Err != nil {
		t.Errorf("%v, %q waits, %v", err, w.waiting(), w.queue().Hold.Err)
	}
	w.clean()
}

// An edited message becomes the draft, above the text written since, and is not sent.
func TestAQueuedMessageIsEdited(t *testing.T) {
	w := newEnv(t)
	_, gate := w.running(answer("b"))
	w.enqueue("two", "three")
	if err := w.store.SaveDraft(t.Context(), chat.Draft{BranchID: w.branch.ID, Message: chat.UserText("more")}); err != nil {
		t.Fatal(err)
	}
	first := w.queue().Messages[0]
	if m, err := w.engine.EditQueued(t.Context(), first.ID); err != nil || m.Message.RenderedText() != "two" {
		t.Fatal(m, err)
	}
	if _, err := w.engine.EditQueued(t.Context(), first.ID); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("edited twice: %v", err)
	}
	close(gate)
	w.waitUntilSent("three")
	if d, _, err := w.store.Draft(t.Context(), w.branch.ID); err != nil || d.Message.RenderedText() != "two\n\nmore" {
		t.Errorf("the draft is %q, %v", d.Message.RenderedText(), err)
	}
	w.clean()
}

// A queue has a limit. A deleted message can be restored at its place.
func TestTheLimitOfAQueue(t *testing.T) {
	w := newEnv(t)
	h := w.startUnfinished()
	for range chat.QueueLimit {
		w.enqueue("m")
	}
	if _, err := w.engine.SendOrQueue(t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("more"), FromDraft: true}); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("over the limit: %v", err)
	}
	removed, err := w.engine.RemoveQueued(t.Context(), w.queue().Messages[1].ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.engine.RestoreQueued(t.Context(), w.branch.ID, chat.UserText("restored"), 1); err != nil {
		t.Fatal(err)
	}
	if q := w.queue().Messages; removed.Message.RenderedText() != "m" || len(q) != chat.QueueLimit || q[1].Message.RenderedText() != "restored" {
		t.Errorf("removed %+v, %q waits", removed, w.waiting())
	}
	if _, err := w.engine.Stop(t.Context(), h.Turn.ID); err != nil {
		t.Fatal(err)
	}
	w.clean()
}
