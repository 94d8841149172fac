package turn_test

import (
	"context"
	"sync/atomic"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/turn"
)

// A message that is queued behind an answer is sent when that ends, though recovery
// comes by just then.
func TestRecoveryLeavesAQueuedMessageToItsTurn(t *testing.T) {
	w := newWorld(t)
	gate, begun := make(chan struct{}), make(chan struct{}, 2)
	w.provider.script(call{events: []string{text("a"), done}, gate: gate, after: func(int) { begun <- struct{}{} }}, answer("b"))
	h := w.start("one")
	<-begun
	if _, err := w.engine.SendOrQueue(t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("two")}); err != nil {
		t.Fatal(err)
	}
	var came atomic.Bool
	w.seen.mu.Lock()
	w.seen.hear = func(c chat.Change) {
		if came.Load() || c.Kind != chat.ChangeTurn || w.engine.IsRunning(h.Turn.ID) {
			return
		}
		came.Store(true)
		if _, err := w.engine.Recover(context.Background()); err != nil {
			t.Error(err)
		}
	}
	w.seen.mu.Unlock()
	close(gate)
	w.eventually("the queued message was not answered", func() bool {
		last, ok, err := w.store.LastTurn(context.Background(), w.branch.ID)
		return err == nil && ok && last.Seq == 2 && last.Phase == chat.PhaseResponseFinalized && last.User.RenderedText() == "two"
	})
	w.clean()
	if !came.Load() {
		t.Error("recovery did not come by")
	}
}
