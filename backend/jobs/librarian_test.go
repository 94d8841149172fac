package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/librarian"
	"contextinfinity/backend/store"
)

// addTurn adds a turn with a final answer.
func (b *fixture) addTurn(user, answer string) chat.Turn {
	b.t.Helper()
	return b.addTurnOf("m", user, answer)
}

func (b *fixture) addTurnOf(model, user, answer string) chat.Turn {
	b.t.Helper()
	ctx := b.t.Context()
	turn, err := b.store.Accept(ctx, chat.Acceptance{BranchID: b.branch.ID, User: chat.UserText(user), Provider: "p", Model: model})
	b.must(err)
	b.must(b.store.Prepare(ctx, chat.Preparation{TurnID: turn.ID, Manifest: []byte("{}")}))
	step, err := b.store.BeginStep(ctx, chat.StepStart{TurnID: turn.ID, Provider: "p", ModelID: model, Request: []byte("{}"), StreamPath: func(id chat.StepID) string { return string(id) }})
	b.must(err)
	turn, err = b.store.Finalize(ctx, chat.Finalization{
		TurnID: turn.ID, Outcome: chat.OutcomeCompleted, Message: chat.AssistantText(answer),
		Step: &chat.StepEnd{StepID: step.ID, Outcome: chat.StepOutcome{Status: chat.StepCompleted}},
	})
	b.must(err)
	return turn
}

// deps returns the dependencies of a runner with a model.
func (b *fixture) deps(m librarian.Model) jobs.Deps {
	d := jobs.Deps{Queue: b.store, Store: b.store, Publish: &b.changes, Counter: bytesCount{}, TargetTokens: func() int { return 600 }}
	if m != nil {
		d.Summarize = func(context.Context, chat.Turn) librarian.Model { return m }
	}
	return d
}

func (b *fixture) state() chat.State {
	b.t.Helper()
	st, err := b.store.State(b.t.Context(), b.head().HeadState)
	b.must(err)
	return st
}

// TestStatesByAModel: after a fallback the model is given every turn since its own last state, instead of the
// fallback's text.
func TestStatesByAModel(t *testing.T) {
	b := newFixture(t)
	m := &faulty{r: rand.New(rand.NewPCG(1, 1)), limit: 100_000} // a seeded test
	var input string
	m.onCall = func(_, user string) { input = user }
	r := jobs.NewRunner(b.deps(m))
	b.addTurn("We decided to use plan alpha.", "Fine.")
	_, err := r.Drain(t.Context())
	b.must(err)
	if st := b.state(); st.Origin != chat.StateLibrarian || st.Model != "faulty" {
		t.Fatalf("the first state is %s: %s", st.Origin, st.Validation)
	}
	down := jobs.NewRunner(b.deps(&downModel{}))
	b.addTurn("We decided to use plan beta.", "Fine.")
	_, err = down.Drain(t.Context())
	b.must(err)
	if st := b.state(); st.Origin != chat.StateFallback || !strings.Contains(string(st.Validation), "the model failed") {
		t.Fatalf("with the model down the state is %s: %s", st.Origin, st.Validation)
	}
	b.addTurn("We decided to use plan gamma.", "Fine.")
	_, err = r.Drain(t.Context())
	b.must(err)
	measured, err := b.store.Metrics(t.Context(), b.branch.ID, 3)
	b.must(err)
	for i, want := range []chat.CheckResult{chat.CheckPassed, chat.CheckFailed, chat.CheckPassed} {
		if m := measured[i].Metrics; m.ValidationResult != want || m.ValidationTries != 1 {
			t.Errorf("turn %d: validation %q after %d tries, want %q after 1", measured[i].TurnSeq, m.ValidationResult, m.ValidationTries, want)
		}
	}
	st := b.state()
	if st.Origin != chat.StateLibrarian || !strings.Contains(input, "<user turn=\"2\">") || !strings.Contains(input, "<user turn=\"3\">") ||
		strings.Contains(input, "<user turn=\"1\">") || strings.Contains(input, "Last exchange") {
		t.Fatalf("%s, with the input\n%s", st.Origin, input)
	}
	for _, plan := range []string{"alpha", "beta", "gamma"} {
		if !strings.Contains(st.Summary, plan) {
			t.Errorf("plan %s is lost:\n%s", plan, st.Summary)
		}
	}
}

// TestAModelTitlesASession: the first state summary sets a title that replaces the first words, unless the user chose
// one before or in the meantime; later states do not.
func TestAModelTitlesASession(t *testing.T) {
	const message = "We decided to use plan alpha."
	for name, test := range map[string]struct{ before, meanwhile, want string }{
		"title from the first words": {message, "", "Plan alpha"},
		"title set before":           {"My plans", "", "My plans"},
		"title set meanwhile":        {message, "My plans", "My plans"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t)
			b.must(b.store.RenameSession(t.Context(), b.branch.SessionID, test.before))
			m := &titling{meanwhile: func() {
				if test.meanwhile != "" {
					b.must(b.store.RenameSession(t.Context(), b.branch.SessionID, test.meanwhile))
				}
			}}
			r := jobs.NewRunner(b.deps(m))
			for range 2 {
				b.addTurn(message, "Fine.")
				_, err := r.Drain(t.Context())
				b.must(err)
			}
			session, err := b.store.Session(t.Context(), b.branch.SessionID)
			b.must(err)
			if session.Title != test.want {
				t.Errorf("the session has the title %q, want %q", session.Title, test.want)
			}
			if st := b.state(); st.Origin != chat.StateLibrarian || strings.Contains(st.Summary, "Title") {
				t.Errorf("%s:\n%s", st.Origin, st.Summary)
			}
			if want := map[bool]int{true: 1}[test.before == message]; m.requests != want {
				t.Errorf("a title was requested %d times, want %d", m.requests, want)
			}
		})
	}
}

// titling is a model that returns a title when asked for one.
type titling struct {
	requests  int
	meanwhile func()
}

func (*titling) Name() string    { return "titling" }
func (*titling) InputLimit() int { return 100_000 }
func (m *titling) Complete(_ context.Context, system, _ string, _ int) (string, *chat.Usage, error) {
	answer := "## Decisions\n- We decided to use plan alpha.\n"
	if strings.Contains(system, `"Title: "`) {
		m.requests++
		m.meanwhile()
		answer = "Title: Plan alpha\n\n" + answer
	}
	return answer, nil, nil
}

type downModel struct{}

func (downModel) Name() string    { return "down" }
func (downModel) InputLimit() int { return 100_000 }
func (downModel) Complete(context.Context, string, string, int) (string, *chat.Usage, error) {
	return "", nil, errors.New("down")
}

// TestLazyCommit: turns wait until there are enough of them and are then committed in one state summary; CommitPending
// and waiting for a turn commit at once.
func TestLazyCommit(t *testing.T) {
	b := newFixture(t)
	d := b.deps(nil)
	d.Commit = func() jobs.CommitPolicy { return jobs.CommitPolicy{Lazy: true, PendingTokens: 100} }
	r := jobs.NewRunner(d)
	drain := func() int {
		_, err := r.Drain(t.Context())
		b.must(err)
		return int(b.head().HeadSeq)
	}
	first := b.addTurn("We decided to use plan one.", strings.Repeat("word ", 40))
	if seq := drain(); seq != 0 || b.phase(first.ID) != chat.PhaseResponseFinalized {
		t.Fatalf("committed at once: head #%d", seq)
	}
	job, _, err := b.store.JobFor(t.Context(), first.ID, chat.JobSummarizeTurn)
	b.must(err)
	if job.State != chat.JobQueued || job.Attempts != 0 || !job.RunAfter.After(b.clock.Now()) {
		t.Fatalf("the waiting job is %+v", job)
	}
	second := b.addTurn("Never use plan two.", strings.Repeat("word ", 40))
	if seq := drain(); seq != 1 || b.phase(first.ID) != chat.PhaseDone || b.phase(second.ID) != chat.PhaseDone {
		t.Fatalf("head #%d, %s, %s", seq, b.phase(first.ID), b.phase(second.ID))
	}
	b.addTurn("We decided to use plan three.", "ok")
	b.addTurn("We decided to use plan four.", "ok")
	n, err := r.CommitPending(t.Context(), b.branch.ID)
	b.must(err)
	if seq := b.head().HeadSeq; n != 2 || seq != 2 {
		t.Fatalf("%d committed, head #%d", n, seq)
	}
	last := b.addTurn("We decided to use plan five.", "ok")
	if _, err := r.RunTurn(t.Context(), last.ID, jobs.LevelCommitted); err != nil || b.phase(last.ID) != chat.PhaseStateCommitted {
		t.Fatalf("after the wait: %s %v", b.phase(last.ID), err)
	}
	if n, err := b.store.RequeueMissing(t.Context()); n != 0 || err != nil {
		t.Errorf("%d jobs were missing (%v)", n, err)
	}
}

// TestPendingTurnsFitTheWindow: turns are committed once they fill what a small window has room for, although
// budget.pending_window_tokens and librarian.min_turns would wait longer.
func TestPendingTurnsFitTheWindow(t *testing.T) {
	for name, p := range map[string]jobs.CommitPolicy{"lazy": {Lazy: true, PendingTokens: 8000}, "batches": {MinTurns: 50}} {
		b := newFixture(t)
		d := b.deps(nil)
		d.Commit = func() jobs.CommitPolicy { return p }
		d.PendingLimit = func(_ context.Context, branch chat.BranchID) int {
			if branch != b.branch.ID {
				t.Errorf("asked for branch %s", branch)
			}
			return 100
		}
		r := jobs.NewRunner(d)
		for i, want := range []int64{0, 1} {
			b.addTurn("We decided to use plan one.", strings.Repeat("word ", 60))
			_, err := r.Drain(t.Context())
			if b.must(err); b.head().HeadSeq != want {
				t.Errorf("%s: after %d turns the head is #%d", name, i+1, b.head().HeadSeq)
			}
		}
	}
}

func TestMinTurns(t *testing.T) {
	b := newFixture(t)
	d := b.deps(nil)
	d.Commit = func() jobs.CommitPolicy { return jobs.CommitPolicy{MinTurns: 3} }
	r := jobs.NewRunner(d)
	for n := range 7 {
		b.final(n)
		_, err := r.Drain(t.Context())
		b.must(err)
		if seq := b.head().HeadSeq; seq != int64((n+1)/3) {
			t.Fatalf("after %d turns the head is #%d", n+1, seq)
		}
	}
}

// gated delays its first commit until another writer has moved the head.
type gated struct {
	*store.Store
	once    sync.Once
	ready   chan struct{} // closed when a state summary is prepared
	proceed chan struct{}
	epoch   int64 // of the delayed commit
}

func (g *gated) Commit(ctx context.Context, c chat.Commit) (chat.State, error) {
	g.once.Do(func() {
		g.epoch = c.Epoch
		close(g.ready)
		<-g.proceed
	})
	return g.Store.Commit(ctx, c)
}

// TestRaceOnAHead: two runners prepare a state summary for the same head. The second one to commit notices that the
// head moved, and repeats its work or finds it done; each turn is committed once.
func TestRaceOnAHead(t *testing.T) {
	for name, jobFirst := range map[string]bool{"the job is stale": false, "the other is stale": true} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t)
			first, second := b.final(1), b.final(2)
			slow := &gated{Store: b.store, ready: make(chan struct{}), proceed: make(chan struct{})}
			stale, quick := b.runner(slow), b.runner(b.store)
			ids := [2]chat.Turn{second, first} // the stale one commits both, the quick one the first
			if jobFirst {
				ids = [2]chat.Turn{first, second}
			}
			done := make(chan error, 1)
			go func() {
				_, err := stale.RunTurn(context.WithoutCancel(t.Context()), ids[0].ID, jobs.LevelCommitted)
				done <- err
			}()
			<-slow.ready
			_, err := quick.RunTurn(t.Context(), ids[1].ID, jobs.LevelCommitted)
			b.must(err)
			after := b.head().Epoch
			close(slow.proceed)
			b.must(<-done)
			if after == slow.epoch {
				t.Fatal("the head did not move, so the test proves nothing")
			}
			states, err := b.store.States(t.Context(), b.branch.ID)
			b.must(err)
			if h := b.head(); h.HeadSeq != 2 || len(states) != 3 {
				t.Fatalf("head #%d of %d states", h.HeadSeq, len(states))
			}
			if b.phase(first.ID) != chat.PhaseStateCommitted || b.phase(second.ID) != chat.PhaseStateCommitted {
				t.Fatalf("%s, %s", b.phase(first.ID), b.phase(second.ID))
			}
			if s := b.state().Summary; !strings.Contains(s, "plan 1") || !strings.Contains(s, "plan 2") {
				t.Fatalf("the second writer overwrote the first:\n%s", s)
			}
			findings, err := b.store.Verify(t.Context())
			b.must(err)
			if len(findings) > 0 {
				t.Errorf("%+v", findings)
			}
		})
	}
}

// TestRangeJobs: a range summary is created from the summaries in it and supersedes them, except for those in the
// newest request; a second writer changes nothing.
func TestRangeJobs(t *testing.T) {
	b := newFixture(t)
	r := jobs.NewRunner(b.deps(&faulty{r: rand.New(rand.NewPCG(1, 1)), limit: 100_000})) // a seeded test
	var turns []chat.Turn
	for n := range 12 {
		turns = append(turns, b.addTurn(fmt.Sprintf("We decided to use plan %d. Never skip step %d.", n, n), strings.Repeat("An answer that goes on for a while. ", 20)))
	}
	enqueue := func(from int64, last int) {
		added, err := b.store.EnqueueRange(t.Context(), b.branch.ID, from, turns[last].ID)
		b.must(err)
		if !added {
			t.Fatalf("no job for turns %d to %d", from, last+1)
		}
		_, err = r.Drain(t.Context())
		b.must(err)
	}
	enqueue(1, 3)
	enqueue(5, 7)
	live, err := b.store.Summaries(t.Context(), b.branch.ID)
	b.must(err)
	if len(live) != 2 || live[0].GeneratedBy != "faulty" || live[0].TokenCount >= live[0].OriginalTokens || !strings.Contains(live[1].Content, "plan 7") {
		t.Fatalf("%+v", live)
	}
	for _, s := range live { // the validation is stored with it, as for a state summary
		if c := s.Check(); c.Tries < 1 || c.Result != chat.CheckPassed && c.Result != chat.CheckRepaired {
			t.Errorf("turns %d to %d: %+v of %s", s.From, s.To-1, c, s.Validation)
		}
	}
	sent := b.addTurn("We decided to use plan 12.", "ok")
	b.must(setManifest(b, sent, live[1].ID))
	enqueue(1, 11)
	after, err := b.store.Summaries(t.Context(), b.branch.ID)
	b.must(err)
	kept := map[string]bool{}
	for _, s := range after {
		kept[s.ID] = true
		if s.From == 1 && s.To == 13 && (!strings.Contains(s.Content, "plan 2") || !strings.Contains(s.Content, "plan 11") || s.TokenCount >= s.OriginalTokens) {
			t.Errorf("the joined summary:\n%s", s.Content)
		}
	}
	if len(after) != 2 || kept[live[0].ID] || !kept[live[1].ID] {
		t.Errorf("live are %+v", after)
	}
	all, err := b.store.AllSummaries(t.Context(), b.branch.SessionID)
	b.must(err)
	if len(all) != 3 {
		t.Errorf("%d summaries in all", len(all))
	}
	_, _, failed, err := b.store.JobCounts(t.Context())
	b.must(err)
	if failed != 0 {
		t.Errorf("%d jobs failed", failed)
	}
}

// setManifest adds a turn whose manifest contains a summary.
func setManifest(b *fixture, after chat.Turn, summary string) error {
	ctx := b.t.Context()
	turn, err := b.store.Accept(ctx, chat.Acceptance{BranchID: after.BranchID, User: chat.UserText("x"), Provider: "p", Model: "m"})
	if err != nil {
		return err
	}
	return b.store.Prepare(ctx, chat.Preparation{TurnID: turn.ID, Manifest: []byte(`{"history":{"pieces":[{"from":5,"to":9,"summary":"` + summary + `"}]}}`)})
}

// TestRangeWaitsForCommits: a range with turns that are not committed yet is deferred, and no model is called.
func TestRangeWaitsForCommits(t *testing.T) {
	b := newFixture(t)
	m := &faulty{r: rand.New(rand.NewPCG(1, 1)), limit: 100_000} // a seeded test
	d := b.deps(m)
	d.Commit = func() jobs.CommitPolicy { return jobs.CommitPolicy{Lazy: true, PendingTokens: 1 << 20} }
	r := jobs.NewRunner(d)
	turn := b.final(1)
	_, err := b.store.EnqueueRange(t.Context(), b.branch.ID, 1, turn.ID)
	b.must(err)
	_, err = r.Drain(t.Context())
	b.must(err)
	queued, running, failed, err := b.store.JobCounts(t.Context())
	b.must(err)
	if queued != 2 || running != 0 || failed != 0 || m.calls != 0 {
		t.Errorf("%d queued, %d running, %d failed, %d calls", queued, running, failed, m.calls)
	}
}

// TestStopDoesNotFallBack: a run that is stopped commits nothing, and its job is claimed again.
func TestStopDoesNotFallBack(t *testing.T) {
	b := newFixture(t)
	turn := b.final(1)
	called := make(chan struct{})
	r := jobs.NewRunner(b.deps(hanging{called}))
	r.Start()
	<-called
	r.Stop()
	if b.phase(turn.ID) != chat.PhaseResponseFinalized {
		t.Fatalf("the turn is %s", b.phase(turn.ID))
	}
	b.clock.Advance(time.Hour)
	_, err := b.runner(b.store).Drain(t.Context())
	b.must(err)
	if b.phase(turn.ID) != chat.PhaseDone {
		t.Fatalf("after the restart the turn is %s", b.phase(turn.ID))
	}
}

// hanging is a model that never answers.
type hanging struct{ called chan struct{} }

func (hanging) Name() string    { return "hanging" }
func (hanging) InputLimit() int { return 100_000 }
func (h hanging) Complete(ctx context.Context, _, _ string, _ int) (string, *chat.Usage, error) {
	close(h.called)
	<-ctx.Done()
	return "", nil, ctx.Err()
}

// TestIndexingDoesNotWait: while a model is working, another turn becomes searchable.
func TestIndexingDoesNotWait(t *testing.T) {
	b := newFixture(t)
	first := b.final(1)
	_, err := b.runner(b.store).RunTurn(t.Context(), first.ID, jobs.LevelCommitted)
	b.must(err)
	b.final(2)
	called := make(chan struct{})
	r := jobs.NewRunner(b.deps(hanging{called}))
	r.Start()
	<-called
	for deadline := time.Now().Add(time.Minute); b.phase(first.ID) != chat.PhaseDone; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("indexing waited for the model")
		}
	}
	r.Stop()
}
