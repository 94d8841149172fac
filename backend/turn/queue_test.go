package turn_test

import (
	"context"
	"sync/atomic"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store"
	"contextinfinity/backend/turn"
)

// A message that is queued behind an answer is sent when the answer ends, even if recovery runs at the same moment.
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
		t.Error("recovery did not run")
	}
}

// between calls do after the queued drafts were listed and before any is taken back, which is when a message may be
// queued behind a turn of this run.
type between struct {
	*store.Store
	do func()
}

func (b *between) LastTurn(ctx context.Context, branch chat.BranchID) (chat.Turn, bool, error) {
	last, ok, err := b.Store.LastTurn(ctx, branch)
	if do := b.do; do != nil {
		b.do = nil
		do()
	}
	return last, ok, err
}

// A message that replaces an old queued one while recovery runs stays queued with its own text.
func TestRecoveryLeavesAMessageQueuedMeanwhile(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	queue := func(text string) {
		t.Helper()
		if err := w.store.SaveDraft(ctx, chat.Draft{BranchID: w.branch.ID, Message: chat.UserText(text), Queued: true}); err != nil {
			t.Fatal(err)
		}
	}
	queue("old")
	s := &between{Store: w.store}
	e := turn.NewEngine(turn.Deps{
		Turns: s, History: s, Contexts: s, Drafts: s, Calls: s, Journals: w.journals, Models: models{w}, Branches: w.branches, Publish: w.seen, Counter: words{},
		Settings: func() turn.Settings { return w.settings },
	})
	s.do = func() { queue("new") }
	if _, err := e.Recover(ctx); err != nil {
		t.Fatal(err)
	}
	if d, ok, err := w.store.Draft(ctx, w.branch.ID); err != nil || !ok || !d.Queued || d.Message.RenderedText() != "new" {
		t.Errorf("%+v, %v, %v", d, ok, err)
	}
	if _, err := e.Recover(ctx); err != nil {
		t.Fatal(err)
	}
	if d, _, err := w.store.Draft(ctx, w.branch.ID); err != nil || d.Queued || d.Message.RenderedText() != "new" {
		t.Errorf("nothing waits for it: %+v, %v", d, err)
	}
}
