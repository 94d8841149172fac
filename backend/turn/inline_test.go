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

// sendInLine sends a message through InLine and returns its error; joined gets a value when it has to wait.
func (w *env) sendInLine(ctx context.Context, words string, patience time.Duration, joined chan<- string) error {
	return w.engine.InLine(ctx, w.branch.ID, patience, func() { joined <- words }, func() error {
		_, err := w.engine.Send(ctx, turn.Message{Branch: w.branch.ID, Content: chat.UserText(words), Incomplete: turn.IncompleteDiscard})
		return err
	})
}

// Messages that are sent while an answer is running wait for it and are sent in the order of their arrival. A caller
// whose time runs out, or that is cancelled, leaves the queue without sending and without stopping the others.
func TestMessagesWaitInLine(t *testing.T) {
	w := newEnv(t)
	gate, begun := make(chan struct{}), make(chan struct{}, 1)
	w.provider.script(call{events: []string{text("a"), done}, gate: gate, after: func(int) { begun <- struct{}{} }},
		answer("b"), answer("c"), answer("d"))
	w.start("one")
	<-begun
	joined := make(chan string, 9)
	if err := w.sendInLine(t.Context(), "at once", 0, joined); chat.CodeOf(err) != chat.CodeBusy {
		t.Fatalf("without patience: %v", err)
	}
	waiting, cancel := context.WithCancel(t.Context())
	ended := map[string]chan error{}
	for _, words := range []string{"two", "cancelled", "impatient", "three", "four"} {
		ctx, patience := t.Context(), time.Hour
		switch words {
		case "cancelled":
			ctx = waiting
		case "impatient":
			patience = time.Millisecond
		}
		end := make(chan error, 1)
		ended[words] = end
		go func() { end <- w.sendInLine(ctx, words, patience, joined) }()
		if got := <-joined; got != words {
			t.Fatalf("%q waits instead of %q", got, words)
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
	for _, words := range []string{"two", "three", "four"} {
		if err := <-ended[words]; err != nil {
			t.Errorf("%s: %v", words, err)
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
	said := lists.Map(turns, func(x chat.Turn) string { return x.User.RenderedText() })
	if !slices.Equal(said, []string{"one", "two", "three", "four"}) {
		t.Errorf("sent: %q", said)
	}
	w.clean()
}

// CodeBusy for another reason than a running answer is reported at once.
func TestTheLineIsOnlyForRunningAnswers(t *testing.T) {
	w := newEnv(t)
	attempts := 0
	err := w.engine.InLine(t.Context(), w.branch.ID, time.Hour, func() { t.Error("it waited") }, func() error {
		attempts++
		return chat.Errorf(chat.CodeBusy, "test", "Busy.")
	})
	if chat.CodeOf(err) != chat.CodeBusy || attempts != 2 {
		t.Errorf("%v after %d attempts", err, attempts)
	}
}
