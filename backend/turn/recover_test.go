package turn_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/turn"
)

// crashed copies an environment's files as a kill at this moment would leave them, and opens the copy.
func (w *env) crashed() *env {
	w.t.Helper()
	dir := w.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(w.dir)); err != nil {
		w.t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(dir, "writer.lock"))
	c := &env{t: w.t, dir: dir, provider: &scripted{}, published: &recorder{}, window: w.window, settings: w.settings, session: w.session, branch: w.branch}
	c.open()
	w.t.Cleanup(c.close)
	return c
}

// killed runs an engine until the scripted events have arrived, and returns the state after a kill at that moment.
func killed(t *testing.T, events ...string) (*env, chat.Turn) {
	t.Helper()
	w := newEnv(t)
	started := make(chan struct{})
	w.provider.script(call{events: events, gate: make(chan struct{}), after: func(i int) {
		if i == len(events)-1 {
			close(started)
		}
	}})
	if len(events) == 0 {
		close(started)
	}
	h := w.start("hi")
	<-started
	if len(events) == 0 {
		w.eventually("the step did not begin", func() bool {
			got, err := w.store.Turn(context.Background(), h.Turn.ID)
			return err == nil && got.Phase == chat.PhaseResponding
		})
	} else {
		w.waitForJournal(events[len(events)-1])
	}
	c := w.crashed()
	got, err := c.store.Turn(t.Context(), h.Turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	return c, got
}

// waitForJournal waits until the event is in a journal's file, which may take a moment on a slow machine.
func (w *env) waitForJournal(event string) {
	w.t.Helper()
	w.eventually("the event was not written", func() bool {
		files, err := filepath.Glob(filepath.Join(w.dir, "streams", "*.jsonl"))
		if err != nil {
			w.t.Fatal(err)
		}
		return slices.ContainsFunc(files, func(file string) bool {
			raw, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(raw), event)
		})
	})
}

func (w *env) recover() chat.RecoveryReport {
	w.t.Helper()
	r, err := w.engine.Recover(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *env) reload(id chat.TurnID) chat.Turn {
	w.t.Helper()
	t, err := w.store.Turn(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

// TestRecoverMidStream is SRD 22.2: the partial text is recovered as incomplete, byte for byte as in the journal; the
// head does not move; recovering again changes nothing.
func TestRecoverMidStream(t *testing.T) {
	w, got := killed(t, text("part "), text("of än answer"))
	report := w.recover()
	if len(report.Items) != 1 || report.Items[0].Kind != chat.RecoveredIncomplete || report.Items[0].Bytes != int64(len("part of än answer")) {
		t.Fatalf("report %+v", report)
	}
	got = w.reload(got.ID)
	w.is(got, chat.PhaseResponding, chat.OutcomeIncomplete, "part of än answer")
	b, _ := w.store.Branch(t.Context(), w.branch.ID)
	if b.HeadSeq != w.branch.HeadSeq || b.HeadState != w.branch.HeadState {
		t.Fatal("partial output moved the head")
	}
	if again := w.recover(); !again.Clean() {
		t.Fatalf("the second recovery did something: %+v", again)
	}
	w.clean()
}

// TestRecoverComplete: a journal with a proper end becomes a completed turn, once.
func TestRecoverComplete(t *testing.T) {
	w, got := killed(t, text("all of it"), done)
	report := w.recover()
	if len(report.Items) != 1 || report.Items[0].Kind != chat.RecoveredCompleted {
		t.Fatalf("report %+v", report)
	}
	w.is(w.reload(got.ID), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "all of it")
	if journals, _ := w.journals.List(); len(journals) != 0 {
		t.Fatalf("journals of final turns are left: %v", journals)
	}
	if again := w.recover(); !again.Clean() {
		t.Fatalf("the second recovery did something: %+v", again)
	}
	w.clean()
}

// TestRecoverNothing: no event had arrived, so the turn fails; its prompt is kept.
func TestRecoverNothing(t *testing.T) {
	w, got := killed(t)
	w.recover()
	got = w.reload(got.ID)
	w.is(got, chat.PhaseFailed, chat.OutcomeFailed, "")
	if got.User.RenderedText() != "hi" || got.Failure.Hint == "" || got.Failure.Code != chat.CodeIncomplete { // a server is not to blame
		t.Fatalf("%+v", got)
	}
	w.clean()
}

// TestRecoverTorn: a torn last line is dropped and reported; the rest is kept.
func TestRecoverTorn(t *testing.T) {
	w, got := killed(t, text("kept "), text("torn"))
	steps, _ := w.store.Steps(t.Context(), got.ID)
	path := filepath.Join(w.dir, w.journals.Path(steps[0].ID))
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw[:len(raw)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	report := w.recover()
	w.is(w.reload(got.ID), chat.PhaseResponding, chat.OutcomeIncomplete, "kept ")
	if len(report.Items) != 2 || report.Items[1].Kind != chat.RecoveredDiscarded {
		t.Fatalf("report %+v", report)
	}
	after, _ := os.ReadFile(path)
	if len(after) != len(raw)-5 {
		t.Fatal("the journal was changed by reading it")
	}
}

// TestRecoverUnsent: a turn that was accepted but never sent is not sent automatically; sending and discarding it
// both work.
func TestRecoverUnsent(t *testing.T) {
	for _, send := range []bool{true, false} {
		w := newEnv(t)
		accepted, err := w.store.Accept(t.Context(), chat.Acceptance{BranchID: w.branch.ID, User: chat.UserText("hi"), Provider: "scripted", Model: "main"})
		if err != nil {
			t.Fatal(err)
		}
		report := w.recover()
		if len(report.Items) != 1 || report.Items[0].Kind != chat.RecoveredUnsent || len(w.provider.requests()) != 0 {
			t.Fatalf("report %+v", report)
		}
		if send {
			h, err := w.engine.SendUnsent(t.Context(), accepted.ID, "")
			if err != nil {
				t.Fatal(err)
			}
			w.is(w.wait(h), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
		} else {
			got, err := w.engine.Discard(t.Context(), accepted.ID)
			if err != nil {
				t.Fatal(err)
			}
			w.is(got, chat.PhaseFailed, chat.OutcomeDiscarded, "")
		}
		w.clean()
	}
}

// TestRecoverContinuation: the text of the previous step is kept too.
func TestRecoverContinuation(t *testing.T) {
	w := newEnv(t)
	started := make(chan struct{})
	w.provider.script(
		call{events: []string{text("first ")}, err: errDropped},
		call{events: []string{text("second")}, gate: make(chan struct{}), after: func(int) { close(started) }},
	)
	got := w.send("hi")
	if _, err := w.engine.Continue(t.Context(), got.ID, ""); err != nil {
		t.Fatal(err)
	}
	<-started
	live, ok := w.engine.Live(got.ID)
	if !ok || !strings.HasPrefix(live.Blocks.RenderedText(), "first ") {
		t.Fatalf("live text of a continuation: %v %q", ok, live.Blocks.RenderedText())
	}
	c := w.crashed()
	c.recover()
	c.is(c.reload(got.ID), chat.PhaseResponding, chat.OutcomeIncomplete, "first second")
	kept, err := c.engine.Keep(t.Context(), got.ID)
	if err != nil {
		t.Fatal(err)
	}
	c.is(kept, chat.PhaseResponseFinalized, chat.OutcomeKept, "first second")
	c.clean()
}

// TestPostStreamPreCommit is SRD 22.3: after a kill between TX-A and the commit, the reconciler commits the head,
// once.
func TestPostStreamPreCommit(t *testing.T) {
	w := newEnv(t)
	w.send("one")
	w.send("two")
	c := w.crashed()
	c.recover()
	if _, err := c.store.RequeueMissing(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.jobs.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b, err := c.store.Branch(t.Context(), c.branch.ID)
	if err != nil || b.HeadSeq != 2 {
		t.Fatalf("head #%d, %v", b.HeadSeq, err)
	}
	states, _ := c.store.States(t.Context(), c.branch.ID)
	if len(states) != 3 { // the root and one for each turn
		t.Fatalf("%d states", len(states))
	}
	c.clean()
}

// TestSendOverCrash: sending after a crashed turn recovers that turn first.
func TestSendOverCrash(t *testing.T) {
	w, got := killed(t, text("half"))
	h, err := w.engine.Send(t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("next"), Incomplete: turn.IncompleteKeep})
	if err != nil {
		t.Fatal(err)
	}
	w.is(w.wait(h), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
	w.is(w.reload(got.ID), chat.PhaseResponseFinalized, chat.OutcomeKept, "half")
}

// TestUsageIsCheckedByTheWindowAfterACrash: usage in a journal is checked like that of a live stream, as long as the
// model is configured.
func TestUsageIsCheckedByTheWindowAfterACrash(t *testing.T) {
	for name, c := range map[string]struct {
		usage    string
		believed bool
	}{
		"more than the window": {`{"input_tokens":900000}`, false},
		"a plausible count":    {`{"input_tokens":11}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			w, crashed := killed(t, text("all of it"), done, `{"t":"usage","s":`+strconv.Quote(c.usage)+`}`)
			w.recover()
			got, err := w.store.Turn(t.Context(), crashed.ID)
			if err != nil || got.Usage == nil {
				t.Fatalf("usage %+v: %v", got.Usage, err)
			}
			if believed := got.Usage.DroppedBecause == ""; believed != c.believed {
				t.Errorf("the usage is %+v", *got.Usage)
			}
		})
	}
}
