package app

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/internal/storetest"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/turn"
	"contextinfinity/test/harness"
)

// env is the real composition in this process, with a recording Publisher and shorter waiting times.
type env struct {
	*app
	t        testing.TB
	recorder *recorder
}

// tuning has the options that a test changes in the composition.
type tuning struct {
	idle    time.Duration // 0: a minute
	journal func(*journal.Options)
}

func openEnv(t testing.TB, dir, config string, tune tuning) *env {
	t.Helper()
	path := filepath.Join(dir, "config.toml")
	harness.WriteFile(t, path, []byte(config))
	storetest.Fill(t, filepath.Join(dir, "data"))
	w := &env{t: t, recorder: newRecorder()}
	var err error
	w.app, err = openApp(t.Context(), cli.OpenOptions{DataDir: filepath.Join(dir, "data"), ConfigPath: path, Publish: w.recorder}, secrets.New())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Config.Err(); err != nil {
		t.Fatal(err)
	}
	options := journalOptions(w.Config.Config())
	if tune.journal != nil {
		tune.journal(&options)
	}
	w.Turns = turn.NewEngine(turn.Deps{
		Turns: w.Store, History: w.Store, Contexts: w.Store, Drafts: w.Store, Calls: w.Store, Journals: journal.New(options), Models: w.Models, Branches: w.Branches, Publish: w.recorder,
		Counter: counter{}, Settings: func() turn.Settings { return tune.settings() },
	})
	t.Cleanup(w.shutDown)
	return w
}

func (tune tuning) settings() turn.Settings {
	s := turn.Settings{
		IdleTimeout: time.Minute, FrameEvery: time.Millisecond, ToolsMode: llm.ToolsDisabled,
		Backoff: func(attempt int) time.Duration { return time.Duration(attempt) * 5 * time.Millisecond },
	}
	if tune.idle > 0 {
		s.IdleTimeout = tune.idle
	}
	return s
}

func (w *env) shutDown() {
	if err := w.close(); err != nil {
		w.t.Error(err)
	}
}

func (w *env) session(title string) chat.Branch {
	w.t.Helper()
	_, b, err := w.Store.CreateSession(context.Background(), chat.NewSession{Title: title})
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// recorder is a Publisher that records the shown answer of each turn.
type recorder struct {
	mu      sync.Mutex
	shown   map[chat.TurnID]shownAnswer
	changed chan struct{} // closed and replaced at each event
}

// shownAnswer is the answer of a turn as its frames show it.
type shownAnswer struct {
	text               string
	displayed, durable int64 // the largest reported counts, in bytes
	seq                int64
	step               chat.StepID
	gaps               int
}

func newRecorder() *recorder {
	return &recorder{shown: map[chat.TurnID]shownAnswer{}, changed: make(chan struct{})}
}

// Frame implements turn.Publisher.
func (w *recorder) Frame(f chat.Frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.shown[f.Turn]
	if s.step != f.Step {
		s = shownAnswer{step: f.Step}
	}
	if f.Seq != s.seq+1 || f.Durable > f.Displayed {
		s.gaps++
	}
	if f.Kind == string(llm.DeltaText) {
		s.text += f.Text
	}
	s.seq, s.displayed, s.durable = f.Seq, max(s.displayed, f.Displayed), max(s.durable, f.Durable)
	w.shown[f.Turn] = s
	w.signalChange()
}

// Change implements turn.Publisher.
func (w *recorder) Change(chat.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.signalChange()
}

func (w *recorder) signalChange() {
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *recorder) of(id chat.TurnID) shownAnswer {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.shown[id]
}

// await waits for an event after which cond is true.
func (w *recorder) await(ctx context.Context, cond func() bool) error {
	for {
		w.mu.Lock()
		next := w.changed
		w.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
