package turn_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/store"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
)

// Two calls at once, then a third, then text: each step is recorded, results are sent back in order, and all of it is
// one answer.
func TestToolLoop(t *testing.T) {
	w := withTools(t)
	w.tools.allow("read", "write")
	w.scriptCalls(
		[]string{text("I look. "), callEvent("a", "box__read", `{"n":1}`), callEvent("b", "box__write", `{"n":2}`)},
		[]string{callEvent("c", "box__read", `{"n":3}`)},
		[]string{text("All done.")},
	)
	got := w.send("go")
	w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "I look. \n\nAll done.")
	want := []string{`a false did read{"n":1}`, `b false did write{"n":2}`, `c false did read{"n":3}`}
	if !slices.Equal(toolResults(got), want) || !slices.Equal(w.tools.calls(), []string{`read{"n":1}`, `write{"n":2}`, `read{"n":3}`}) {
		t.Errorf("results %q, ran %q", toolResults(got), w.tools.calls())
	}
	sent := w.provider.requests()
	if len(sent) != 3 || !strings.Contains(sent[0], `"tools":["box__write","box__read"]`) || strings.Contains(sent[0], "did read") {
		t.Fatalf("sent %q", sent)
	}
	last := sent[2]
	if a, b, c := strings.Index(last, "did read"), strings.Index(last, "did write"), strings.LastIndex(last, "did read"); a < 0 || a > b || b > c {
		t.Errorf("the results are not in order: %s", last)
	}
	steps, err := w.store.Steps(t.Context(), got.ID)
	if err != nil || len(steps) != 3 || steps[0].ToolsMode != "enabled" || steps[0].Outcome.Status != chat.StepPaused || got.Usage.InputTokens != 30 {
		t.Errorf("%+v %v, usage %+v", steps, err, got.Usage)
	}
	shown := slices.IndexFunc(w.published.changed(), func(c chat.Change) bool { return c.Kind == chat.ChangeSettings })
	if w.called.Load() != 2 || shown < 0 {
		t.Errorf("the ability to call tools was recorded %d times; the window was notified: %v", w.called.Load(), shown >= 0)
	}
	if b := w.batch(got.ID); b.State != chat.BatchCommitted || b.Calls[0].Runs != 1 || b.Calls[0].Decision != chat.DecisionAlways {
		t.Errorf("%+v", b)
	}
	w.send("and then?")
	if next := w.provider.requests()[3]; strings.Count(next, "did read") != 2 || strings.Count(next, "<tool_output>") < 3 {
		t.Errorf("the history lacks the calls with their results: %s", next)
	}
	w.clean()
}

// A refused answer ends there: its calls are not run, and the conversation continues.
func TestCallsOfARefusedAnswer(t *testing.T) {
	w := withTools(t)
	w.tools.allow("read", "write")
	w.scriptCalls(
		[]string{text("I cannot do that."), callEvent("a", "box__write", `{"n":1}`), `{"t":"refused"}`},
		[]string{text("Fine.")},
	)
	w.is(w.send("go"), chat.PhaseResponseFinalized, chat.OutcomeRefused, "I cannot do that.")
	w.is(w.send("then something else"), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "Fine.")
	if ran := w.tools.calls(); len(ran) > 0 {
		t.Errorf("it ran %q", ran)
	}
	w.clean()
}

// A model that cannot call tools is offered none, and answers.
func TestAModelWithoutTools(t *testing.T) {
	w := withTools(t)
	w.noTools = true
	w.scriptCalls([]string{text("No tools.")})
	w.is(w.send("go"), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "No tools.")
	if sent := w.provider.requests()[0]; !strings.Contains(sent, `"tools":[]`) {
		t.Errorf("sent %s", sent)
	}
	w.clean()
}

// A call without permission waits; after a decision the turn continues automatically.
func TestACallWaitsForADecision(t *testing.T) {
	for decision, ran := range map[chat.ToolDecision]bool{
		chat.DecisionOnce: true, chat.DecisionSession: true, chat.DecisionAlways: true, chat.DecisionDeny: false, chat.DecisionNever: false,
	} {
		t.Run(string(decision), func(t *testing.T) {
			w := withTools(t)
			w.scriptCalls([]string{text("May I?"), callEvent("a", "box__write", `{}`)}, []string{text(" So be it.")})
			got := w.send("go")
			call := w.requireWaiting(got, 1)[0]
			if len(w.tools.calls()) != 0 {
				t.Fatal("it ran before it was allowed")
			}
			w.restart() // it still waits
			got, err := w.store.Turn(t.Context(), got.ID)
			if err != nil {
				t.Fatal(err)
			}
			w.requireWaiting(got, 1)
			w.decide(call, decision)
			got = w.ended(got.ID)
			w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "May I?\n\n So be it.")
			if (len(w.tools.calls()) == 1) != ran || strings.Contains(toolResults(got)[0], "did not allow") == ran {
				t.Errorf("ran %q, results %q", w.tools.calls(), toolResults(got))
			}
			if kept := len(w.tools.permissions) == 1; kept != decision.Lasts() || kept && (w.tools.permissions[0].Session != "") != (decision == chat.DecisionSession) {
				t.Errorf("kept %+v", w.tools.permissions)
			}
			if b := w.batch(got.ID); b.Calls[0].Decision != decision {
				t.Errorf("recorded as %q", b.Calls[0].Decision)
			}
			w.clean()
		})
	}
}

// A turn that checks its permissions only after the user's was stored allows the call itself. That is no conflict.
func TestAPermissionAllowsTheCallFirst(t *testing.T) {
	w := withTools(t)
	w.scriptCalls([]string{callEvent("a", "box__write", `{}`)}, []string{text("ok")})
	got := w.send("go")
	call := w.requireWaiting(got, 1)[0]
	w.tools.onRemember = func() {
		d := chat.CallDecision{Call: call.ID, State: chat.CallProposed, Decision: chat.DecisionSession, Definition: w.tools.hash(call.Tool)}
		if err := w.store.DecideCall(t.Context(), d); err != nil {
			t.Error(err)
		}
	}
	w.decide(call, chat.DecisionSession)
	got = w.ended(got.ID)
	w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
	if len(w.tools.calls()) != 1 {
		t.Errorf("ran %q", w.tools.calls())
	}
	w.clean()
}

// If two decisions are made about the same call, one wins and the other gets an error. A decision about a definition
// other than the current one is refused.
func TestOneDecisionWins(t *testing.T) {
	w := withTools(t)
	w.scriptCalls([]string{callEvent("a", "box__write", `{}`), callEvent("b", "box__write", `{"n":2}`)}, []string{text("ok")})
	got := w.send("go")
	calls := w.requireWaiting(got, 2)
	choice := turn.CallChoice{Call: calls[0].ID, Decision: chat.DecisionOnce, Hash: "another"}
	for _, hash := range []string{"another", ""} {
		if choice.Hash = hash; chat.CodeOf(w.engine.DecideCall(t.Context(), choice)) != chat.CodeConflict {
			t.Errorf("a decision about the definition %q was accepted", hash)
		}
	}
	choice.Hash = w.tools.hash("write")
	errs := make(chan error, 8)
	for range 8 {
		go func() { errs <- w.engine.DecideCall(context.WithoutCancel(t.Context()), choice) }()
	}
	won := 0
	for range 8 {
		switch err := <-errs; {
		case err == nil:
			won++
		case chat.CodeOf(err) != chat.CodeConflict:
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d decisions won", won)
	}
	got = w.ended(got.ID)
	w.requireWaiting(got, 1)
	w.decide(calls[1], chat.DecisionDeny)
	got = w.ended(got.ID)
	w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
	if !slices.Equal(w.tools.calls(), []string{"write{}"}) {
		t.Errorf("ran %q", w.tools.calls())
	}
	w.clean()
}

// A call that cannot run gets an error as its result, and the conversation continues.
func TestCallsThatCannotRun(t *testing.T) {
	for name, c := range map[string]struct {
		call string
		do   func(*toolbox)
		want string
	}{
		"unknown":        {callEvent("a", "nobody", `{}`), nil, `no tool named "nobody"`},
		"not an object":  {callEvent("a", "box__write", `[1]`), nil, "not a JSON object"},
		"garbled":        {callEvent("a", "box__write", `{"x":`), nil, "not a JSON object"},
		"duplicate name": {callEvent("a", "box__write", `{"x":[{"path":"a","n":1,"path":"b"}]}`), nil, "a name twice"},
		"gone":           {callEvent("a", "box__write", `{}`), func(b *toolbox) { b.defs = b.defs[1:] }, "not available any more"},
		"changed":        {callEvent("a", "box__write", `{}`), func(b *toolbox) { b.defs[0].Description = "Deletes." }, "definition of the tool box__write changed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := withTools(t)
			w.tools.allow("write")
			w.provider.script(call{events: []string{c.call, done}, after: func(i int) {
				if i == 0 && c.do != nil {
					w.tools.mu.Lock()
					c.do(w.tools)
					w.tools.mu.Unlock()
				}
			}})
			w.scriptCalls([]string{text("I see.")})
			got := w.send("go")
			w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "I see.")
			if len(w.tools.calls()) != 0 || !strings.Contains(toolResults(got)[0], c.want) || !strings.HasPrefix(toolResults(got)[0], "a true ") {
				t.Errorf("ran %q, results %q", w.tools.calls(), toolResults(got))
			}
			w.clean()
		})
	}
}

// A model that never stops calling tools is asked to answer; if it still calls tools, its answer ends.
func TestTheLoopEnds(t *testing.T) {
	w := withTools(t)
	w.tools.allow("read")
	w.settings.MaxSteps = 2
	for i := range 6 {
		w.scriptCalls([]string{callEvent(fmt.Sprint("c", i), "box__read", `{}`)})
	}
	got := w.send("go")
	w.is(got, chat.PhaseResponseFinalized, chat.OutcomePaused, "")
	results := toolResults(got)
	if len(w.tools.calls()) != 2 || len(results) != 4 || !strings.Contains(results[2], "limit of 2 steps") || !strings.Contains(results[3], "limit of 2 steps") {
		t.Errorf("ran %q, results %q", w.tools.calls(), results)
	}
	if n := len(w.provider.requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
	w.clean()
}

// A turn can have sixteen steps, the default limit.
func TestSixteenSteps(t *testing.T) {
	w := withTools(t)
	w.tools.allow("read")
	for i := range 16 {
		w.scriptCalls([]string{text(fmt.Sprint(i, " ")), callEvent(fmt.Sprint("c", i), "box__read", fmt.Sprintf(`{"i":%d}`, i))})
	}
	w.scriptCalls([]string{text("end")})
	got := w.send("go")
	if got.Outcome != chat.OutcomeCompleted || len(w.tools.calls()) != 16 || len(toolResults(got)) != 16 {
		t.Errorf("%s %q: %d calls, %d results", got.Phase, got.Outcome, len(w.tools.calls()), len(toolResults(got)))
	}
	w.clean()
}

// Calls without effects run in parallel where that is allowed. Calls with effects run one at a time, in order, and no
// call runs before a waiting one.
func TestTheOrderOfCalls(t *testing.T) {
	for _, parallel := range []bool{false, true} {
		w := withTools(t)
		w.settings.AllowParallel = parallel
		w.tools.allow("read", "write")
		var both sync.WaitGroup
		both.Add(2)
		w.tools.do = func(_ context.Context, c tools.Call) (tools.Output, error) {
			if parallel && c.Tool == "read" && string(c.Arguments) != `{"n":5}` { // each of the two waits for the other
				both.Done()
				both.Wait()
			}
			return tools.Output{Content: chat.Blocks{chat.Text{Text: "ok"}}}, nil
		}
		w.scriptCalls([]string{
			callEvent("1", "box__read", `{"n":1}`), callEvent("2", "box__read", `{"n":2}`), callEvent("3", "box__write", `{"n":3}`),
			callEvent("4", "box__write", `{"n":4}`), callEvent("5", "box__read", `{"n":5}`),
		}, []string{text("ok")})
		got := w.send("go")
		w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
		ran := w.tools.calls()
		slices.Sort(ran[:2])
		if !slices.Equal(ran, []string{`read{"n":1}`, `read{"n":2}`, `write{"n":3}`, `write{"n":4}`, `read{"n":5}`}) {
			t.Errorf("parallel %v: ran %q", parallel, ran)
		}
		if want := map[bool]int{false: 1, true: 2}[parallel]; w.tools.maxRunning != want {
			t.Errorf("parallel %v: %d at once", parallel, w.tools.maxRunning)
		}
	}
	w := withTools(t)
	w.tools.allow("read")
	w.scriptCalls([]string{callEvent("1", "box__read", `{}`), callEvent("2", "box__write", `{}`), callEvent("3", "box__read", `{"n":3}`)})
	got := w.send("go")
	w.requireWaiting(got, 1)
	if !slices.Equal(w.tools.calls(), []string{"read{}"}) {
		t.Errorf("before the decision %q ran", w.tools.calls())
	}
}

// If a call with effects ends without a readable result, its outcome is unknown; a call without effects has failed. A
// call that never started has failed in any case.
func TestHowCallsEnd(t *testing.T) {
	crash := func(context.Context, tools.Call) (tools.Output, error) { panic("secret") }
	fails := func(err error) func(context.Context, tools.Call) (tools.Output, error) {
		return func(context.Context, tools.Call) (tools.Output, error) { return tools.Output{}, err }
	}
	hangs := func(ctx context.Context, _ tools.Call) (tools.Output, error) {
		<-ctx.Done()
		return tools.Output{}, ctx.Err()
	}
	for name, c := range map[string]struct {
		do      func(context.Context, tools.Call) (tools.Output, error)
		reason  chat.UnknownReason
		message string // of the result of a call without effects
		runs    int    // of a call without effects
	}{
		"ended":       {fails(errors.New("EOF")), chat.UnknownEnded, "server ended", 1},
		"unreadable":  {fails(fmt.Errorf("x: %w", tools.ErrUnreadable)), chat.UnknownUnreadable, "cannot be read", 1},
		"timeout":     {hangs, chat.UnknownTimeout, "did not answer within", 1},
		"panic":       {crash, chat.UnknownEnded, "Internal error", 1},
		"not started": {fails(fmt.Errorf("the server is off: %w", tools.ErrNotStarted)), "", "could not be reached", 2},
	} {
		for _, tool := range []string{"write", "read"} {
			t.Run(name+" "+tool, func(t *testing.T) {
				w := withTools(t)
				w.settings.CallTimeout = 200 * time.Millisecond
				w.tools.allow(tool)
				w.tools.do = c.do
				w.scriptCalls([]string{callEvent("a", "box__"+tool, `{}`)}, []string{text("ok")})
				got := w.send("go")
				if tool == "write" && c.reason != "" {
					if call := w.requireWaiting(got, 1)[0]; call.State != chat.CallUnknown || call.Reason != c.reason || call.Runs != 1 {
						t.Errorf("%+v", call)
					}
					return
				}
				w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
				if results := toolResults(got)[0]; !strings.Contains(results, c.message) || strings.Contains(results, "secret") {
					t.Errorf("results %q", results)
				}
				if runs := w.batch(got.ID).Calls[0].Runs; tool == "read" && runs != c.runs {
					t.Errorf("it was started %d times", runs)
				}
				w.clean()
			})
		}
	}
}

// A running call reports its progress and can be cancelled.
func TestCancelACall(t *testing.T) {
	w := withTools(t)
	w.tools.allow("write")
	reported := make(chan struct{})
	w.tools.do = func(ctx context.Context, c tools.Call) (tools.Output, error) {
		c.Progress(tools.Progress{Done: 3, Total: 9, Message: "halfway"})
		close(reported)
		<-ctx.Done()
		return tools.Output{}, ctx.Err()
	}
	w.scriptCalls([]string{callEvent("a", "box__write", `{}`)}, []string{text("ok")})
	h := w.start("go")
	<-reported
	call := w.batch(h.Turn.ID).Calls[0]
	if p, ok := w.engine.CallProgress(call.ID); !ok || p.Done != 3 || p.Message != "halfway" {
		t.Errorf("%+v %v", p, ok)
	}
	if err := w.engine.CancelCall(t.Context(), call.ID); err != nil {
		t.Fatal(err)
	}
	got := w.wait(h)
	if call := w.requireWaiting(got, 1)[0]; call.Reason != chat.UnknownCancelled {
		t.Errorf("%+v", call)
	}
	if chat.CodeOf(w.engine.CancelCall(t.Context(), call.ID)) != chat.CodeConflict {
		t.Error("a call that does not run was cancelled")
	}
}

// The user resolves a call whose outcome is unknown, once.
func TestResolveCall(t *testing.T) {
	for as, c := range map[chat.Resolution]struct {
		want string
		runs int
	}{
		chat.ResolveEnter: {"a false I saw the file", 1},
		chat.ResolveTell:  {"a true The outcome of this call is unknown", 1},
		chat.ResolveRerun: {"a false did it", 2},
	} {
		t.Run(string(as), func(t *testing.T) {
			w := withTools(t)
			w.tools.allow("write")
			n := 0
			w.tools.do = func(context.Context, tools.Call) (tools.Output, error) {
				if n++; n == 1 {
					return tools.Output{}, errors.New("EOF")
				}
				return tools.Output{Content: chat.Blocks{chat.Text{Text: "did it"}}}, nil
			}
			w.scriptCalls([]string{callEvent("a", "box__write", `{}`)}, []string{text("ok")})
			got := w.send("go")
			call := w.requireWaiting(got, 1)[0]
			w.restart() // it stays unknown and is not run again
			if err := w.engine.DecideCall(t.Context(), turn.CallChoice{Call: call.ID, Decision: chat.DecisionOnce, Hash: w.tools.hash("write")}); chat.CodeOf(err) != chat.CodeConflict {
				t.Errorf("a plain decision about it: %v", err)
			}
			resolution := turn.CallResolution{Call: call.ID, As: as, Text: "I saw the file"}
			if err := w.engine.ResolveCall(t.Context(), resolution); err != nil {
				t.Fatal(err)
			}
			got = w.ended(got.ID)
			w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
			if !strings.HasPrefix(toolResults(got)[0], c.want) || len(w.tools.calls()) != c.runs {
				t.Errorf("results %q, ran %q", toolResults(got), w.tools.calls())
			}
			if chat.CodeOf(w.engine.ResolveCall(t.Context(), resolution)) != chat.CodeConflict {
				t.Error("it was resolved twice")
			}
			w.clean()
		})
	}
}

// A call can be run again only with the same tool: not if its definition changed, is not accepted, or was forbidden
// in the meantime.
func TestRunAgainIsRefused(t *testing.T) {
	for name, change := range map[string]func(*env, *turn.CallResolution){
		"another definition":           func(w *env, _ *turn.CallResolution) { w.tools.redefine() },
		"another definition was shown": func(_ *env, r *turn.CallResolution) { r.Hash = "another" },
		"not accepted":                 func(w *env, _ *turn.CallResolution) { w.tools.refused = map[string]bool{"write": true} },
		"forbidden in the meantime":    func(w *env, _ *turn.CallResolution) { w.tools.decisions["write"] = chat.DecisionNever },
	} {
		t.Run(name, func(t *testing.T) {
			w := withTools(t)
			w.tools.allow("write")
			w.tools.do = func(context.Context, tools.Call) (tools.Output, error) { return tools.Output{}, errors.New("EOF") }
			w.scriptCalls([]string{callEvent("a", "box__write", `{}`)}, []string{text("ok")})
			got := w.send("go")
			call := w.requireWaiting(got, 1)[0]
			again := turn.CallResolution{Call: call.ID, As: chat.ResolveRerun, Hash: call.Definition}
			change(w, &again)
			err := w.engine.ResolveCall(t.Context(), again)
			if chat.CodeOf(err) != chat.CodeConflict || chat.AsError(err).Hint == "" {
				t.Errorf("it was not refused: %v", err)
			}
			if call := w.requireWaiting(w.ended(got.ID), 1)[0]; call.State != chat.CallUnknown || len(w.tools.calls()) != 1 {
				t.Errorf("it is %s, ran %q", call.State, w.tools.calls())
			}
			if err := w.engine.ResolveCall(t.Context(), turn.CallResolution{Call: call.ID, As: chat.ResolveTell}); err != nil {
				t.Error(err)
			}
			w.is(w.ended(got.ID), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
			w.clean()
		})
	}
}

// A result that could not be saved is still known: Stop records it instead of an unknown outcome.
func TestStopKeepsAResultThatWasNotSaved(t *testing.T) {
	w := withTools(t)
	w.tools.allow("write")
	w.scriptCalls([]string{callEvent("a", "box__write", `{}`)})
	w.refuseEnds.Store(1)
	h := w.start("go")
	if _, err := h.Wait(t.Context()); chat.CodeOf(err) != chat.CodeNoSpace {
		t.Fatalf("the end could not be saved, and the error is %v", err)
	}
	got, err := w.engine.Stop(t.Context(), h.Turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.is(got, chat.PhaseResponseFinalized, chat.OutcomeStopped, "")
	if len(toolResults(got)) != 1 || !strings.HasPrefix(toolResults(got)[0], "a false did write") {
		t.Errorf("results %q", toolResults(got))
	}
	w.clean()
}

// Each decision about a turn with waiting calls leaves a valid conversation.
func TestDecisionsAboutAWaitingTurn(t *testing.T) {
	waiting := func(t *testing.T) (*env, chat.Turn) {
		w := withTools(t)
		w.tools.allow("read")
		w.scriptCalls([]string{text("Hm."), callEvent("r", "box__read", `{}`), callEvent("a", "box__write", `{}`)})
		got := w.send("go")
		w.requireWaiting(got, 1)
		return w, got
	}
	end := map[string]func(*env, chat.TurnID) (chat.Turn, error){
		"stop": func(w *env, id chat.TurnID) (chat.Turn, error) { return w.engine.Stop(w.t.Context(), id) },
		"keep": func(w *env, id chat.TurnID) (chat.Turn, error) { return w.engine.Keep(w.t.Context(), id) },
	}
	for name, do := range end {
		t.Run(name, func(t *testing.T) {
			w, got := waiting(t)
			got, err := do(w, got.ID)
			if err != nil {
				t.Fatal(err)
			}
			w.is(got, chat.PhaseResponseFinalized, map[string]chat.Outcome{"stop": chat.OutcomeStopped, "keep": chat.OutcomeKept}[name], "Hm.")
			if results := toolResults(got); len(results) != 2 || results[0] != "r false did read{}" || !strings.HasPrefix(results[1], "a true Not run: the user stopped") {
				t.Errorf("results %q", results)
			}
			if b := w.batch(got.ID); b.State != chat.BatchCommitted || b.Calls[1].Decision != chat.DecisionNotRun {
				t.Errorf("%+v", b)
			}
			w.is(w.send("next"), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
			w.clean()
		})
	}
	t.Run("discard", func(t *testing.T) {
		w, got := waiting(t)
		got, err := w.engine.Discard(t.Context(), got.ID)
		if err != nil || got.Phase != chat.PhaseFailed || w.batch(got.ID).State != chat.BatchAbandoned {
			t.Fatalf("%+v %v", got, err)
		}
		w.is(w.send("next"), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
		w.clean()
	})
	t.Run("continue", func(t *testing.T) {
		w, got := waiting(t)
		if _, err := w.engine.Continue(t.Context(), got.ID, ""); chat.CodeOf(err) != chat.CodeConflict {
			t.Errorf("it continued past a waiting call: %v", err)
		}
	})
	t.Run("retry after a call ran", func(t *testing.T) {
		w, got := waiting(t)
		if _, err := w.engine.Retry(t.Context(), got.ID, ""); chat.CodeOf(err) != chat.CodeConflict {
			t.Errorf("the step was requested again: %v", err)
		}
	})
	t.Run("retry", func(t *testing.T) {
		w := withTools(t)
		w.scriptCalls([]string{callEvent("a", "box__write", `{}`)}, []string{text("without")})
		got := w.send("go")
		w.requireWaiting(got, 1)
		h, err := w.engine.Retry(t.Context(), got.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		got = w.wait(h)
		w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "without")
		if len(toolResults(got)) != 0 || len(w.tools.calls()) != 0 {
			t.Errorf("results %q, ran %q", toolResults(got), w.tools.calls())
		}
		w.clean()
	})
}

// If a turn is stopped while a call with effects runs, the outcome is unknown, and the model is informed.
func TestStopWhileACallRuns(t *testing.T) {
	w := withTools(t)
	w.tools.allow("write")
	started := make(chan struct{})
	w.tools.do = func(ctx context.Context, _ tools.Call) (tools.Output, error) {
		close(started)
		<-ctx.Done()
		return tools.Output{}, ctx.Err()
	}
	w.scriptCalls([]string{text("Hm."), callEvent("a", "box__write", `{}`), callEvent("b", "box__write", `{}`)})
	h := w.start("go")
	<-started
	got, err := w.engine.Stop(t.Context(), h.Turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.is(got, chat.PhaseResponseFinalized, chat.OutcomeStopped, "Hm.")
	if results := toolResults(got); len(results) != 2 || !strings.HasPrefix(results[0], "a true The outcome") || !strings.HasPrefix(results[1], "b true Not run") {
		t.Errorf("results %q", results)
	}
	w.clean()
}

// A message can be queued behind a turn with waiting calls, and is sent after it.
func TestAMessageQueuesBehindAWaitingTurn(t *testing.T) {
	w := withTools(t)
	w.scriptCalls([]string{callEvent("a", "box__write", `{}`)}, []string{text("one")}, []string{text("two")})
	got := w.send("go")
	call := w.requireWaiting(got, 1)[0]
	message := turn.Message{Branch: w.branch.ID, Content: chat.UserText("and next"), Incomplete: turn.IncompleteDiscard}
	if _, err := w.engine.Send(t.Context(), message); chat.CodeOf(err) != chat.CodeBusy {
		t.Fatalf("sent while a turn waits: %v", err)
	}
	if h, err := w.engine.SendOrQueue(t.Context(), message); h != nil || err != nil {
		t.Fatalf("%v %v", h, err)
	}
	if _, err := w.engine.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.waiting() != "and next" {
		t.Fatalf("the queue is %q", w.waiting())
	}
	w.decide(call, chat.DecisionOnce)
	w.is(w.ended(got.ID), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "one")
	w.waitUntilSent("and next")
	last, _, err := w.store.LastTurn(t.Context(), w.branch.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.is(last, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "two")
	w.clean()
}

// A failure after tool calls keeps their results: retry and continue start from there.
func TestAFailureAfterTools(t *testing.T) {
	for _, decision := range []string{"retry", "continue", "keep"} {
		t.Run(decision, func(t *testing.T) {
			w := withTools(t)
			w.tools.allow("write")
			w.scriptCalls([]string{callEvent("a", "box__write", `{}`)})
			w.provider.script(call{err: &llm.Error{Code: chat.CodeAuth, Message: "no"}})
			got := w.send("go")
			w.is(got, chat.PhaseResponding, chat.OutcomeIncomplete, "")
			if decision == "keep" {
				kept, err := w.engine.Keep(t.Context(), got.ID)
				if err != nil || len(toolResults(kept)) != 1 {
					t.Fatalf("%v %q", err, toolResults(kept))
				}
				w.clean()
				return
			}
			do := map[string]func(context.Context, chat.TurnID, string) (*turn.Handle, error){"retry": w.engine.Retry, "continue": w.engine.Continue}[decision]
			w.scriptCalls([]string{text("done")})
			h, err := do(t.Context(), got.ID, "")
			if err != nil {
				t.Fatal(err)
			}
			got = w.wait(h)
			w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "done")
			sent := w.provider.requests()
			if len(w.tools.calls()) != 1 || len(toolResults(got)) != 1 || !strings.Contains(sent[len(sent)-1], "did write") {
				t.Errorf("ran %q, results %q", w.tools.calls(), toolResults(got))
			}
			w.clean()
		})
	}
}

// Secrets in arguments do not leave the machine, and the redaction is recorded.
func TestArgumentsAreRedacted(t *testing.T) {
	w := withTools(t)
	w.redact = func(s string) (string, []prompt.Redaction) {
		if clean := strings.ReplaceAll(s, "hunter2", "[redacted]"); clean != s {
			return clean, []prompt.Redaction{{Rule: "password", Bytes: 7}}
		}
		return s, nil
	}
	w.restart()
	w.tools.allow("write")
	w.scriptCalls([]string{callEvent("a", "box__write", `{"as":"hunter2"}`)}, []string{text("ok")})
	got := w.send("go")
	call := w.batch(got.ID).Calls[0]
	if !slices.Equal(w.tools.calls(), []string{`write{"as":"[redacted]"}`}) || len(call.Redactions) != 1 || call.Redactions[0].Rule != "password" {
		t.Errorf("ran %q, recorded %+v", w.tools.calls(), call.Redactions)
	}
	if !strings.Contains(string(call.Arguments), "hunter2") {
		t.Error("the original arguments are not kept")
	}
}

// The tools mode of a session overrides the configured one, and a stream is decoded again in the mode in which it
// ran.
func TestModeOfASession(t *testing.T) {
	w := withTools(t)
	if err := w.store.SetSessionSettings(t.Context(), w.session.ID, chat.SessionSettings{ToolsMode: "parse_only"}); err != nil {
		t.Fatal(err)
	}
	w.scriptCalls([]string{text("Look:"), callEvent("a", "box__write", `{}`)})
	got := w.send("go")
	w.is(got, chat.PhaseResponseFinalized, chat.OutcomePaused, "Look:")
	if len(w.tools.calls()) != 0 || !strings.Contains(w.provider.requests()[0], "box__write") || len(w.provider.requests()) != 1 {
		t.Errorf("parse_only: the tools are offered and a call is only shown; ran %q, sent %q", w.tools.calls(), w.provider.requests())
	}
	if uses := usesOf(got); len(uses) != 1 || uses[0] != "box__write" {
		t.Errorf("the call is not in the answer: %q", uses)
	}
	steps, err := w.store.Steps(t.Context(), got.ID)
	if err != nil || steps[0].ToolsMode != "parse_only" {
		t.Errorf("%+v %v", steps, err)
	}
	w.clean()
}

// usesOf returns the names of the calls in a turn's answer.
func usesOf(t chat.Turn) (names []string) {
	for _, b := range t.Assistant.Blocks {
		if u, ok := b.(chat.ToolUse); ok {
			names = append(names, u.Name)
		}
	}
	return names
}

// The result of a tool becomes memory, and is deleted permanently with its turn.
func TestResultsBecomeMemory(t *testing.T) {
	w := withTools(t)
	w.tools.allow("read")
	w.tools.do = func(context.Context, tools.Call) (tools.Output, error) {
		return tools.Output{Content: chat.Blocks{chat.Text{Text: "The xylophone stands in the harbour."}}}, nil
	}
	w.scriptCalls([]string{text("I look."), callEvent("a", "box__read", `{"where":"xylophone"}`)}, []string{text("It is there.")})
	got := w.send("Where is it?")
	if _, err := w.jobs.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	chunks, _, err := w.store.Chunks(t.Context(), chat.ChunkQuery{Within: chat.Within{Session: w.session.ID}, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	found := slices.ContainsFunc(chunks, func(c chat.ChunkText) bool {
		return c.Type == chat.ChunkToolResult && strings.HasPrefix(c.Text, "The xylophone stands in the harbour.") && c.SourceTurn == got.ID
	})
	units, err := w.store.SearchUnits(t.Context(), []string{"xylophone"}, chat.Within{Session: w.session.ID}, 10)
	if err != nil || !found || len(units) == 0 {
		t.Fatalf("chunks %+v, units %+v, %v", chunks, units, err)
	}
	w.clean()
	if _, err := w.store.Delete(t.Context(), chat.DeletionTurn, string(got.ID)); err != nil {
		t.Fatal(err)
	}
	if units, err = w.store.SearchUnits(t.Context(), []string{"xylophone"}, chat.Within{Session: w.session.ID}, 10); err != nil || len(units) > 0 {
		t.Errorf("it is still found: %+v %v", units, err)
	}
	if b := w.batch(got.ID); strings.Contains(string(b.Calls[0].Arguments), "xylophone") || strings.Contains(b.Calls[0].Result.Content.RenderedText(), "xylophone") {
		t.Errorf("the journal still contains it: %+v", b)
	}
	w.clean()
}

// An open batch is listed with the model that proposed its calls and the text before them.
func TestRecoveredBatches(t *testing.T) {
	w := withTools(t)
	w.tools.allow("read")
	w.scriptCalls([]string{text("I look."), callEvent("r", "box__read", `{}`), callEvent("a", "box__write", `{"n":1}`)})
	got := w.send("go")
	w.requireWaiting(got, 1)
	w.restart()
	list, err := w.engine.RecoveredBatches(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v %v", list, err)
	}
	b := list[0]
	if b.TurnID != got.ID || b.ModelName != "main" || b.AssistantText != "I look." || len(b.Calls) != 2 || len(b.Results) != 1 || string(b.Calls[1].Arguments) != `{"n":1}` {
		t.Errorf("%+v", b)
	}
}

// A call of a tool whose server is not connected yet keeps waiting: it is neither run nor failed.
func TestAServerThatIsNotConnectedYet(t *testing.T) {
	w := withTools(t)
	w.scriptCalls([]string{callEvent("a", "box__write", `{}`)}, []string{text("ok")})
	got := w.send("go")
	call := w.requireWaiting(got, 1)[0]
	all := w.tools.offers(nil)
	w.tools.allow("write")
	w.restart()
	if n, err := w.engine.ResumeTools(t.Context()); n != 0 || err != nil {
		t.Errorf("%d turns continue, %v", n, err)
	}
	w.requireWaiting(got, 1)
	if err := w.engine.DecideCall(t.Context(), turn.CallChoice{Call: call.ID, Decision: chat.DecisionOnce, Hash: all[0].Hash()}); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("it was allowed without its tool: %v", err)
	}
	w.tools.offers(all)
	if n, err := w.engine.ResumeTools(t.Context()); n != 1 || err != nil {
		t.Errorf("%d turns continue, %v", n, err)
	}
	w.is(w.ended(got.ID), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
	w.clean()
}

// Calls that were proposed elsewhere, for example in an imported session, run only after a decision on this machine.
func TestCallsFromElsewhereAskAgain(t *testing.T) {
	w := withTools(t)
	w.scriptCalls([]string{callEvent("a", "box__write", `{"n":1}`), callEvent("b", "box__write", `{"n":2}`), callEvent("r", "box__read", `{}`)}, []string{text("ok")})
	got := w.send("go")
	calls := w.requireWaiting(got, 3)
	allowOnce := func(c chat.CallRecord) chat.CallDecision {
		return chat.CallDecision{Call: c.ID, Decision: chat.DecisionOnce, Definition: w.tools.hash(c.Tool)}
	}
	w.close()
	w.open()
	for _, c := range []chat.CallRecord{calls[0], calls[2]} { // as recorded on the other machine
		if err := w.store.DecideCall(t.Context(), allowOnce(c)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.store.StartCall(t.Context(), calls[2].ID, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "streams")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.engine.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := w.engine.ResumeTools(t.Context()); n != 0 || err != nil {
		t.Errorf("%d turns continue, %v", n, err)
	}
	waiting := w.requireWaiting(got, 3)
	if len(w.tools.calls()) != 0 || waiting[0].State != chat.CallProposed || waiting[0].Decision != chat.DecisionNone || waiting[2].State != chat.CallUnknown {
		t.Errorf("ran %q, %+v", w.tools.calls(), waiting)
	}
	w.clean()
	w.decide(waiting[0], chat.DecisionDeny)
	w.decide(waiting[1], chat.DecisionOnce)
	if err := w.engine.ResolveCall(t.Context(), turn.CallResolution{Call: waiting[2].ID, As: chat.ResolveTell}); err != nil {
		t.Fatal(err)
	}
	w.is(w.ended(got.ID), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
	if !slices.Equal(w.tools.calls(), []string{`write{"n":2}`}) {
		t.Errorf("ran %q", w.tools.calls())
	}
	if journals, err := w.journals.List(); err != nil || len(journals) != 0 {
		t.Errorf("journals are left: %v %v", journals, err)
	}
	w.clean()
}

// Imported records may claim anything: a call that is recorded as allowed, or as started and without effects, does
// not run, even if recovery did not reset it before the turn continues.
func TestImportedRecordsRunNothing(t *testing.T) {
	w := withTools(t)
	w.scriptCalls([]string{callEvent("w", "box__write", `{"n":1}`), callEvent("r", "box__read", `{}`), callEvent("b", "box__write", `{"n":2}`)}, []string{text("ok")})
	got := w.send("go")
	calls := w.requireWaiting(got, 3)
	w.close()
	w.open()
	for _, c := range calls[:2] {
		if err := w.store.DecideCall(t.Context(), chat.CallDecision{Call: c.ID, Decision: chat.DecisionAlways, Definition: w.tools.hash(c.Tool)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.store.StartCall(t.Context(), calls[1].ID, nil), os.RemoveAll(filepath.Join(w.dir, "streams"))); err != nil {
		t.Fatal(err)
	}
	w.tools.allow("read", "write")
	w.decide(calls[2], chat.DecisionOnce) // the turn continues and reaches the first two
	waiting := w.requireWaiting(w.ended(got.ID), 1)
	if len(w.tools.calls()) != 0 || waiting[0].ID != calls[0].ID {
		t.Fatalf("ran %q, %+v", w.tools.calls(), waiting)
	}
	w.decide(waiting[0], chat.DecisionOnce)
	waiting = w.requireWaiting(w.ended(got.ID), 1)
	if waiting[0].ID != calls[1].ID || waiting[0].State != chat.CallUnknown {
		t.Fatalf("%+v", waiting)
	}
	if err := w.engine.ResolveCall(t.Context(), turn.CallResolution{Call: waiting[0].ID, As: chat.ResolveTell}); err != nil {
		t.Fatal(err)
	}
	w.is(w.ended(got.ID), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
	if !slices.Equal(w.tools.calls(), []string{`write{"n":1}`, `write{"n":2}`}) {
		t.Errorf("ran %q", w.tools.calls())
	}
	w.clean()
}

// The time limit of a call does not include the time that the user takes to answer a question of its server. The tool
// source receives the definition that was allowed.
func TestACallsTimeLimitExcludesQuestions(t *testing.T) {
	newEnv(t).send("hi") // process-wide values must be created outside the bubble
	synctest.Test(t, func(t *testing.T) {
		w := withTools(t)
		w.tools.allow("write")
		w.settings.CallTimeout = 10 * time.Second
		w.tools.do = func(ctx context.Context, c tools.Call) (tools.Output, error) {
			release := c.Hold()
			select {
			case <-time.After(20 * time.Second):
			case <-ctx.Done():
			}
			release()
			said := fmt.Sprint("cut off: ", ctx.Err() != nil, ", allowed as it is: ", c.Definition == w.tools.hash("write"))
			return tools.Output{Content: chat.Blocks{chat.Text{Text: said}}}, nil
		}
		w.scriptCalls([]string{callEvent("a", "box__write", `{}`)}, []string{text("ok")})
		got := w.send("go")
		w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
		if want := "a false cut off: false, allowed as it is: true"; toolResults(got)[0] != want {
			t.Errorf("results %q", toolResults(got))
		}
		w.clean()
	})
}

// No call from elsewhere runs because of permissions on this machine, even if it is recorded as having no effects: a
// decision about one of them starts no other.
func TestCallsFromElsewhereAreNotAllowedByPolicy(t *testing.T) {
	w := withTools(t)
	w.scriptCalls([]string{callEvent("a", "box__write", `{}`), callEvent("r", "box__read", `{}`)}, []string{text("ok")})
	got := w.send("go")
	w.requireWaiting(got, 2)
	w.close()
	w.open()
	if err := os.RemoveAll(filepath.Join(w.dir, "streams")); err != nil {
		t.Fatal(err)
	}
	w.tools.allow("read", "write")
	if _, err := w.engine.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.decide(w.requireWaiting(got, 2)[0], chat.DecisionDeny)
	waiting := w.requireWaiting(w.ended(got.ID), 1)
	if len(w.tools.calls()) != 0 {
		t.Errorf("ran %q", w.tools.calls())
	}
	w.decide(waiting[0], chat.DecisionOnce)
	w.is(w.ended(got.ID), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
	w.clean()
}

// A permission that is revoked before a call begins does not apply to it.
func TestAPermissionRevokedBeforeACallBegins(t *testing.T) {
	for decision, state := range map[chat.ToolDecision]chat.ToolCallState{chat.DecisionNone: chat.CallProposed, chat.DecisionNever: chat.CallDone} {
		t.Run("now "+string(decision), func(t *testing.T) {
			w := withTools(t)
			w.tools.allow("write")
			w.tools.do = func(context.Context, tools.Call) (tools.Output, error) {
				w.tools.mu.Lock()
				defer w.tools.mu.Unlock()
				w.tools.decisions["write"] = decision // while the first of two runs
				return tools.Output{Content: chat.Blocks{chat.Text{Text: "did it"}}}, nil
			}
			w.scriptCalls([]string{callEvent("a", "box__write", `{"n":1}`), callEvent("b", "box__write", `{"n":2}`)}, []string{text("ok")})
			got := w.send("go")
			if !slices.Equal(w.tools.calls(), []string{`write{"n":1}`}) {
				t.Errorf("ran %q", w.tools.calls())
			}
			if second := w.batch(got.ID).Calls[1]; second.State != state || second.Decision != decision {
				t.Errorf("the second is %s %q", second.State, second.Decision)
			}
			if decision == chat.DecisionNone {
				w.decide(w.requireWaiting(got, 1)[0], chat.DecisionOnce)
				got = w.ended(got.ID)
			}
			w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
			w.clean()
		})
	}
}

// After a restore from the middle of a batch, no call with effects runs automatically, because it may have run since
// the backup. The outcome of a call that was to be run again is unknown.
func TestRestoredCallsAskAgain(t *testing.T) {
	for _, byHand := range []bool{false, true} {
		t.Run(fmt.Sprint("by hand: ", byHand), func(t *testing.T) { restoredCalls(t, byHand) })
	}
}

func restoredCalls(t *testing.T, byHand bool) {
	w := withTools(t)
	w.scriptCalls([]string{callEvent("a", "box__write", `{"n":1}`), callEvent("b", "box__write", `{"n":2}`), callEvent("c", "box__write", `{"n":3}`)}, []string{text("ok")})
	got := w.send("go")
	calls := w.requireWaiting(got, 3)
	w.close()
	w.open()
	allowOnce := func(c chat.CallRecord, state chat.ToolCallState) {
		t.Helper()
		if err := w.store.DecideCall(t.Context(), chat.CallDecision{Call: c.ID, State: state, Decision: chat.DecisionOnce, Definition: w.tools.hash(c.Tool)}); err != nil {
			t.Fatal(err)
		}
	}
	allowOnce(calls[0], chat.CallProposed)
	allowOnce(calls[1], chat.CallProposed)
	if err := errors.Join(w.store.StartCall(t.Context(), calls[1].ID, nil),
		w.store.EndCall(t.Context(), chat.CallEnd{Call: calls[1].ID, Reason: chat.UnknownTimeout})); err != nil {
		t.Fatal(err)
	}
	allowOnce(calls[1], chat.CallUnknown)
	w.restore(byHand)

	w.tools.allow("write") // a permanent permission does not apply to these calls either
	if _, err := w.engine.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := w.engine.ResumeTools(t.Context()); n != 0 || err != nil {
		t.Errorf("%d turns continue, %v", n, err)
	}
	waiting := w.requireWaiting(got, 3)
	if len(w.tools.calls()) != 0 || waiting[0].State != chat.CallProposed || waiting[1].State != chat.CallUnknown || waiting[2].State != chat.CallProposed {
		t.Errorf("ran %q, %+v", w.tools.calls(), waiting)
	}
	w.decide(waiting[0], chat.DecisionDeny)
	if err := w.engine.ResolveCall(t.Context(), turn.CallResolution{Call: waiting[1].ID, As: chat.ResolveTell}); err != nil {
		t.Fatal(err)
	}
	if remaining := w.requireWaiting(got, 1); len(w.tools.calls()) != 0 || remaining[0].ID != waiting[2].ID {
		t.Errorf("ran %q, %+v", w.tools.calls(), remaining)
	}
	w.decide(waiting[2], chat.DecisionOnce)
	w.is(w.ended(got.ID), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
	if !slices.Equal(w.tools.calls(), []string{`write{"n":3}`}) {
		t.Errorf("ran %q", w.tools.calls())
	}
	w.clean()
}

// restore restores a backup. By hand it only replaces the database, and the existing journals stay.
func (w *env) restore(byHand bool) {
	w.t.Helper()
	w.close()
	archive := store.NewArchive(store.ArchiveOptions{DataDir: w.dir, Clock: w.clock})
	backup, err := archive.Backup(w.t.Context(), filepath.Join(w.t.TempDir(), "copy.db"))
	switch {
	case err != nil:
	case byHand:
		var data []byte
		if data, err = os.ReadFile(backup.Path); err == nil {
			err = os.WriteFile(filepath.Join(w.dir, "contextinfinity.db"), data, 0o600)
		}
	default:
		_, err = archive.Restore(w.t.Context(), backup.Path, func(chat.Restoration) error { return nil })
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.open()
}

// The turns that a tool quoted are recorded with the call, for the X-ray.
func TestTurnsQuotedByAToolAreRecorded(t *testing.T) {
	w := withTools(t)
	w.scriptCalls([]string{text("one")})
	first := w.send("first")
	w.tools.allow("write")
	w.tools.do = func(context.Context, tools.Call) (tools.Output, error) {
		return tools.Output{Content: chat.Blocks{chat.Text{Text: "first"}}, Recalled: []chat.ShownTurn{{Session: first.SessionID, Turn: first.ID}}}, nil
	}
	w.scriptCalls([]string{callEvent("a", "box__write", `{}`)}, []string{text("two")})
	second := w.send("second")
	w.is(second, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "two")
	got, err := w.store.LookedUp(t.Context(), second.ID)
	if err != nil || len(got) != 1 || got[0].Turn != first.ID || got[0].TurnSeq != first.Seq || got[0].Tool != "write" {
		t.Errorf("recorded %+v, %v", got, err)
	}
	w.clean()
}
