package turn_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/store"
	"contextinfinity/backend/turn"
)

// history is a conversation in a program that is killed again and again.
type history struct {
	t        *rapid.T
	w        *env
	p        *program
	clock    *clock.Fake
	accepted map[chat.TurnID]string // acknowledged prompts
	n        int
}

func newHistory(t *testing.T, rt *rapid.T) *history {
	w := &env{t: t, provider: &scripted{}, published: &recorder{}, window: 100000}
	var err error
	if w.dir, err = os.MkdirTemp(t.TempDir(), "run"); err != nil {
		t.Fatal(err)
	}
	w.settings = turn.Settings{
		IdleTimeout: time.Minute, FrameEvery: time.Millisecond, Backoff: func(int) time.Duration { return 0 },
		ToolsMode: llm.ToolsDisabled, Policy: prompt.DefaultPolicy(),
	}
	h := &history{t: rt, w: w, clock: clock.NewFake(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), accepted: map[chat.TurnID]string{}}
	h.p = w.run(h.clock, math.MaxInt32)
	if w.session, w.branch, err = w.store.CreateSession(context.Background(), chat.NewSession{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	h.p.die()
	return h
}

// scripts are the possible courses of an answer.
var scripts = map[string]call{
	"complete":          {events: []string{text("all "), text("of it"), done}},
	"cut":               {events: []string{text("half ")}},
	"failed":            {events: []string{event(wireEvent{T: "error", Code: chat.CodeProvider})}},
	"failed after text": {events: []string{text("some "), event(wireEvent{T: "error", Code: chat.CodeProvider})}},
	"nothing":           {err: &llm.Error{Code: chat.CodeAuth}},
	"refused":           {err: &llm.Error{Code: chat.CodeUnavailable, Retry: true}},
	"a panic":           {events: []string{text("read "), `{"t":"panic"}`, text("unread")}},
}

func (h *history) draw(label string, values ...string) string {
	return rapid.SampledFrom(values).Draw(h.t, label)
}

// wait waits for the end of a run, whatever its result.
func (h *history) wait(run *turn.Handle, err error) {
	if err != nil || run == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := run.Wait(ctx); ctx.Err() != nil {
		h.t.Fatalf("a run did not end: %v", err)
	}
}

// act performs one action of a user or of time. Errors are expected, because the program may be dying.
func (h *history) act() {
	ctx, e := context.Background(), h.w.engine
	names := make([]string, 0, len(scripts))
	for name := range scripts {
		names = append(names, name)
	}
	slices.Sort(names)
	h.w.provider.script(scripts[h.draw("answer", names...)])
	last, ok, err := h.w.store.LastTurn(ctx, h.w.branch.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	action := h.draw("act", "send", "send", "send", "decide", "work", "reconcile", "time")
	switch {
	case action == "work":
		_, _ = h.w.jobs.Drain(ctx)
	case action == "reconcile":
		_, _ = h.p.reconciler.Reconcile(ctx)
	case action == "time":
		h.clock.Advance(time.Duration(rapid.IntRange(1, 600).Draw(h.t, "seconds")) * time.Second)
	case action == "decide" && ok:
		h.decide(e, last.ID)
	default:
		h.n++
		message := fmt.Sprintf("message %d", h.n)
		policy := rapid.SampledFrom([]turn.IncompletePolicy{turn.IncompleteKeep, turn.IncompleteDiscard, turn.IncompleteRefuse}).Draw(h.t, "policy")
		run, err := e.Send(ctx, turn.Message{Branch: h.w.branch.ID, Content: chat.UserText(message), Incomplete: policy})
		if err == nil {
			h.accepted[run.Turn.ID] = message
		}
		h.wait(run, err)
	}
}

func (h *history) decide(e *turn.Engine, id chat.TurnID) {
	ctx := context.Background()
	switch h.draw("decision", "keep", "discard", "retry", "continue", "send") {
	case "keep":
		_, _ = e.Keep(ctx, id)
	case "discard":
		_, _ = e.Discard(ctx, id)
	case "retry":
		h.wait(e.Retry(ctx, id, ""))
	case "continue":
		h.wait(e.Continue(ctx, id, ""))
	case "send":
		h.wait(e.SendUnsent(ctx, id, ""))
	}
}

// catchUp reconciles and works until nothing is due, then returns every byte of the database.
func (h *history) catchUp() []byte {
	ctx := context.Background()
	if _, err := h.p.reconciler.Reconcile(ctx); err != nil {
		h.t.Fatal(err)
	}
	for {
		n, _, err := h.p.reconciler.CatchUp(ctx)
		if err != nil {
			h.t.Fatal(err)
		}
		if n == 0 {
			break
		}
		h.clock.Advance(chat.MaxJobPause)
	}
	raw, err := os.ReadFile(filepath.Join(h.w.dir, store.DatabaseFile))
	if err != nil {
		h.t.Fatal(err)
	}
	return raw
}

// check asserts that nothing is lost, duplicated or left open.
func (h *history) check() {
	ctx := context.Background()
	for id, message := range h.accepted {
		t, err := h.w.store.Turn(ctx, id)
		if err != nil || t.User.RenderedText() != message {
			h.t.Fatalf("an acknowledged prompt is lost: %v", err)
		}
	}
	list, err := h.w.store.Branches(ctx, h.w.session.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, b := range list {
		h.checkBranch(b.Branch)
	}
	if q, running, failed, err := h.w.store.JobCounts(ctx); err != nil || q+running+failed != 0 {
		h.t.Fatalf("%d queued, %d running, %d failed, %v", q, running, failed, err)
	}
	found, err := h.w.store.Verify(ctx)
	if err != nil || len(found) > 0 {
		h.t.Fatalf("verify: %+v %v", found, err)
	}
	contexts, err := h.w.engine.VerifyContexts(ctx)
	if err != nil || len(contexts) > 0 {
		h.t.Fatalf("verify: %+v %v", contexts, err)
	}
}

func (h *history) checkBranch(b chat.Branch) {
	ctx := context.Background()
	states, err := h.w.store.States(ctx, b.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	seqs := map[int64]bool{}
	for _, s := range states {
		if s.BranchID == b.ID && seqs[s.Seq] {
			h.t.Fatalf("two states #%d", s.Seq)
		}
		seqs[s.Seq] = true
	}
	turns, err := h.w.store.Lineage(ctx, chat.LineageQuery{Branch: b.ID})
	if err != nil {
		h.t.Fatal(err)
	}
	covered := map[chat.StateID]bool{}
	for _, t := range turns {
		switch {
		case t.Phase == chat.PhaseDone:
			if t.BranchID == b.ID && covered[t.StateAfter] {
				h.t.Fatalf("turn %d shares its state", t.Seq)
			}
			covered[t.StateAfter] = true
		case t.Phase == chat.PhaseFailed, t.Incomplete(), t.Unsent():
		default:
			h.t.Fatalf("turn %d is left %s %q", t.Seq, t.Phase, t.Outcome)
		}
	}
	chunks := map[string]bool{}
	page, _, err := h.w.store.Chunks(ctx, chat.ChunkQuery{Within: chat.Within{Branch: b.ID}, Limit: 1000})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, c := range page {
		key := fmt.Sprint(c.SourceTurn, c.Role, c.Start, c.End, c.ContentHash)
		if chunks[key] {
			h.t.Fatalf("a chunk occurs twice: %s", key)
		}
		chunks[key] = true
	}
}

// TestReconcilingTwiceIsOnce is SPEC 2.6 and SRD 6.5: random histories, killed at random writes, some of them torn,
// some done although an error was returned. After one reconciliation nothing is lost, duplicated or open; another
// reconciliation, in the same run or the next, does not change a byte of the database.
func TestReconcilingTwiceIsOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t, rt)
		defer os.RemoveAll(h.w.dir)
		for range rapid.IntRange(1, 3).Draw(rt, "lives") {
			h.p = h.w.run(h.clock, int64(rapid.IntRange(1, 60).Draw(rt, "writes")))
			_, _ = h.p.reconciler.Reconcile(context.Background()) // a crash during recovery, too
			for range rapid.IntRange(1, 6).Draw(rt, "acts") {
				h.act()
			}
			h.p.die()
			h.clock.Advance(time.Minute)
		}
		h.p = h.w.run(h.clock, math.MaxInt32)
		once := h.catchUp()
		h.check()
		if twice := h.catchUp(); !slices.Equal(once, twice) {
			rt.Fatal("reconciling again changed the database")
		}
		h.p.die()
		h.p = h.w.run(h.clock, math.MaxInt32)
		defer h.p.die()
		if again := h.catchUp(); !slices.Equal(once, again) {
			rt.Fatal("reconciling in the next program changed the database")
		}
	})
}
