package turn_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/turn"
	"contextinfinity/test/testtier"
)

// kills is the maximum number of writes after which the program is killed; a turn needs fewer.
const kills = 60

// TestCallsRunAtMostOnceAfterKills kills the program before and after each of its writes, while a turn calls tools
// with and without effects. No call with effects runs twice unless the user decides so, verify finds nothing, and the
// conversation can continue. The everyday form kills it after every other write and before those between them; the
// form of `make crash` kills it a second time at each of the later writes.
func TestCallsRunAtMostOnceAfterKills(t *testing.T) {
	second := []int64{math.MaxInt32}
	if testtier.Crash() {
		second = nil
		for n := range int64(20) {
			second = append(second, n)
		}
	}
	survived := false
	for first := int64(1); first < kills && !survived; first++ {
		for _, n := range second {
			if testtier.Crash() || first%2 == 0 {
				runAndKillTwice(t, first, n, true)
			}
			if testtier.Crash() || first%2 == 1 {
				survived = runAndKillTwice(t, first, n, false)
			}
		}
	}
	if !survived {
		t.Errorf("the turn does not end within %d writes", kills)
	}
}

// runAndKillTwice runs a turn in a program that is killed after first writes, then in one that is killed after second
// writes, then to its end. It reports whether the first run ended without being killed.
func runAndKillTwice(t *testing.T, first, second int64, before bool) (survived bool) {
	t.Helper()
	w := &env{t: t, dir: t.TempDir(), provider: &scripted{}, published: &recorder{}, window: 100000, tools: newToolbox()}
	w.settings = turn.Settings{
		IdleTimeout: time.Minute, FrameEvery: time.Millisecond, ProgressEvery: time.Hour, AllowParallel: true,
		Backoff: func(int) time.Duration { return 0 }, ToolsMode: llm.ToolsEnabled, Policy: prompt.DefaultPolicy(),
	}
	w.tools.allow("read", "write")
	p := w.run(nil, math.MaxInt32)
	var err error
	if w.session, w.branch, err = w.store.CreateSession(t.Context(), chat.NewSession{}); err != nil {
		t.Fatal(err)
	}
	p.die()
	w.scriptCalls(
		[]string{text("So "), callEvent("a", "box__read", `{"n":1}`), callEvent("b", "box__write", `{"n":2}`), callEvent("c", "box__write", `{"n":3}`)},
		[]string{callEvent("d", "box__write", `{"n":4}`)},
	)
	p = w.run(nil, first)
	p.life.before = before
	if h, err := w.engine.Send(context.Background(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("go")}); err == nil {
		_, err = h.Wait(context.Background())
		survived = err == nil && p.life.writes.Load() > 0
	}
	p.die()
	p = w.run(nil, second)
	p.life.before = before
	_, _ = w.engine.Recover(context.Background())
	_, _ = w.engine.ResumeTools(context.Background())
	w.resolveAll()
	p.die()
	p = w.run(nil, math.MaxInt32)
	defer p.close()
	if _, err := w.engine.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again, err := w.engine.Recover(t.Context()); err != nil || len(again.Items) > 0 && again.Items[0].Kind != chat.RecoveredUnsent {
		t.Errorf("after %d and %d writes: recovery twice finds more: %+v %v", first, second, again, err)
	}
	if _, err := w.engine.ResumeTools(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.resolveAll()
	w.checkAfterKills(first, second)
	return survived
}

// resolveAll waits for running turns, and tells the model about each call whose outcome is unknown.
func (w *env) resolveAll() {
	ctx := context.Background()
	for range 20 {
		turns, err := w.store.UnfinishedTurns(ctx)
		if err != nil || len(turns) == 0 {
			return
		}
		for _, t := range turns {
			if h, ok := w.engine.Follow(t.ID); ok {
				_, _ = h.Wait(ctx)
			}
			calls, _ := w.engine.WaitingFor(ctx, t)
			for _, c := range calls {
				_ = w.engine.ResolveCall(ctx, turn.CallResolution{Call: c.ID, As: chat.ResolveTell})
			}
		}
	}
}

// checkAfterKills checks the state after the kills, and that the conversation can continue.
func (w *env) checkAfterKills(first, second int64) {
	w.t.Helper()
	ran := map[string]int{}
	for _, call := range w.tools.calls() {
		if ran[call]++; ran[call] > 1 && strings.HasPrefix(call, "write") {
			w.t.Errorf("after %d and %d writes %s ran %d times", first, second, call, ran[call])
		}
	}
	next, err := w.engine.Send(w.t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("and on"), Incomplete: turn.IncompleteKeep})
	if err != nil {
		w.t.Fatalf("after %d and %d writes: %v", first, second, err)
	}
	if got := w.wait(next); got.Phase != chat.PhaseResponseFinalized {
		w.t.Errorf("after %d and %d writes: %s %+v", first, second, got.Phase, got.Failure)
	}
	sent := w.provider.requests()
	last := sent[len(sent)-1]
	if calls, results := strings.Count(last, `"type":"tool_use"`), strings.Count(last, `"type":"tool_result"`); calls != results {
		w.t.Errorf("after %d and %d writes the next request has %d calls and %d results", first, second, calls, results)
	}
	w.clean()
}
