package store

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
)

// env drives a store at random and keeps a model of what must hold (SPEC 2).
type env struct {
	*fixture
	t        *rapid.T
	branches []*line
	heads    map[chat.BranchID]chat.StateID
	texts    map[chat.TurnID]string // the text of each accepted message, which must never change
	n        int
}

// line is the model of a branch: the turns of its lineage, in order.
type line struct {
	id    chat.BranchID
	epoch int64
	turns []chat.Turn
	own   int // index of the first turn of its own
}

func (w *env) pick() *line { return rapid.SampledFrom(w.branches).Draw(w.t, "branch") }

// accept accepts a message on a random branch, or expects the refusal that the newest turn demands.
func (w *env) accept() {
	b := w.pick()
	w.n++
	words := fmt.Sprintf("message %d", w.n)
	turn, err := w.Accept(w.ctx, chat.Acceptance{BranchID: b.id, User: chat.UserText(words), Provider: "p", Model: "m"})
	last := b.last()
	if last != nil && !last.Phase.Finalized() && last.Phase != chat.PhaseFailed {
		want := chat.CodeBusy
		if last.Outcome == chat.OutcomeIncomplete {
			want = chat.CodeIncomplete
		}
		w.refused(err, want)
		return
	}
	w.ok(err)
	if turn.Seq != int64(len(b.turns)+1) {
		w.t.Fatalf("turn_seq %d after %d turns", turn.Seq, len(b.turns))
	}
	w.texts[turn.ID] = words
	b.turns = append(b.turns, turn)
}

func (l *line) last() *chat.Turn {
	if len(l.turns) == 0 || len(l.turns) == l.own {
		return nil
	}
	return &l.turns[len(l.turns)-1]
}

// running returns the newest turn if its answer is not final.
func (l *line) running() *chat.Turn {
	if last := l.last(); last != nil && !last.Phase.Finalized() && last.Phase != chat.PhaseFailed {
		return last
	}
	return nil
}

// end finishes the running turn of a random branch in one of the possible ways.
func (w *env) end() {
	b := w.pick()
	turn := b.running()
	if turn == nil {
		return
	}
	var err error
	if turn.Outcome == chat.OutcomeIncomplete {
		w.ok(w.Resume(w.ctx, turn.ID))
		turn.Outcome = ""
	}
	step := w.respondAgain(turn)
	words := "answer to " + w.texts[turn.ID]
	switch rapid.SampledFrom([]string{"finalize", "fail", "interrupt"}).Draw(w.t, "end") {
	case "finalize":
		*turn, err = w.Finalize(w.ctx, chat.Finalization{TurnID: turn.ID, Step: w.ended(step, chat.StepCompleted, words),
			Message: chat.AssistantText(words), Outcome: chat.OutcomeCompleted})
	case "fail":
		*turn, err = w.FailTurn(w.ctx, chat.TurnFailure{TurnID: turn.ID, Step: w.ended(step, chat.StepFailed, ""), Outcome: chat.OutcomeFailed})
	case "interrupt":
		*turn, err = w.Interrupt(w.ctx, chat.Interruption{TurnID: turn.ID, Step: w.ended(step, chat.StepIncomplete, words)})
	}
	w.ok(err)
}

func (w *env) respondAgain(turn *chat.Turn) chat.Step {
	w.ok(w.Prepare(w.ctx, chat.Preparation{TurnID: turn.ID, Manifest: []byte(`{}`)}))
	step, err := w.BeginStep(w.ctx, chat.StepStart{TurnID: turn.ID, Provider: "p", ModelID: "m", Request: []byte("{}")})
	w.ok(err)
	return step
}

// commit tries a run of pending turns and an epoch, valid or not; the model decides what must happen.
func (w *env) commit() {
	b := w.pick()
	pending := b.pending()
	run := slices.Clone(pending[:rapid.IntRange(0, len(pending)).Draw(w.t, "run")])
	if len(pending) > 1 && rapid.IntRange(0, 4).Draw(w.t, "gap") == 0 {
		run = pending[1:]
	}
	epoch := b.epoch + rapid.SampledFrom([]int64{0, 0, 0, -1, 1}).Draw(w.t, "stale")
	state, err := w.Commit(w.ctx, chat.Commit{BranchID: b.id, Epoch: epoch, Turns: run, Summary: "s", Origin: chat.StateFallback})
	switch {
	case epoch != b.epoch:
		w.refused(err, chat.CodeConflict)
		return
	case len(run) == 0:
		w.refused(err, chat.CodeInvalid)
		return
	case run[0] != pending[0]:
		w.refused(err, chat.CodeConflict)
		return
	}
	w.ok(err)
	b.epoch++
	w.heads[b.id] = state.ID
	for i := range b.turns {
		if slices.Contains(run, b.turns[i].ID) {
			b.turns[i].StateAfter, b.turns[i].Phase = state.ID, chat.PhaseStateCommitted
		}
	}
}

func (l *line) pending() []chat.TurnID {
	var out []chat.TurnID
	for _, t := range l.turns[l.own:] {
		if t.Pending() {
			out = append(out, t.ID)
		}
	}
	return out
}

func (w *env) fork() {
	b := w.pick()
	if len(w.branches) > 6 {
		return
	}
	at := rapid.IntRange(0, len(b.turns)).Draw(w.t, "after")
	point := chat.ForkPoint{Branch: b.id}
	canFork := true
	for _, t := range b.turns[:at] {
		point.After = t.ID
		canFork = canFork && !t.Pending() && (t.Phase.Finalized() || t.Phase == chat.PhaseFailed)
	}
	child, err := w.Fork(w.ctx, point)
	if !canFork {
		w.refused(err, chat.CodeConflict)
		return
	}
	w.ok(err)
	w.heads[child.ID] = child.HeadState
	w.branches = append(w.branches, &line{id: child.ID, turns: slices.Clone(b.turns[:at]), own: at})
}

func (w *env) indexSome() {
	b := w.pick()
	for i := range b.turns {
		if t := &b.turns[i]; t.Phase == chat.PhaseStateCommitted || t.Phase == chat.PhaseDone {
			w.ok(w.Index(w.ctx, chat.Indexing{TurnID: t.ID, Chunks: chunksOf(*t), Status: chat.IndexOK}))
			w.done(t.ID)
		}
	}
}

// done marks a turn as committed in the model of every branch that shares it.
func (w *env) done(id chat.TurnID) {
	for _, b := range w.branches {
		for i := range b.turns {
			if b.turns[i].ID == id {
				b.turns[i].Phase = chat.PhaseDone
			}
		}
	}
}

// check compares the store with the model.
func (w *env) check() {
	for _, b := range w.branches {
		got, err := w.Lineage(w.ctx, chat.LineageQuery{Branch: b.id})
		w.ok(err)
		if len(got) != len(b.turns) {
			w.t.Fatalf("branch %s shows %d turns, want %d", b.id, len(got), len(b.turns))
		}
		for i, t := range got {
			want := b.turns[i]
			if t.ID != want.ID || t.Seq != int64(i+1) || t.User.RenderedText() != w.texts[t.ID] || t.StateAfter != want.StateAfter ||
				t.Outcome != want.Outcome || t.Phase != want.Phase {
				w.t.Fatalf("branch %s turn %d is %+v, want %+v", b.id, i+1, t, want)
			}
		}
		pending, err := w.PendingTurns(w.ctx, b.id)
		w.ok(err)
		if len(pending) != len(b.pending()) {
			w.t.Fatalf("branch %s has %d pending, want %d", b.id, len(pending), len(b.pending()))
		}
		branch, err := w.Branch(w.ctx, b.id)
		w.ok(err)
		if branch.Epoch != b.epoch || branch.HeadState != w.heads[b.id] {
			w.t.Fatalf("branch %s head %s epoch %d, want %s %d", b.id, branch.HeadState, branch.Epoch, w.heads[b.id], b.epoch)
		}
	}
}

// TestAnySequenceKeepsTheInvariants drives random histories with stale epochs and forbidden steps. What the model
// allows must succeed, what it forbids must be refused with its code, and verify must find nothing.
func TestAnySequenceKeepsTheInvariants(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newEnv(t, rt)
		defer w.Store.Close()
		rt.Repeat(map[string]func(*rapid.T){
			"accept": func(*rapid.T) { w.accept() },
			"end":    func(*rapid.T) { w.end() },
			"commit": func(*rapid.T) { w.commit() },
			"fork":   func(*rapid.T) { w.fork() },
			"index":  func(*rapid.T) { w.indexSome() },
		})
		w.check()
		if n, err := w.RequeueMissing(w.ctx); n != 0 || err != nil {
			rt.Fatalf("%d jobs were not made in their transactions: %v", n, err)
		}
		w.verifyClean()
	})
}

func newEnv(t *testing.T, rt *rapid.T) *env {
	f := newFixture(t)
	_, b := f.session("random")
	return &env{
		fixture: f, t: rt, branches: []*line{{id: b.ID}}, texts: map[chat.TurnID]string{},
		heads: map[chat.BranchID]chat.StateID{b.ID: b.HeadState},
	}
}
