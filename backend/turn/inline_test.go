package turn_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/turn"
)

// sendInOrder sends a message through SendInOrder and returns its error; joined gets a value when it has to wait.
func (w *env) sendInOrder(ctx context.Context, message string, patience time.Duration, joined chan<- string) error {
	return w.engine.SendInOrder(ctx, w.branch.ID, patience, func() { joined <- message }, func() error {
		_, err := w.engine.Send(ctx, turn.Message{Branch: w.branch.ID, Content: chat.UserText(message), Incomplete: turn.IncompleteDiscard})
		return err
	})
}

// Messages that are sent while an answer is running wait for it, and are sent in the order of their arrival. A caller
// whose time runs out, or that is cancelled, leaves the queue without sending and without stopping the others.
func TestMessagesAreSentInOrder(t *testing.T) {
	w := newEnv(t)
	gate, started := make(chan struct{}), make(chan struct{}, 1)
	w.provider.script(call{events: []string{text("a"), done}, gate: gate, after: func(int) { started <- struct{}{} }},
		answer("b"), answer("c"), answer("d"))
	w.start("one")
	<-started
	joined := make(chan string, 9)
	if err := w.sendInOrder(t.Context(), "at once", 0, joined); chat.CodeOf(err) != chat.CodeBusy {
		t.Fatalf("without patience: %v", err)
	}
	waiting, cancel := context.WithCancel(t.Context())
	ended := map[string]chan error{}
	for _, message := range []string{"two", "cancelled", "impatient", "three", "four"} {
		ctx, patience := t.Context(), time.Hour
		switch message {
		case "cancelled":
			ctx = waiting
		case "impatient":
			patience = time.Millisecond
		}
		end := make(chan error, 1)
		ended[message] = end
		go func() { end <- w.sendInOrder(ctx, message, patience, joined) }()
		if got := <-joined; got != message {
			t.Fatalf("%q waits instead of %q", got, message)
		}
	}
	if err := <-ended["impatient"]; chat.CodeOf(err) != chat.CodeBusy {
		t.Errorf("impatient: %v", err)
	}
	cancel()
	if err := <-ended["cancelled"]; chat.CodeOf(err) != chat.CodeCancelled {
		t.Errorf("cancelled: %v", err)
	}
	close(gate)
	for _, message := range []string{"two", "three", "four"} {
		if err := <-ended[message]; err != nil {
			t.Errorf("%s: %v", message, err)
		}
	}
	w.eventually("the last message was not answered", func() bool {
		last, ok, err := w.store.LastTurn(context.Background(), w.branch.ID)
		return err == nil && ok && last.Seq == 4 && last.Phase.Finalized()
	})
	turns, err := w.store.Lineage(t.Context(), chat.LineageQuery{Branch: w.branch.ID})
	if err != nil {
		t.Fatal(err)
	}
	sent := lists.Map(turns, func(x chat.Turn) string { return x.User.RenderedText() })
	if !slices.Equal(sent, []string{"one", "two", "three", "four"}) {
		t.Errorf("sent: %q", sent)
	}
	w.clean()
}

// CodeBusy for a reason other than a running answer is returned at once.
func TestTheLineIsOnlyForRunningAnswers(t *testing.T) {
	w := newEnv(t)
	attempts := 0
	err := w.engine.SendInOrder(t.Context(), w.branch.ID, time.Hour, func() { t.Error("it waited") }, func() error {
		attempts++
		return chat.Errorf(chat.CodeBusy, "test", "Busy.")
	})
	if chat.CodeOf(err) != chat.CodeBusy || attempts != 2 {
		t.Errorf("%v after %d attempts", err, attempts)
	}
}
