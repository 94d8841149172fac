package app

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
)

// commands runs commands of the real program, either as a separate process or in this process.
type commands interface {
	Run(args ...string) harness.Result
	OK(args ...string) harness.Result
	Show(session string, more ...string) harness.Shown
	Clean()
}

// With memory off, by setting or by environment, nothing derived is sent, everything is stored, and a context that
// does not fit is an error with its numbers (SPEC 16, OXY 8.6).
func TestPlainChatWithoutMemory(t *testing.T) {
	t.Parallel()
	for i, w := range harness.Wires {
		for name, off := range map[string]struct{ config, environment string }{
			"setting": {config: "[context]\ninfinity = false\n"}, "environment": {environment: "CONTEXTINFINITY=0"},
		} {
			if i > 0 && name == "environment" {
				continue // the environment turns memory off in the same way for each protocol
			}
			t.Run(w.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, nil)
				config := w.Windowed("m", r.URL, 4096) + off.config
				var h commands
				if off.environment == "" {
					h = newFixture(t, config)
				} else {
					h = harness.NewHome(t, harness.Shipped(t), config).With(off.environment)
				}
				session := plainConversation(t, h, w, r)
				overBudget(t, h, session, r)
				h.Clean()
			})
		}
	}
}

// plainConversation has a short conversation and checks that each request contains only the messages.
func plainConversation(t *testing.T, h commands, w harness.WireProtocol, r *harness.Relay) string {
	t.Helper()
	first := h.OK("send", "--new", "--json", "--model", "m", "--wait", "indexed", "One, with a decision: we use shelf 5.").Sent()
	second := h.OK("send", "--json", "--model", "m", "--wait", "committed", "Two.").Sent()
	third := h.OK("send", "--json", "--model", "m", "Three.").Sent()
	texts := harness.WireTexts(t, w, r.LastBody(t))
	want := []string{"One, with a decision: we use shelf 5.", first.Text, "Two.", second.Text, "Three."}
	if got := strings.Join(texts[1:], "|"); got != strings.Join(want, "|") {
		t.Errorf("plain chat sent %q", harness.Clip(got))
	}
	if all := strings.Join(texts[1:], ""); strings.Contains(all, "<memory>") {
		t.Error("derived text was sent")
	}
	v := harness.ViewOf(h.OK("context", third.SessionID, "--turn", third.TurnID, "--json"))
	harness.EveryByteIsShown(t, w, v, r.LastBody(t), "plain chat")
	if len(r.Asked()) != 0 {
		t.Errorf("the librarian was asked %d times", len(r.Asked()))
	}
	return third.SessionID
}

// overBudget sends messages until they no longer fit.
func overBudget(t *testing.T, h commands, session string, r *harness.Relay) {
	t.Helper()
	long := strings.Repeat("a word or two more ", 160)
	for range 12 {
		before := len(r.Bodies())
		res := h.Run("send", "--json", "--session", session, "--model", "m", long)
		if res.Code == 0 {
			continue
		}
		f := res.Fails(1, chat.CodeOverBudget)
		if !regexp.MustCompile(`\d+ .*\d+`).MatchString(f.Message) || f.Hint == "" {
			t.Errorf("the error has no numbers or no hint: %+v", f)
		}
		if len(r.Bodies()) != before {
			t.Error("it was sent anyway")
		}
		doc := h.Show(session)
		if last := doc.Turns[len(doc.Turns)-1]; last.Phase != chat.PhaseFailed || last.User.RenderedText() != long {
			t.Errorf("the message is %s", last.Phase)
		}
		return
	}
	t.Error("a plain chat exceeded its window without an error")
}

// When memory is turned off and on again, no part of the history is lost.
func TestMemoryCanBeTurnedOffAndOn(t *testing.T) {
	t.Parallel()
	w := harness.OpenAIWire
	r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, nil)
	config := w.Windowed("m", r.URL, 8192)
	d := newFixture(t, config)
	s := d.send("", "The cellar key hangs behind the clock.", "--model", "m", "--wait", "committed")
	d.restartWith(config + "[context]\ninfinity = false\n")
	off := d.send(s.SessionID, "Is it there?", "--model", "m", "--wait", "committed")
	if v := d.contextView(s.SessionID, "--turn", off.TurnID); v.Sources()["state"] != 0 {
		t.Error("a state was sent with memory off")
	}
	d.restartWith(config)
	on := d.send(s.SessionID, "And now?", "--model", "m")
	v := d.contextView(s.SessionID, "--turn", on.TurnID)
	if v.Sources()["state"] == 0 || !strings.Contains(v.Text(), "Is it there?") {
		t.Errorf("after memory was turned on again: %v", v.Sources())
	}
	if old := d.contextView(s.SessionID, "--turn", off.TurnID); !old.Same {
		t.Errorf("the plain turn: %s", old.Note)
	}
	if n, err := d.Store.PreparedTurns(context.Background()); err != nil || len(n) != 3 {
		t.Errorf("%d contexts are kept (%v)", len(n), err)
	}
	d.Clean()
}
