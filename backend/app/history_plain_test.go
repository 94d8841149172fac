package app

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
)

// talker is the real program, as a process of its own or at a desk.
type talker interface {
	run(args ...string) result
	ok(args ...string) result
	show(session string, more ...string) shown
	clean()
}

// With memory off nothing derived is sent, everything is kept, and what does not
// fit is an error with its numbers (SPEC 16, OXY 8.6): by the setting, and by the
// environment.
func TestPlainChatWithoutMemory(t *testing.T) {
	t.Parallel()
	for i, w := range wires {
		for name, how := range map[string][2]string{
			"setting": {"[context]\ninfinity = false\n", ""}, "environment": {"", "CONTEXTINFINITY=0"},
		} {
			if i > 0 && name == "environment" {
				continue // the way it is turned off is the same for each protocol
			}
			t.Run(w.name+" "+name, func(t *testing.T) {
				t.Parallel()
				r := newRelay(t, w, func(n int) llmtest.Step { return reply(w, n) }, nil)
				config := w.windowed("m", r.url, 4096) + how[0]
				var h talker
				if how[1] == "" {
					h = newDesk(t, config)
				} else {
					h = newHome(t, shipped(t), config).with(how[1])
				}
				session := plainTalk(t, h, w, r)
				overBudget(t, h, session, r)
				h.clean()
			})
		}
	}
}

// plainTalk is a short conversation: each request is the messages and no more.
func plainTalk(t *testing.T, h talker, w wireProtocol, r *relay) string {
	t.Helper()
	first := h.ok("send", "--new", "--json", "--model", "m", "--wait", "indexed", "One, with a decision: we use shelf 5.").sent()
	second := h.ok("send", "--json", "--model", "m", "--wait", "committed", "Two.").sent()
	third := h.ok("send", "--json", "--model", "m", "Three.").sent()
	texts := wireTexts(t, w, r.lastBody(t))
	want := []string{"One, with a decision: we use shelf 5.", first.Text, "Two.", second.Text, "Three."}
	if got := strings.Join(texts[1:], "|"); got != strings.Join(want, "|") {
		t.Errorf("plain chat sent %q", clip(got))
	}
	if all := strings.Join(texts[1:], ""); strings.Contains(all, "<memory>") {
		t.Error("derived text was sent")
	}
	v := viewOf(h.ok("context", third.SessionID, "--turn", third.TurnID, "--json"))
	everyByteIsShown(t, w, v, r.lastBody(t), "plain chat")
	if len(r.asked()) != 0 {
		t.Errorf("the librarian was asked %d times", len(r.asked()))
	}
	return third.SessionID
}

// overBudget talks on until it does not fit.
func overBudget(t *testing.T, h talker, session string, r *relay) {
	t.Helper()
	long := strings.Repeat("a word or two more ", 160)
	for range 12 {
		before := len(r.bodies())
		res := h.run("send", "--json", "--session", session, "--model", "m", long)
		if res.code == 0 {
			continue
		}
		f := res.fails(1, chat.CodeOverBudget)
		if !regexp.MustCompile(`\d+ .*\d+`).MatchString(f.Message) || f.Hint == "" {
			t.Errorf("the error names no numbers or no way out: %+v", f)
		}
		if len(r.bodies()) != before {
			t.Error("it was sent all the same")
		}
		doc := h.show(session)
		if last := doc.Turns[len(doc.Turns)-1]; last.Phase != chat.PhaseFailed || last.User.RenderedText() != long {
			t.Errorf("the message stands as %s", last.Phase)
		}
		return
	}
	t.Error("a plain chat outgrew its window without an error")
}

// Turned off and on again, history is as it was: nothing was lost meanwhile.
func TestMemoryCanBeTurnedOffAndOn(t *testing.T) {
	t.Parallel()
	w := openaiWire
	r := newRelay(t, w, func(n int) llmtest.Step { return reply(w, n) }, nil)
	config := w.windowed("m", r.url, 8192)
	d := newDesk(t, config)
	s := d.send("", "The cellar key hangs behind the clock.", "--model", "m", "--wait", "committed")
	d.again(config + "[context]\ninfinity = false\n")
	off := d.send(s.SessionID, "Is it there?", "--model", "m", "--wait", "committed")
	if v := d.seen(s.SessionID, "--turn", off.TurnID); v.sources()["state"] != 0 {
		t.Error("a state was sent with memory off")
	}
	d.again(config)
	on := d.send(s.SessionID, "And now?", "--model", "m")
	v := d.seen(s.SessionID, "--turn", on.TurnID)
	if v.sources()["state"] == 0 || !strings.Contains(v.text(), "Is it there?") {
		t.Errorf("after memory was turned on again: %v", v.sources())
	}
	if old := d.seen(s.SessionID, "--turn", off.TurnID); !old.Same {
		t.Errorf("the plain turn: %s", old.Note)
	}
	if n, err := d.store.PreparedTurns(context.Background()); err != nil || len(n) != 3 {
		t.Errorf("%d contexts are kept (%v)", len(n), err)
	}
	d.clean()
}
