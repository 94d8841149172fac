package jobs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/jobs"
)

// after is a model that answers or fails when answered is closed.
type after struct {
	asked, answered chan struct{}
	err             error
}

func (*after) Name() string    { return "after" }
func (*after) InputLimit() int { return 100_000 }
func (m *after) Complete(ctx context.Context, _, _ string, _ int) (string, *chat.Usage, error) {
	m.asked <- struct{}{}
	select {
	case <-m.answered:
	case <-ctx.Done():
		return "", nil, ctx.Err()
	}
	return "## Decisions\n- We decided to use plan alpha.\n", nil, m.err
}

// TestRunDueAsksTheModel: the limited work after a send asks a configured librarian model and awaits it longer than the
// limit. Until it has answered or failed the turns stay pending, and only a failure is replaced by the rule-based summary
// (SRD 10.1, 10.3). Interrupted, the job is put back.
func TestRunDueAsksTheModel(t *testing.T) {
	for name, c := range map[string]struct {
		err         error
		interrupted bool
		want        chat.StateOrigin
	}{
		"it answers":    {want: chat.StateLibrarian},
		"it fails":      {err: errors.New("down"), want: chat.StateFallback},
		"it is stopped": {interrupted: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t)
			m := &after{asked: make(chan struct{}, 9), answered: make(chan struct{}), err: c.err}
			r := jobs.NewRunner(b.deps(m))
			turn := b.addTurn("We decided to use plan alpha.", "Fine.")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- r.RunDue(ctx, turn, time.Nanosecond) }()
			<-m.asked
			if got := b.phase(turn.ID); got != chat.PhaseResponseFinalized {
				t.Errorf("before the model answered, the turn is %s", got)
			}
			if c.interrupted {
				cancel()
			} else {
				close(m.answered)
			}
			<-done
			if c.interrupted {
				job, ok, err := b.store.JobFor(t.Context(), turn.ID, chat.JobSummarizeTurn)
				if b.must(err); !ok || job.State != chat.JobQueued || b.phase(turn.ID) != chat.PhaseResponseFinalized {
					t.Errorf("the job is %+v, the turn %s", job, b.phase(turn.ID))
				}
				return
			}
			if st := b.state(); st.Origin != c.want || !strings.Contains(st.Summary, "plan alpha") {
				t.Errorf("the state's origin is %s: %s", st.Origin, st.Summary)
			}
		})
	}
}

// TestRunDueWhilePaused: a pause also applies to the work after a send.
func TestRunDueWhilePaused(t *testing.T) {
	b := newFixture(t)
	r := jobs.NewRunner(b.deps(nil))
	r.Pause()
	turn := b.addTurn("Hello", "Hi")
	b.must(r.RunDue(t.Context(), turn, time.Minute))
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
	if err := r.RunDue(ctx, turn, time.Minute); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}

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
	b.must(r.RunDue(t.Context(), turn, time.Minute))
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
		b.must(r.RunDue(t.Context(), b.addTurn(text, "ok"), time.Minute))
		announced := slices.ContainsFunc(b.changes.seen, func(c chat.Change) bool {
			return c.Kind == chat.ChangePins && c.ID == string(b.branch.ID)
		})
		if announced != want {
			t.Errorf("%q: announced %v", text, announced)
		}
	}
}
