package turn_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"contextinfinity/backend/branches"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/store"
	"contextinfinity/backend/turn"
)

// refusing is a store that refuses a number of ends of turns, and counts those it stored.
type refusing struct {
	*store.Store
	mu                       sync.Mutex
	refuse, refused, written int
}

func (r *refusing) end(do func() (chat.Turn, error)) (chat.Turn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse > 0 {
		r.refuse--
		r.refused++
		return chat.Turn{}, chat.Errorf(chat.CodeNoSpace, "test", "The disk is full.")
	}
	r.written++
	return do()
}

func (r *refusing) Finalize(ctx context.Context, f chat.Finalization) (chat.Turn, error) {
	return r.end(func() (chat.Turn, error) { return r.Store.Finalize(ctx, f) })
}

func (r *refusing) Interrupt(ctx context.Context, i chat.Interruption) (chat.Turn, error) {
	return r.end(func() (chat.Turn, error) { return r.Store.Interrupt(ctx, i) })
}

func (r *refusing) FailTurn(ctx context.Context, f chat.TurnFailure) (chat.Turn, error) {
	return r.end(func() (chat.Turn, error) { return r.Store.FailTurn(ctx, f) })
}

func (r *refusing) counts() (refused, written int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused, r.written
}

// fullDisk runs the program with its reconciler on a timer and a database that refuses a number of ends of turns. It
// must be called in a synctest bubble.
func (w *env) fullDisk(refuse int) (s *refusing, stop func()) {
	w.t.Helper()
	opened, err := store.Open(context.Background(), store.Options{DataDir: w.dir, Scratch: true})
	if err != nil {
		w.t.Fatal(err)
	}
	s = &refusing{Store: opened, refuse: refuse}
	w.store = opened
	w.journals = journal.New(journal.Options{Dir: filepath.Join(w.dir, "streams")})
	w.jobs = jobs.NewRunner(jobs.Deps{Queue: opened, Store: opened, Publish: w.published, Counter: words{}, TargetTokens: func() int { return 1200 }})
	w.branches = branches.New(opened, w.jobs, w.published)
	w.engine = turn.NewEngine(turn.Deps{
		Turns: s, History: s, Contexts: s, Drafts: s, Calls: s, Journals: w.journals, Models: models{w}, Branches: w.branches, Publish: w.published, Counter: words{},
		Settings: func() turn.Settings { return w.settings },
	})
	r := jobs.NewReconciler(jobs.ReconcilerDeps{Turns: w.engine, Store: opened, Runner: w.jobs, Publish: w.published})
	if _, err := r.Reconcile(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	w.jobs.Start()
	r.Start()
	return s, func() {
		r.Stop()
		w.close()
	}
}

// newFullDisk calls f in a synctest bubble with an environment whose database refuses a number of ends of turns.
func newFullDisk(t *testing.T, refuse int, f func(w *env, s *refusing, restart func(refuse int) *refusing)) {
	t.Helper()
	warm := newEnv(t) // process-wide values must be created outside the bubble
	warm.send("hi")
	settings := warm.settings
	synctest.Test(t, func(t *testing.T) {
		w := &env{t: t, dir: t.TempDir(), provider: &scripted{}, published: &recorder{}, window: 100000, settings: settings}
		s, stop := w.fullDisk(refuse)
		defer func() { stop() }()
		var err error
		if w.session, w.branch, err = w.store.CreateSession(context.Background(), chat.NewSession{Title: "t"}); err != nil {
			t.Fatal(err)
		}
		f(w, s, func(refuse int) *refusing {
			stop()
			var s *refusing
			s, stop = w.fullDisk(refuse)
			return s
		})
	})
}

// unsaved sends a message whose end is refused.
func (w *env) unsaved(s string) chat.TurnID {
	w.t.Helper()
	h := w.start(s)
	if _, err := h.Wait(context.Background()); chat.CodeOf(err) != chat.CodeNoSpace {
		w.t.Fatalf("the end could not be saved, and the error is %v", err)
	}
	return h.Turn.ID
}

func (w *env) current(id chat.TurnID) chat.Turn {
	w.t.Helper()
	t, err := w.store.Turn(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

// TestACompleteAnswerBecomesFinalAutomatically: saving the answer is retried with growing pauses until the database
// accepts it. It is saved once, without asking the user, or the provider again.
func TestACompleteAnswerBecomesFinalAutomatically(t *testing.T) {
	for name, c := range map[string]struct {
		refuse    int
		notBefore time.Duration // it cannot be saved before this
		by        time.Duration // it must be saved by this
	}{
		"once":    {1, 0, 100 * time.Millisecond},
		"twice":   {2, 500 * time.Millisecond, 2 * time.Second},
		"often":   {7, 55 * time.Second, 62 * time.Second},
		"minutes": {12, 3 * time.Minute, 4 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			newFullDisk(t, c.refuse, func(w *env, s *refusing, _ func(int) *refusing) {
				w.provider.script(call{events: []string{text("precious"), done}})
				id := w.unsaved("hi")
				if c.notBefore > 0 {
					time.Sleep(c.notBefore)
					synctest.Wait()
					open := w.current(id)
					unsaved, ok := w.engine.UnsavedEnd(open)
					if !ok || !unsaved.Complete || unsaved.Blocks.RenderedText() != "precious" || unsaved.Failure.Code != chat.CodeNoSpace {
						t.Errorf("meanwhile: %v %+v, the turn is %s", ok, unsaved, open.Phase)
					}
				}
				time.Sleep(c.by - c.notBefore)
				synctest.Wait()
				w.is(w.current(id), chat.PhaseDone, chat.OutcomeCompleted, "precious")
				if refused, written := s.counts(); refused != c.refuse || written != 1 {
					t.Errorf("refused %d times, written %d times", refused, written)
				}
				if journals, err := w.journals.List(); err != nil || len(journals) != 0 || w.engine.Unsaved() != 0 || len(w.provider.sent) != 1 {
					t.Errorf("%d journals, %d unsaved, %d requests, %v", len(journals), w.engine.Unsaved(), len(w.provider.sent), err)
				}
				w.clean()
			})
		})
	}
}

// TestACompleteAnswerSurvivesARestart: the next start saves it from its journal, and keeps trying if that fails too.
func TestACompleteAnswerSurvivesARestart(t *testing.T) {
	newFullDisk(t, 1000, func(w *env, _ *refusing, restart func(int) *refusing) {
		w.provider.script(call{events: []string{text("precious"), done}})
		id := w.unsaved("hi")
		if _, err := w.store.Enqueue(context.Background(), w.branch.ID, chat.UserText("next"), chat.QueueLimit, false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		s := restart(4)
		open := w.current(id)
		unsaved, ok := w.engine.UnsavedEnd(open)
		if !ok || !unsaved.Complete || unsaved.Blocks.RenderedText() != "precious" || unsaved.Frame.Displayed != 8 || unsaved.Frame.Durable != 8 {
			t.Errorf("at the next start: %v %+v, the turn is %s", ok, unsaved, open.Phase)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		w.is(w.current(id), chat.PhaseDone, chat.OutcomeCompleted, "precious")
		if refused, written := s.counts(); refused != 4 || written != 1 || len(w.provider.sent) != 1 {
			t.Errorf("refused %d times, written %d times, %d requests", refused, written, len(w.provider.sent))
		}
		if w.waiting() != "next idle" {
			t.Errorf("after the restart %q waits", w.waiting())
		}
		w.clean()
	})
}

// TestAnInterruptedAnswerStaysUndecided: an interrupted answer that could not be saved is saved as incomplete.
func TestAnInterruptedAnswerStaysUndecided(t *testing.T) {
	newFullDisk(t, 2, func(w *env, s *refusing, _ func(int) *refusing) {
		w.provider.script(call{events: []string{text("half of")}}, call{err: context.DeadlineExceeded})
		id := w.unsaved("hi")
		if unsaved, ok := w.engine.UnsavedEnd(w.current(id)); !ok || unsaved.Complete {
			t.Errorf("%v, whole %v", ok, unsaved.Complete)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		cut := w.current(id)
		w.is(cut, chat.PhaseResponding, chat.OutcomeIncomplete, "half of")
		if want := "the connection ended before the provider said it was done"; cut.Failure == nil || !strings.Contains(cut.Failure.Message, want) {
			t.Errorf("it says %+v, not %q", cut.Failure, want)
		}
		time.Sleep(time.Hour)
		w.is(w.current(id), chat.PhaseResponding, chat.OutcomeIncomplete, "half of")
		w.clean()
	})
}

// TestWhatWasShownIsSavedWithoutItsJournal: the run still has the complete answer in memory.
func TestWhatWasShownIsSavedWithoutItsJournal(t *testing.T) {
	newFullDisk(t, 3, func(w *env, _ *refusing, _ func(int) *refusing) {
		w.provider.script(call{events: []string{text("all "), text("of it"), done}})
		id := w.unsaved("hi")
		if err := os.RemoveAll(filepath.Join(w.dir, "streams")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		w.is(w.current(id), chat.PhaseDone, chat.OutcomeCompleted, "all of it")
	})
}

// TestAMessageQueuedBehindAnUnsavedAnswer: the message is sent once the answer is final.
func TestAMessageQueuedBehindAnUnsavedAnswer(t *testing.T) {
	newFullDisk(t, 3, func(w *env, _ *refusing, _ func(int) *refusing) {
		gate, started := make(chan struct{}), make(chan struct{})
		w.provider.script(call{events: []string{text("a"), done}, gate: gate, after: func(i int) {
			if i == 0 {
				close(started)
			}
		}}, answer("b"))
		h := w.start("one")
		<-started
		if _, err := w.engine.SendOrQueue(context.Background(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("two")}); err != nil {
			t.Fatal(err)
		}
		close(gate)
		if _, err := h.Wait(context.Background()); err == nil {
			t.Fatal("the end was not refused")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		last, ok, err := w.store.LastTurn(context.Background(), w.branch.ID)
		if err != nil || !ok || last.Seq != 2 || last.User.RenderedText() != "two" || !last.Phase.Finalized() {
			t.Errorf("the newest turn is %d %q, %s, %v", last.Seq, last.User.RenderedText(), last.Phase, err)
		}
		w.clean()
	})
}

// TestKeepSavesACompleteAnswer: keeping it before the next retry saves it as completed, not as kept.
func TestKeepSavesACompleteAnswer(t *testing.T) {
	newFullDisk(t, 2, func(w *env, _ *refusing, _ func(int) *refusing) {
		w.provider.script(answer("precious"))
		id := w.unsaved("hi")
		synctest.Wait() // it was refused again
		kept, err := w.engine.Keep(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		w.is(kept, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "precious")
		time.Sleep(time.Minute)
		synctest.Wait()
		w.is(w.current(id), chat.PhaseDone, chat.OutcomeCompleted, "precious")
		w.clean()
	})
}
