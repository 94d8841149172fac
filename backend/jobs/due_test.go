package jobs_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/jobs"
)

// forbidden is a model that must not be called.
type forbidden struct{ t *testing.T }

func (forbidden) Name() string    { return "forbidden" }
func (forbidden) InputLimit() int { return 100_000 }
func (f forbidden) Complete(context.Context, string, string, int) (string, *chat.Usage, error) {
	f.t.Error("a model was called")
	return "", nil, errors.New("called")
}

// TestRunDueCallsNoModel: the limited work after a send commits and indexes everything that is due, with the
// rule-based summary even if a librarian model is configured.
func TestRunDueCallsNoModel(t *testing.T) {
	b := newFixture(t)
	r := jobs.NewRunner(b.deps(forbidden{t}))
	first, last := b.addTurn("We decided to use plan alpha.", "Fine."), b.addTurn("And plan beta?", "Also fine.")
	b.must(r.RunDue(t.Context(), last))
	for _, turn := range []chat.Turn{first, last} {
		if got := b.phase(turn.ID); got != chat.PhaseDone {
			t.Errorf("turn #%d is %s", turn.Seq, got)
		}
	}
	if st := b.state(); st.Origin != chat.StateFallback {
		t.Errorf("the state's origin is %s", st.Origin)
	}
}

// TestRunDueWhilePaused: a pause also applies to the work after a send.
func TestRunDueWhilePaused(t *testing.T) {
	b := newFixture(t)
	r := jobs.NewRunner(b.deps(nil))
	r.Pause()
	turn := b.addTurn("Hello", "Hi")
	b.must(r.RunDue(t.Context(), turn))
	if got := b.phase(turn.ID); got != chat.PhaseResponseFinalized {
		t.Errorf("turn is %s", got)
	}
}

// slowVectors returns vectors only after the caller has given up, unless it is fast.
type slowVectors struct {
	called chan struct{}
	fast   bool
}

func (v *slowVectors) Vectors(ctx context.Context, _ []chat.UnitText) (map[int64][][]float32, error) {
	if v.fast {
		return nil, nil
	}
	close(v.called)
	<-ctx.Done()
	return nil, ctx.Err()
}

func (*slowVectors) Step(context.Context) (bool, error) { return false, nil }

// TestRunDueEndsInTime: if the time runs out during an embedder's call, the turn is searchable by words, the attempt
// does not count, and the next run finishes it.
func TestRunDueEndsInTime(t *testing.T) {
	b := newFixture(t)
	v := &slowVectors{called: make(chan struct{})}
	d := b.deps(nil)
	d.Vectors = v
	r := jobs.NewRunner(d)
	turn := b.addTurn("The port is 5433.", "Noted.")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-v.called; cancel() }()
	b.must(r.RunDue(ctx, turn))

	hits, err := b.store.SearchUnits(t.Context(), []string{"5433"}, chat.Within{Scope: chat.ScopeAll}, 5)
	b.must(err)
	if len(hits) == 0 {
		t.Error("the words are not searchable")
	}
	job, ok, err := b.store.JobFor(t.Context(), turn.ID, chat.JobIndexTurn)
	b.must(err)
	if !ok || job.State != chat.JobQueued || job.Attempts != 0 {
		t.Errorf("the job is %s after %d tries", job.State, job.Attempts)
	}
	v.fast = true
	b.must(r.RunDue(t.Context(), turn))
	if got := b.phase(turn.ID); got != chat.PhaseDone {
		t.Errorf("the turn is %s after the next run", got)
	}
}

// TestWaitIndexedCoversEarlierTurns: waiting for one turn also indexes the turns that earlier runs of the program did
// not index.
func TestWaitIndexedCoversEarlierTurns(t *testing.T) {
	b := newFixture(t)
	r := jobs.NewRunner(b.deps(nil))
	var turns []chat.Turn
	branch := b.branch
	_, another, err := b.store.CreateSession(t.Context(), chat.NewSession{Title: "another"})
	b.must(err)
	b.branch = another
	turns = append(turns, b.addTurn("elsewhere", "ok"))
	b.branch = branch
	for _, text := range []string{"one", "two"} {
		turns = append(turns, b.addTurn(text, "ok"))
	}
	_, err = r.RunTurn(t.Context(), turns[2].ID, jobs.LevelIndexed)
	b.must(err)
	for _, turn := range turns {
		if got := b.phase(turn.ID); got != chat.PhaseDone {
			t.Errorf("turn #%d is %s", turn.Seq, got)
		}
	}
}

// TestInstructionsAreAnnounced: the window gets an event if a commit may have a pin to suggest, and only then.
func TestInstructionsAreAnnounced(t *testing.T) {
	b := newFixture(t)
	r := jobs.NewRunner(b.deps(nil))
	for text, want := range map[string]bool{"What is a monad?": false, "From now on, answer in German.": true} {
		b.changes.seen = nil
		b.must(r.RunDue(t.Context(), b.addTurn(text, "ok")))
		announced := slices.ContainsFunc(b.changes.seen, func(c chat.Change) bool {
			return c.Kind == chat.ChangePins && c.ID == string(b.branch.ID)
		})
		if announced != want {
			t.Errorf("%q: announced %v", text, announced)
		}
	}
}
