package turn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/turn"
)

// elsewhere imports the env's session into another installation.
func (w *env) elsewhere() *env {
	w.t.Helper()
	other := withTools(w.t)
	other.provider, other.tools = w.provider, w.tools
	other.session, other.branch = w.session, w.branch
	other.restart()
	other.take(w)
	return other
}

// take imports what the other one has of the session.
func (w *env) take(other *env) chat.Imported {
	w.t.Helper()
	var b bytes.Buffer
	if _, err := other.store.WriteBundle(w.t.Context(), w.session.ID, &b, true); err != nil {
		w.t.Fatal(err)
	}
	out, _, err := w.store.ImportBundle(w.t.Context(), bytes.NewReader(b.Bytes()), int64(b.Len()), "")
	if err != nil || out.Session != w.session.ID {
		w.t.Fatal(out, err)
	}
	return out
}

// TestForeignTurnsAreLeftAlone: what another device began is neither finished, kept, discarded, stopped, decided nor
// committed here, by no button, no recovery and no job. What can be done here, is done on a branch of this device.
func TestForeignTurnsAreLeftAlone(t *testing.T) {
	for name, begin := range map[string]func(*env) chat.Turn{
		"incomplete": func(w *env) chat.Turn {
			w.provider.script(call{events: []string{text("half ")}})
			return w.send("go")
		},
		"failed": func(w *env) chat.Turn {
			w.provider.script(call{err: errRefused})
			return w.send("go")
		},
		"waits for a decision": func(w *env) chat.Turn {
			w.scriptCalls([]string{callEvent("a", "box__write", `{"n":1}`)})
			return w.send("go")
		},
		"not in a state yet": func(w *env) chat.Turn {
			w.provider.script(call{events: []string{text("all"), done}})
			return w.send("go")
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := withTools(t)
			began := begin(a)
			var waiting []chat.CallRecord
			if name == "waits for a decision" {
				waiting = a.requireWaiting(began, 1)
			}
			b := a.elsewhere()
			before := b.reload(began.ID)
			ctx := t.Context()
			b.recover()
			if n, err := b.engine.ResumeTools(ctx); n != 0 || err != nil {
				t.Errorf("%d turns continue: %v", n, err)
			}
			r := jobs.NewReconciler(jobs.ReconcilerDeps{Turns: b.engine, Store: b.store, Runner: b.jobs, Publish: b.published})
			if _, err := r.Reconcile(ctx); err != nil {
				t.Error(err)
			}
			if jobs, err := b.store.Jobs(ctx, chat.JobQuery{}); err != nil || len(jobs) != 0 {
				t.Errorf("jobs: %+v, %v", jobs, err)
			}
			if asked, err := b.store.WaitingCalls(ctx); err != nil || len(asked) != 0 {
				t.Errorf("asks about %+v, %v", asked, err)
			}
			if asked, err := b.engine.WaitingFor(ctx, before); err != nil || len(asked) != 0 {
				t.Errorf("asks about %+v, %v", asked, err)
			}
			acts := map[string]func() error{
				"stop":    func() error { _, err := b.engine.Stop(ctx, began.ID); return err },
				"keep":    func() error { _, err := b.engine.Keep(ctx, began.ID); return err },
				"discard": func() error { _, err := b.engine.Discard(ctx, began.ID); return err },
				"send":    func() error { _, err := b.engine.SendUnsent(ctx, began.ID, ""); return err },
				"commit":  func() error { return b.jobs.CommitThrough(ctx, began) },
			}
			if !began.Phase.Finalized() && began.Phase != chat.PhaseFailed {
				acts["retry"] = func() error { _, err := b.engine.Retry(ctx, began.ID, ""); return err }
				acts["continue"] = func() error { _, err := b.engine.Continue(ctx, began.ID, ""); return err }
			}
			for _, c := range waiting {
				for _, d := range []chat.ToolDecision{chat.DecisionOnce, chat.DecisionDeny} {
					acts["decide "+string(d)] = func() error {
						return b.engine.DecideCall(ctx, turn.CallChoice{Call: c.ID, Decision: d, Hash: b.tools.hash(c.Tool)})
					}
				}
				acts["resolve"] = func() error {
					return b.engine.ResolveCall(ctx, turn.CallResolution{Call: c.ID, As: chat.ResolveTell})
				}
			}
			for act, do := range acts {
				err := do()
				var known *chat.Error
				if err != nil && !(errors.As(err, &known) && known.Code == chat.CodeConflict) {
					t.Errorf("%s: %v", act, err)
				}
				if open := !began.Phase.Finalized() && began.Phase != chat.PhaseFailed; err == nil && open && act != "commit" {
					t.Errorf("%s is not refused", act)
				}
			}
			if now := b.reload(began.ID); asJSON(t, now) != asJSON(t, before) || len(b.tools.calls()) != 0 {
				t.Errorf("changed: %s\nto %s, ran %q", asJSON(t, before), asJSON(t, now), b.tools.calls())
			}
			if out := a.take(b); out.Outcome != chat.ImportAlready {
				t.Errorf("something was written to the session: %+v", out)
			}
			// A message continues after the last turn that has ended, on a branch of its own.
			b.provider.script(call{events: []string{text("more"), done}})
			sent := b.send("and on")
			b.is(sent, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "more")
			if sent.BranchID == began.BranchID {
				t.Error("it was written to the branch of the other device")
			}
			if name == "failed" {
				b.provider.script(call{events: []string{text("again"), done}})
				h, err := b.engine.Retry(context.Background(), began.ID, "")
				if err != nil {
					t.Fatal(err)
				}
				if again := b.wait(h); again.BranchID != sent.BranchID || again.RetryOf != began.ID {
					t.Errorf("%+v", again)
				}
			}
			b.clean()
			a.take(b)
			a.clean()
			if now := a.reload(began.ID); now.Phase != began.Phase || now.Outcome != began.Outcome {
				t.Errorf("there: %+v, was %+v", now, began)
			}
		})
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAForeignBranchAfterATurnInNoState: another device began a branch after a turn of this one that no state covers yet, as when a
// model that summarizes cannot be reached. A message there is written all the same.
func TestAForeignBranchAfterATurnInNoState(t *testing.T) {
	a := withTools(t)
	a.provider.script(call{events: []string{text("all"), done}})
	if began := a.send("go"); !began.Pending() {
		t.Fatalf("%+v", began)
	}
	b := a.elsewhere()
	if _, _, err := b.store.Depart(t.Context(), []byte("{}")); err != nil { // data directories of tests are copies of one
		t.Fatal(err)
	}
	own, err := b.branches.Own(t.Context(), b.branch.ID)
	if err != nil {
		t.Fatal(err)
	}
	a.take(b)
	a.branch.ID = own
	a.provider.script(call{events: []string{text("more"), done}})
	sent := a.send("and on")
	a.is(sent, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "more")
	if sent.BranchID == own {
		t.Error("it was written to the branch of the other device")
	}
}
