package turn_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/store"
	"contextinfinity/backend/turn"
)

var (
	errOverloaded = &llm.Error{Code: chat.CodeUnavailable, Status: 529, Message: "overloaded", Retry: true}
	errLimited    = &llm.Error{Code: chat.CodeRateLimited, Status: 429, Message: "slow down", Retry: true, RetryAfter: 2 * time.Millisecond}
	errRefused    = &llm.Error{Code: chat.CodeAuth, Status: 401, Message: "bad key"}
	errDropped    = &llm.Error{Code: chat.CodeUnavailable, Message: "connection reset", Retry: true}
)

// TestEndings: every way in which a stream can end leads to the phase and outcome defined in SPEC 4.
func TestEndings(t *testing.T) {
	four := []call{{err: errOverloaded}, {err: errOverloaded}, {err: errOverloaded}, {err: errOverloaded}}
	tests := []struct {
		name     string
		calls    []call
		phase    chat.Phase
		outcome  chat.Outcome
		answer   string
		code     chat.Code
		attempts int
	}{
		{"done", []call{{events: []string{text("hel"), text("lo"), done}}}, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "hello", "", 1},
		{"retried once", []call{{err: errLimited}, {events: []string{text("a"), done}}}, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "a", "", 2},
		{"four tries", four, chat.PhaseFailed, chat.OutcomeFailed, "", chat.CodeUnavailable, 4},
		{"not retryable", []call{{err: errRefused}}, chat.PhaseFailed, chat.OutcomeFailed, "", chat.CodeAuth, 1},
		{"dropped after text", []call{{events: []string{text("par")}, err: errDropped}}, chat.PhaseResponding, chat.OutcomeIncomplete, "par", chat.CodeUnavailable, 1},
		{"dropped after an event without text", []call{{events: []string{`{"t":"ping"}`}, err: errDropped}}, chat.PhaseFailed, chat.OutcomeFailed, "", chat.CodeUnavailable, 1},
		{"no terminal event, text", []call{{events: []string{text("par")}}}, chat.PhaseResponding, chat.OutcomeIncomplete, "par", chat.CodeUnavailable, 1},
		{"no terminal event, nothing", []call{{}}, chat.PhaseFailed, chat.OutcomeFailed, "", chat.CodeUnavailable, 1},
		{"error event after text", []call{{events: []string{text("x"), `{"t":"error","code":"provider"}`}}}, chat.PhaseResponding, chat.OutcomeIncomplete, "x", chat.CodeProvider, 1},
		{"error event alone", []call{{events: []string{`{"t":"error","code":"provider"}`}}}, chat.PhaseFailed, chat.OutcomeFailed, "", chat.CodeProvider, 1},
		{"done without a word", []call{{events: []string{done}}}, chat.PhaseFailed, chat.OutcomeFailed, "", chat.CodeProvider, 1},
		{"done with blank text", []call{{events: []string{text(" \n"), done}}}, chat.PhaseFailed, chat.OutcomeFailed, " \n", chat.CodeProvider, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newEnv(t)
			w.provider.script(tt.calls...)
			got := w.send("hi")
			w.is(got, tt.phase, tt.outcome, tt.answer)
			if code := failureCode(got); code != tt.code {
				t.Errorf("failure code %q, want %q", code, tt.code)
			}
			steps, err := w.store.Steps(t.Context(), got.ID)
			if err != nil || len(steps) != tt.attempts {
				t.Errorf("%d attempts (%v), want %d", len(steps), err, tt.attempts)
			}
			w.clean()
		})
	}
}

func failureCode(t chat.Turn) chat.Code {
	if t.Failure == nil {
		return ""
	}
	return t.Failure.Code
}

// TestPromptIsDurableFirst: the prompt is in the database before the first byte is sent.
func TestPromptIsDurableFirst(t *testing.T) {
	w := newEnv(t)
	var found bool
	w.provider.script(call{events: []string{text("a"), done}, after: func(i int) {
		last, ok, err := w.store.LastTurn(context.Background(), w.branch.ID)
		found = err == nil && ok && last.User.RenderedText() == "remember me"
	}})
	w.send("remember me")
	if !found {
		t.Fatal("the prompt was not in the database while the answer streamed")
	}
}

// TestStop: the text that arrived becomes a final answer, marked as stopped; without text the turn fails.
func TestStop(t *testing.T) {
	for _, events := range [][]string{{text("so far")}, nil} {
		w := newEnv(t)
		started := make(chan struct{})
		w.provider.script(call{events: append([]string{`{"t":"ping"}`}, events...), gate: make(chan struct{}), after: func(i int) {
			if i == len(events) {
				close(started)
			}
		}})
		h := w.start("hi")
		<-started
		got, err := w.engine.Stop(t.Context(), h.Turn.ID)
		if err != nil {
			t.Fatal(err)
		}
		if events == nil {
			w.is(got, chat.PhaseFailed, chat.OutcomeFailed, "")
		} else {
			w.is(got, chat.PhaseResponseFinalized, chat.OutcomeStopped, "so far")
		}
		w.clean()
	}
}

// TestContinueAfterStop: a stopped answer is final and does not change. Continuing it is a new message, which is
// possible only at the end of the conversation.
func TestContinueAfterStop(t *testing.T) {
	w := newEnv(t)
	started := make(chan struct{})
	w.provider.script(call{events: []string{text("so far")}, gate: make(chan struct{}), after: func(int) { close(started) }})
	h := w.start("hi")
	<-started
	stopped, err := w.engine.Stop(t.Context(), h.Turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := w.engine.Continue(t.Context(), stopped.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := w.wait(rest); got.Seq != 2 || got.Phase != chat.PhaseResponseFinalized {
		t.Fatalf("%+v", got)
	}
	w.is(w.reload(stopped.ID), chat.PhaseResponseFinalized, chat.OutcomeStopped, "so far")
	if _, err := w.engine.Continue(t.Context(), stopped.ID, ""); chat.CodeOf(err) != chat.CodeConflict {
		t.Fatalf("continuing in the middle: %v", err)
	}
	w.clean()
}

// TestIdleTimeout: a stream without events ends with an error.
func TestIdleTimeout(t *testing.T) {
	w := newEnv(t)
	w.settings.IdleTimeout = 20 * time.Millisecond
	w.provider.script(call{events: []string{text("then nothing")}, gate: make(chan struct{})})
	got := w.send("hi")
	w.is(got, chat.PhaseResponding, chat.OutcomeIncomplete, "then nothing")
	if got.Failure.Code != chat.CodeTimeout {
		t.Fatalf("failure %+v", got.Failure)
	}
}

// TestDecisions: keep, discard, retry and continue of an incomplete turn.
func TestDecisions(t *testing.T) {
	incomplete := func(t *testing.T) (*env, chat.Turn) {
		w := newEnv(t)
		w.provider.script(call{events: []string{text("half")}, err: errDropped})
		got := w.send("hi")
		w.is(got, chat.PhaseResponding, chat.OutcomeIncomplete, "half")
		return w, got
	}
	t.Run("keep", func(t *testing.T) {
		w, got := incomplete(t)
		got, err := w.engine.Keep(t.Context(), got.ID)
		if err != nil {
			t.Fatal(err)
		}
		w.is(got, chat.PhaseResponseFinalized, chat.OutcomeKept, "half")
		w.clean()
	})
	t.Run("discard", func(t *testing.T) {
		w, got := incomplete(t)
		got, err := w.engine.Discard(t.Context(), got.ID)
		if err != nil {
			t.Fatal(err)
		}
		w.is(got, chat.PhaseFailed, chat.OutcomeDiscarded, "half") // still readable
		w.clean()
	})
	t.Run("discard a failed one", func(t *testing.T) {
		w := newEnv(t)
		w.provider.script(call{err: errRefused})
		failed := w.send("hi")
		w.is(failed, chat.PhaseFailed, chat.OutcomeFailed, "")
		got, err := w.engine.Discard(t.Context(), failed.ID)
		if err != nil {
			t.Fatal(err)
		}
		w.is(got, chat.PhaseFailed, chat.OutcomeDiscarded, "")
		if got.Failure == nil || got.Failure.Code != chat.CodeAuth { // the original reason is kept
			t.Errorf("%+v", got.Failure)
		}
		if _, err := w.engine.Discard(t.Context(), failed.ID); chat.CodeOf(err) != chat.CodeConflict {
			t.Errorf("discarded twice: %v", err)
		}
		w.clean()
	})
	t.Run("retry", func(t *testing.T) {
		w, got := incomplete(t)
		w.provider.script(call{events: []string{text("whole"), done}})
		h, err := w.engine.Retry(t.Context(), got.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		got = w.wait(h)
		w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "whole")
		steps, _ := w.store.Steps(t.Context(), got.ID)
		if len(steps) != 2 || steps[0].Attempt != 1 || steps[1].Attempt != 2 {
			t.Fatalf("steps %+v: the old attempt is kept", steps)
		}
		w.clean()
	})
	t.Run("a retry without text keeps the text of the first attempt", func(t *testing.T) {
		w, got := incomplete(t)
		w.provider.script(call{err: errRefused})
		h, err := w.engine.Retry(t.Context(), got.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		w.is(w.wait(h), chat.PhaseResponding, chat.OutcomeIncomplete, "half")
		w.clean()
	})
	t.Run("continue", func(t *testing.T) {
		w, got := incomplete(t)
		w.provider.script(call{events: []string{text(" and the rest"), done}})
		h, err := w.engine.Continue(t.Context(), got.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		w.is(w.wait(h), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "half and the rest")
		reqs := w.provider.requests()
		if !strings.Contains(reqs[1], `"half"`) || !strings.Contains(reqs[1], "cut off") {
			t.Fatalf("the model was not shown its partial answer: %s", reqs[1])
		}
		w.clean()
	})
}

// TestBlockedBranch: an incomplete turn blocks its branch until the policy decides about it.
func TestBlockedBranch(t *testing.T) {
	for policy, want := range map[turn.IncompletePolicy]chat.Outcome{
		turn.IncompleteRefuse: chat.OutcomeIncomplete, turn.IncompleteKeep: chat.OutcomeKept, turn.IncompleteDiscard: chat.OutcomeDiscarded,
	} {
		w := newEnv(t)
		w.provider.script(call{events: []string{text("half")}, err: errDropped})
		first := w.send("one")
		h, err := w.engine.Send(t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("two"), Incomplete: policy})
		if policy == turn.IncompleteRefuse {
			if chat.CodeOf(err) != chat.CodeIncomplete {
				t.Fatalf("sending past an incomplete turn: %v", err)
			}
		} else {
			if err != nil {
				t.Fatal(err)
			}
			w.is(w.wait(h), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
		}
		if first, err = w.store.Turn(t.Context(), first.ID); err != nil || first.Outcome != want {
			t.Fatalf("policy %s: %s %v, want %s", policy, first.Outcome, err, want)
		}
		w.clean()
	}
}

// TestSummaryLag is SRD 22.1: the context of a turn that is sent right after another contains that turn in full, as a
// pending turn.
func TestSummaryLag(t *testing.T) {
	w := newEnv(t)
	w.provider.script(call{events: []string{text("the answer is ELEPHANT"), done}})
	w.send("what is it?")
	w.send("and now?")
	if req := w.provider.requests()[1]; !strings.Contains(req, "ELEPHANT") || !strings.Contains(req, "what is it?") {
		t.Fatalf("the pending turn is not in the next context: %s", req)
	}
	pending, err := w.store.PendingTurns(t.Context(), w.branch.ID)
	if err != nil || len(pending) != 2 {
		t.Fatalf("%d pending turns (%v), want 2", len(pending), err)
	}
	if _, err := w.jobs.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := w.store.Branch(t.Context(), w.branch.ID)
	if err != nil || b.HeadSeq != 2 {
		t.Fatalf("head is #%d (%v), want #2", b.HeadSeq, err)
	}
	for _, p := range pending {
		got, err := w.store.Turn(t.Context(), p.ID)
		if err != nil || got.Phase != chat.PhaseDone || got.StateAfter == "" {
			t.Fatalf("turn #%d is %s with state %q (%v)", got.Seq, got.Phase, got.StateAfter, err)
		}
	}
	w.clean()
}

// TestFailedTurnsAreNotInTheContext: a failed turn blocks nothing and is in no context; retrying it creates a new turn
// that refers to it.
func TestFailedTurnsAreNotInTheContext(t *testing.T) {
	w := newEnv(t)
	w.provider.script(call{err: errRefused})
	failed := w.send("SECRETLY broken")
	w.send("next")
	if strings.Contains(w.provider.requests()[1], "SECRETLY") {
		t.Fatal("a failed turn is in the next context")
	}
	h, err := w.engine.Retry(t.Context(), failed.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	again := w.wait(h)
	if again.RetryOf != failed.ID || again.Seq != 3 || again.Phase != chat.PhaseResponseFinalized {
		t.Fatalf("the retry is %+v", again)
	}
	w.clean()
}

// TestTheQuestionIsSentOnce: however often a failed turn was sent again, the model gets its question once, also in the
// next message's context. The record keeps every try.
func TestTheQuestionIsSentOnce(t *testing.T) {
	w := newEnv(t)
	w.provider.script(call{err: errRefused}, call{err: errRefused}, call{err: errRefused}, call{events: []string{text("The river."), done}}, call{events: []string{text("Yes."), done}})
	last := w.send("WHICHWATER runs here?")
	for range 3 {
		h, err := w.engine.Retry(t.Context(), last.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		again := w.wait(h)
		if again.RetryOf != last.ID || again.Seq != last.Seq+1 {
			t.Fatalf("the retry is %+v", again)
		}
		last = again
	}
	w.is(last, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "The river.")
	w.send("really?")
	for i, body := range w.provider.requests()[3:] {
		if n := strings.Count(body, "WHICHWATER"); n != 1 {
			t.Errorf("request %d contains the question %d times: %s", i, n, body)
		}
	}
	w.clean()
}

// TestRetryFinalForks: regenerating a final answer never overwrites it.
func TestRetryFinalForks(t *testing.T) {
	w := newEnv(t)
	w.send("one")
	second := w.send("two")
	h, err := w.engine.Retry(t.Context(), second.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	again := w.wait(h)
	if again.BranchID == second.BranchID || again.Seq != 2 || again.RetryOf != second.ID {
		t.Fatalf("the retry is %+v", again)
	}
	s, err := w.store.Session(t.Context(), w.session.ID)
	if err != nil || s.ActiveBranch != again.BranchID {
		t.Fatalf("the fork is not active: %v", err)
	}
	w.clean()
}

// TestOverBudget: the prompt is kept and the error contains the numbers.
func TestOverBudget(t *testing.T) {
	w := newEnv(t)
	w.window = 2000
	got := w.send(strings.Repeat("word ", 5000))
	w.is(got, chat.PhaseFailed, chat.OutcomeFailed, "")
	if got.Failure.Code != chat.CodeOverBudget || !strings.Contains(got.Failure.Message, "5004") {
		t.Fatalf("failure %+v", got.Failure)
	}
	if len(w.provider.requests()) != 0 {
		t.Fatal("a request over budget was sent")
	}
}

// TestBadMessages: invalid messages are refused before anything is written.
func TestBadMessages(t *testing.T) {
	w := newEnv(t)
	for _, s := range []string{"", "  \n", "bad \xff byte"} {
		_, err := w.engine.Send(t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.UserText(s)})
		if chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("sending %q: %v", s, err)
		}
	}
	if _, ok, _ := w.store.LastTurn(t.Context(), w.branch.ID); ok {
		t.Error("a refused message created a turn")
	}
}

func (w *env) eventually(msg string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	w.t.Fatal(msg)
}

// TestFrames: frames are numbered without gaps, add up to the answer, and count its bytes; durable never exceeds
// displayed.
func TestFrames(t *testing.T) {
	for _, writeAhead := range []bool{false, true} {
		w := newEnv(t)
		if writeAhead {
			w.journals.Configure(journal.Options{Durability: journal.WriteAhead})
		}
		var events []string
		for range 200 {
			events = append(events, text("wörd "))
		}
		w.provider.script(call{events: append(events, done)})
		got := w.send("hi")
		var sb strings.Builder
		var last chat.Frame
		for i, f := range w.published.all() {
			if f.Seq != int64(i+1) {
				t.Fatalf("frame %d has seq %d", i+1, f.Seq)
			}
			if f.Durable > f.Displayed || f.Displayed < last.Displayed || f.Durable < last.Durable {
				t.Fatalf("wrong counters: %+v after %+v", f, last)
			}
			sb.WriteString(f.Text)
			if f.Displayed != int64(sb.Len()) {
				t.Fatalf("displayed %d of %d bytes", f.Displayed, sb.Len())
			}
			if writeAhead && f.Text != "" && f.Durable != f.Displayed {
				t.Fatalf("write-ahead showed text before it was durable: %+v", f)
			}
			last = f
		}
		if sb.String() != got.Assistant.RenderedText() || last.Durable != int64(sb.Len()) {
			t.Fatalf("frames add up to %d bytes, %d durable, answer has %d", sb.Len(), last.Durable, len(got.Assistant.RenderedText()))
		}
	}
}

// TestConcurrentBranches: two branches stream at the same time, but each branch runs one turn at a time.
func TestConcurrentBranches(t *testing.T) {
	w := newEnv(t)
	base := w.send("base")
	fork, err := w.branches.After(t.Context(), base.ID, "side", false)
	if err != nil {
		t.Fatal(err)
	}
	gate := make(chan struct{})
	w.provider.script(call{events: []string{text("a"), done}, gate: gate}, call{events: []string{text("b"), done}, gate: gate})
	onMain := w.start("on main")
	onFork, err := w.engine.Send(t.Context(), turn.Message{Branch: fork.ID, Content: chat.UserText("on side")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.engine.Send(t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("too soon")})
	if chat.CodeOf(err) != chat.CodeBusy {
		t.Fatalf("a second turn on a running branch: %v", err)
	}
	close(gate)
	if a, b := w.wait(onMain), w.wait(onFork); a.Phase != chat.PhaseResponseFinalized || b.Phase != chat.PhaseResponseFinalized {
		t.Fatalf("%s and %s", a.Phase, b.Phase)
	}
	w.clean()
}

// TestClose keeps the text that arrived.
func TestClose(t *testing.T) {
	w := newEnv(t)
	started := make(chan struct{})
	w.provider.script(call{events: []string{text("so far")}, gate: make(chan struct{}), after: func(int) { close(started) }})
	h := w.start("hi")
	<-started
	if err := w.engine.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.is(w.wait(h), chat.PhaseResponding, chat.OutcomeIncomplete, "so far")
	if _, err := w.engine.Send(t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("x"), Incomplete: turn.IncompleteKeep}); err == nil {
		t.Fatal("a closed engine started a turn")
	}
}

// TestTheEndOfATurnCannotBeSaved: if the end of a turn cannot be written to the database, its journal still has it,
// and the next decision recovers it without a restart.
func TestTheEndOfATurnCannotBeSaved(t *testing.T) {
	w := newEnv(t)
	broken := &failing{Store: w.store, err: errors.New("disk full")}
	e := turn.NewEngine(turn.Deps{
		Turns: broken, History: broken, Contexts: broken, Drafts: broken, Calls: broken, Journals: w.journals, Models: models{w}, Branches: w.branches, Publish: w.published, Counter: words{},
		Settings: func() turn.Settings { return w.settings },
	})
	w.provider.script(call{events: []string{text("precious"), done}})
	h, err := e.Send(t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("hi")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Wait(t.Context()); err == nil {
		t.Fatal("the failure was not reported")
	}
	open, err := w.store.Turn(t.Context(), h.Turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	unsaved, ok := e.UnsavedEnd(open)
	if !ok || unsaved.Blocks.RenderedText() != "precious" || unsaved.Frame.Displayed != 8 || unsaved.Failure == nil {
		t.Errorf("the unsaved end: %v %+v", ok, unsaved)
	}
	broken.err = nil
	h, err = e.Send(t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("next")})
	if err != nil {
		t.Fatal(err)
	}
	w.wait(h)
	first, err := w.store.Lineage(t.Context(), chat.LineageQuery{Branch: w.branch.ID, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.is(first[0], chat.PhaseResponseFinalized, chat.OutcomeCompleted, "precious")
	if _, ok := e.UnsavedEnd(first[0]); ok {
		t.Error("a resolved turn still has an unsaved end")
	}
	w.clean()
}

// failing is a store whose Finalize fails while err is set.
type failing struct {
	*store.Store
	err error
}

func (f *failing) Finalize(ctx context.Context, in chat.Finalization) (chat.Turn, error) {
	if f.err != nil {
		return chat.Turn{}, f.err
	}
	return f.Store.Finalize(ctx, in)
}

// TestWaitLevels: a turn's background work runs up to the requested level.
func TestWaitLevels(t *testing.T) {
	for level, want := range map[jobs.Level]chat.Phase{
		jobs.LevelFinalized: chat.PhaseResponseFinalized, jobs.LevelCommitted: chat.PhaseStateCommitted, jobs.LevelIndexed: chat.PhaseDone,
	} {
		w := newEnv(t)
		got := w.send("hi")
		got, err := w.jobs.RunTurn(t.Context(), got.ID, level)
		if err != nil || got.Phase != want {
			t.Errorf("%s: %s (%v), want %s", level, got.Phase, err, want)
		}
	}
}

// TestShrunkOverBudget: if the second, smaller context does not fit either, the turn fails with that error and not
// with the one that ended its step.
func TestShrunkOverBudget(t *testing.T) {
	w := newEnv(t)
	w.window = 8000
	w.provider.script(call{err: &llm.Error{Code: chat.CodeTooLarge, Status: 400, Message: "too long"}})
	got := w.send(strings.Repeat("word ", 6500))
	w.is(got, chat.PhaseFailed, chat.OutcomeFailed, "")
	if got.Failure.Code != chat.CodeOverBudget || got.Failure.Hint == "" {
		t.Fatalf("%+v", got.Failure)
	}
	w.clean()
}

// TestStopBeforeTheRetryBegins: stopping right after Retry leaves the turn incomplete, with its text.
func TestStopBeforeTheRetryBegins(t *testing.T) {
	for range 20 {
		w := newEnv(t)
		w.provider.script(call{events: []string{text("half")}, err: errDropped}, call{gate: make(chan struct{})})
		got := w.send("hi")
		if _, err := w.engine.Retry(t.Context(), got.ID, ""); err != nil {
			t.Fatal(err)
		}
		stopped, err := w.engine.Stop(t.Context(), got.ID)
		if err != nil {
			t.Fatal(err)
		}
		if stopped.Outcome != chat.OutcomeStopped { // the retry had begun, so the user stopped it
			w.is(stopped, chat.PhaseResponding, chat.OutcomeIncomplete, "half")
		} else {
			w.is(stopped, chat.PhaseResponseFinalized, chat.OutcomeStopped, "half")
		}
	}
}

// TestForkBeforeAFailedTurn: pending turns before it are committed first.
func TestForkBeforeAFailedTurn(t *testing.T) {
	w := newEnv(t)
	w.send("one")
	w.provider.script(call{err: errRefused})
	w.send("two")
	third := w.send("three")
	if _, err := w.branches.Before(t.Context(), third.ID, "", true); err != nil {
		t.Fatal(err)
	}
	w.clean()
}

// Events of unknown types are logged with their types, and nothing else of them is (SRD 11.1).
func TestUnknownEventsAreLogged(t *testing.T) {
	w := newEnv(t)
	var log bytes.Buffer
	w.log = slog.New(slog.NewTextHandler(&log, nil))
	w.restart()
	w.provider.script(call{events: []string{event(wireEvent{T: "unknown", S: "response.telepathy.delta", In: "a secret thought"}), text("Known."), done}})
	w.is(w.send("hi"), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "Known.")
	if said := log.String(); !strings.Contains(said, "unknown types") || !strings.Contains(said, "response.telepathy.delta") || strings.Contains(said, "a secret thought") {
		t.Errorf("the log says %q", said)
	}
	w.clean()
}
