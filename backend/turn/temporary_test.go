package turn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/turn"
)

// ended waits until a temporary chat's newest turn has ended.
func ended(w *env, c *turn.Temporary) chat.Turn {
	w.t.Helper()
	var last chat.Turn
	w.eventually("the temporary answer did not end", func() bool {
		turns, live := c.Turns()
		last = turns[len(turns)-1]
		return live == nil && last.Phase != chat.PhaseResponding
	})
	return last
}

// TestTemporary: a temporary chat streams, remembers its own turns, can be stopped, and leaves nothing on disk.
func TestTemporary(t *testing.T) {
	w := newEnv(t)
	before := w.bytesOnDisk()
	c := w.engine.NewTemporary()
	if _, err := c.Send(t.Context(), chat.UserText("my SECRET plan"), ""); err != nil {
		t.Fatal(err)
	}
	if got := ended(w, c); got.Phase != chat.PhaseResponseFinalized || got.Assistant.RenderedText() != "ok" {
		t.Fatalf("%+v", got)
	}
	started := make(chan struct{})
	w.provider.script(call{events: []string{text("so far")}, gate: make(chan struct{}), after: func(int) { close(started) }})
	if _, err := c.Send(t.Context(), chat.UserText("and then?"), ""); err != nil {
		t.Fatal(err)
	}
	<-started
	if _, err := c.Send(t.Context(), chat.UserText("too soon"), ""); chat.CodeOf(err) != chat.CodeBusy {
		t.Fatalf("a second turn while one runs: %v", err)
	}
	c.Stop()
	if got := ended(w, c); got.Outcome != chat.OutcomeStopped || got.Assistant.RenderedText() != "so far" {
		t.Fatalf("%+v", got)
	}
	if reqs := w.provider.requests(); !strings.Contains(reqs[1], "SECRET") || strings.Contains(reqs[1], "state_summary") {
		t.Fatalf("the second request: %s", reqs[1])
	}
	for _, f := range w.published.all() {
		if f.Session == c.ID && f.Durable != 0 {
			t.Fatalf("a temporary frame reports %d durable bytes", f.Durable)
		}
	}
	if after := w.bytesOnDisk(); strings.Contains(after, "SECRET") || len(after) != len(before) {
		t.Fatal("the temporary chat left something on the disk")
	}
	w.clean()
}

func (w *env) bytesOnDisk() string {
	w.t.Helper()
	var sb strings.Builder
	err := filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		sb.Write(raw)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return sb.String()
}

// TestTemporaryFailure: a failure is reported and blocks nothing.
func TestTemporaryFailure(t *testing.T) {
	w := newEnv(t)
	c := w.engine.NewTemporary()
	w.provider.script(call{err: errRefused})
	if _, err := c.Send(t.Context(), chat.UserText("hi"), ""); err != nil {
		t.Fatal(err)
	}
	if got := ended(w, c); got.Phase != chat.PhaseFailed || got.Failure.Code != chat.CodeAuth {
		t.Fatalf("%+v", got)
	}
	if _, err := c.Send(t.Context(), chat.UserText("again"), ""); err != nil {
		t.Fatal(err)
	}
	if got := ended(w, c); got.Phase != chat.PhaseResponseFinalized {
		t.Fatalf("%+v", got)
	}
}

// A temporary chat runs no tools, since their effects would not be recorded: none is offered, and a call is an error.
func TestTemporaryChatsRunNoTools(t *testing.T) {
	w := withTools(t)
	w.tools.allow("write")
	w.alwaysMode = llm.ToolsEnabled // as configured models have it
	w.scriptCalls([]string{callEvent("a", "box__write", `{}`)})
	c := w.engine.NewTemporary()
	if _, err := c.Send(t.Context(), chat.UserText("go"), ""); err != nil {
		t.Fatal(err)
	}
	if got := ended(w, c); got.Phase != chat.PhaseFailed || got.Failure == nil || got.Failure.Code != chat.CodeToolCall {
		t.Errorf("%+v", got)
	}
	if len(w.tools.calls()) != 0 || strings.Contains(w.provider.requests()[0], "box__write") {
		t.Errorf("ran %q, sent %q", w.tools.calls(), w.provider.requests())
	}
}
