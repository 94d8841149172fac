package app

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/prompt"
)

// statesOf are a session's committed states, newest first.
func (d *desk) statesOf(session string) []chat.State {
	d.t.Helper()
	var doc struct{ States []chat.State }
	d.ok("states", session, "--json").document(&doc)
	return doc.States
}

// A state is made by the librarian's model, and says so.
func TestTheLibrariansModelMakesTheState(t *testing.T) {
	t.Parallel()
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			r := newRelay(t, w, func(n int) llmtest.Step { return reply(w, n) }, summarizing(w))
			d := newDesk(t, w.windowed("m", r.url, 8192))
			s := d.send("", chatter(1), "--model", "m", "--wait", "committed")
			head := d.statesOf(s.SessionID)[0]
			if head.Origin != chat.StateLibrarian || head.Model != "m-1" || !strings.Contains(head.Summary, "moved week by week") {
				t.Errorf("the state is %s by %q: %s\nasked %d times", head.Origin, head.Model, clip(head.Summary), len(r.asked()))
			}
			d.send(s.SessionID, "And now?", "--model", "m")
			if sent := string(r.lastBody(t)); !strings.Contains(sent, "moved week by week") || !strings.Contains(sent, "state_summary") {
				t.Errorf("the next request does not hold the state: %s", clip(sent))
			}
			d.clean()
		})
	}
}

// Whatever the librarian's model does, there is a state in the same run, made by
// rule, that kept what the user said must hold.
func TestAFailingLibrarianFallsBackInTheSameRun(t *testing.T) {
	t.Parallel()
	w := chatWire
	said := func(text string) llmtest.Step { return llmtest.Stream(w.saying(true, text)...) }
	for name, note := range map[string]func(*http.Request, string) llmtest.Step{
		"nonsense": func(*http.Request, string) llmtest.Step { return said("lorem ipsum dolor sit amet") },
		"empty":    func(*http.Request, string) llmtest.Step { return said("") },
		"echoes": func(_ *http.Request, body string) llmtest.Step {
			return said("## Facts\n- " + strings.Repeat(chatter(1), 40) + "\n\n## Decisions\n\n## Constraints\n\n## Artifacts\n\n## Open tasks\n")
		},
		"fails":  nil,
		"breaks": func(*http.Request, string) llmtest.Step { return llmtest.Step{Drop: true} },
		"hangs":  func(*http.Request, string) llmtest.Step { return llmtest.Step{Hold: true} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRelay(t, w, func(n int) llmtest.Step { return reply(w, n) }, note)
			d := newDesk(t, w.windowed("m", r.url, 8192)+"[librarian]\ntimeout_s = 1\n")
			s := d.send("", "You must never deploy on a Friday. "+chatter(1), "--model", "m", "--wait", "committed")
			head := d.statesOf(s.SessionID)[0]
			if head.Origin != chat.StateFallback || head.Model != "" || !strings.Contains(head.Summary, "never deploy on a Friday") {
				t.Errorf("the state is %s by %q: %s", head.Origin, head.Model, clip(head.Summary))
			}
			if len(r.asked()) == 0 {
				t.Error("the librarian was not asked: the test shows nothing")
			}
			stored, err := d.store.State(context.Background(), head.ID)
			if err != nil || !strings.Contains(string(stored.Validation), "reason") {
				t.Errorf("the state does not say why: %s (%v)", stored.Validation, err)
			}
			d.clean()
		})
	}
}

// An answer that drops what must be kept is kept, and what it dropped is added.
func TestADroppedConstraintIsAdded(t *testing.T) {
	t.Parallel()
	w := chatWire
	r := newRelay(t, w, func(n int) llmtest.Step { return reply(w, n) }, func(*http.Request, string) llmtest.Step {
		return llmtest.Stream(w.saying(true, "## Facts\n- Boxes were moved to the shelf.\n\n## Decisions\n\n## Constraints\n\n## Artifacts\n\n## Open tasks\n")...)
	})
	d := newDesk(t, w.windowed("m", r.url, 8192))
	s := d.send("", "You must never deploy on a Friday. "+chatter(1), "--model", "m", "--wait", "committed")
	var doc struct {
		States []struct {
			chat.StateCheck
			Origin  chat.StateOrigin `json:"origin"`
			Summary string           `json:"summary"`
		}
	}
	d.ok("states", s.SessionID, "--json").document(&doc)
	head := doc.States[0]
	if head.Origin != chat.StateLibrarian || head.Result != chat.CheckRepaired || head.Tries != 1 || !slices.Contains(head.Added, "You must never deploy on a Friday.") {
		t.Errorf("the state is %s, %+v", head.Origin, head.StateCheck)
	}
	if !strings.Contains(head.Summary, "Boxes were moved to the shelf.") || !strings.Contains(head.Summary, "never deploy on a Friday") {
		t.Errorf("the state is %s", clip(head.Summary))
	}
	d.clean()
}

// While the librarian hangs the chat goes on: the next message is answered, with
// the turn before in full, and the state is still to be made.
func TestTheChatNeverWaitsForTheLibrarian(t *testing.T) {
	t.Parallel()
	w := openaiWire
	hanging := make(chan struct{}, 8)
	r := newRelay(t, w, func(n int) llmtest.Step { return reply(w, n) }, func(*http.Request, string) llmtest.Step {
		hanging <- struct{}{}
		return llmtest.Step{Hold: true}
	})
	d := newDesk(t, w.windowed("m", r.url, 8192))
	d.jobs.Start()
	s := d.send("", chatter(1), "--model", "m")
	d.jobs.Wake()
	select {
	case <-hanging:
	case <-time.After(patience):
		t.Fatal("the librarian was not asked")
	}
	next := d.send(s.SessionID, "Go on at once.", "--model", "m")
	if next.Phase != chat.PhaseResponseFinalized || !strings.Contains(string(r.lastBody(t)), "In week 1 we moved") {
		t.Errorf("%+v", next)
	}
	v := d.seen(s.SessionID, "--turn", next.TurnID)
	if !slices.ContainsFunc(v.Manifest.Sections, func(s prompt.Section) bool { return s.Name == prompt.SectionPending }) {
		t.Error("the turn before is not pending any more: the librarian did not hang")
	}
	if len(d.statesOf(s.SessionID)) != 1 {
		t.Error("a state was made while the librarian hung")
	}
}

// SRD 22.1: turn N+1, submitted as soon as turn N has streamed, holds turn N
// through its pending turns, though a librarian is to summarize it.
func TestSRD22_1SummaryLagCorrectness(t *testing.T) {
	t.Parallel()
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			r := newRelay(t, w, func(n int) llmtest.Step { return reply(w, n) }, summarizing(w))
			h := newHome(t, shipped(t), w.windowed("m", r.url, 8192)+"[librarian]\nafter_send_s = 0\n")
			first := h.ok("send", "--new", "--json", "--model", "m", "The cellar key hangs <behind> the clock.").sent()
			second := h.ok("send", "--json", "--model", "m", "Where is it?").sent()
			texts := strings.Join(wireTexts(t, w, r.lastBody(t)), "")
			if !strings.Contains(texts, "The cellar key hangs <behind> the clock.") || !strings.Contains(texts, first.Text) {
				t.Errorf("turn N is not in the request of turn N+1 in full: %s", clip(texts))
			}
			v := viewOf(h.ok("context", second.SessionID, "--turn", second.TurnID, "--json"))
			everyByteIsShown(t, w, v, r.lastBody(t), "turn N+1")
			pending := 0
			for _, it := range v.Items {
				if it.Section == prompt.SectionPending && it.ID == first.TurnID {
					pending++
				}
			}
			if pending != 2 || len(r.asked()) != 0 {
				t.Errorf("%d messages of turn N are pending, and the librarian was asked %d times", pending, len(r.asked()))
			}
			h.ok("commit", second.SessionID)
			if left := h.show(second.SessionID).Branches[0].Pending; left != 0 || len(r.asked()) == 0 {
				t.Errorf("%d turns are pending after commit", left)
			}
			h.clean()
		})
	}
}

// SRD 22.3 with a librarian: killed after the answer was final and before its
// commit, the next start commits it once, by the model.
func TestSRD22_3WithALibrarian(t *testing.T) {
	t.Parallel()
	w := anthropicWire
	r := newRelay(t, w, func(n int) llmtest.Step { return reply(w, n) }, summarizing(w))
	h := newHome(t, shipped(t), w.windowed("m", r.url, 8192))
	h.using(breakable(t)).with("CONTEXTINFINITY_FAULT=turn.settled:exit").
		run("send", "--new", "--model", "m", "--wait", "indexed", "Remember: the boxes were moved week by week.").exits(137)
	h.ok("reconcile")
	session := h.lastSession()
	doc := h.show(session)
	if turn, b := doc.Turns[0], doc.Branches[0]; turn.Phase != chat.PhaseDone || b.HeadState != turn.StateAfter || b.HeadSeq != 1 {
		t.Errorf("reconcile left %s, head %+v", turn.Phase, b)
	}
	if s := h.summary(session); !strings.Contains(s, "- The boxes were moved week by week") || len(r.asked()) == 0 {
		t.Errorf("the state is not the model's: %s", clip(s))
	}
	asked := len(r.asked())
	h.ok("reconcile")
	if len(r.asked()) != asked {
		t.Error("a second reconcile asked the librarian again")
	}
	h.clean()
}

// SRD 22.4: a context over its limit shrinks in the defined order, each step is
// in the log, and the same conversation shrinks the same way again.
func TestSRD22_4ContextShrinkerDeterminism(t *testing.T) {
	t.Parallel()
	w := chatWire
	var bodies, logs []string
	for range 2 {
		r := newRelay(t, w, func(n int) llmtest.Step { return reply(w, n) }, nil)
		d := newDesk(t, w.windowed("m", r.url, 2048)+"[librarian]\nafter_send_s = 0\n") // so that turns stay pending
		session := ""
		for i := range 14 {
			args := []string{chatter(i), "--model", "m"}
			if i < 3 {
				args = append(args, "--wait", "committed")
			}
			session = d.send(session, args...).SessionID
		}
		last := d.show(session)
		v := d.seen(session, "--turn", last.Turns[len(last.Turns)-1].ID)
		everyByteIsShown(t, w, v, r.lastBody(t), "the shrunk context")
		inOrder(t, v.Manifest.Shrink)
		if v.Manifest.TotalTokens > v.Manifest.Budget.Ceiling || len(v.Manifest.DroppedPending) == 0 {
			t.Errorf("%d tokens of %d, dropped %v", v.Manifest.TotalTokens, v.Manifest.Budget.Ceiling, v.Manifest.DroppedPending)
		}
		human := d.ok("context", session, "--turn", v.TurnID).stdout
		if !strings.Contains(human, "shrunk 3: dropped pending turn") {
			t.Errorf("context does not name what was dropped: %s", clip(human))
		}
		// The minute that the request names is the one thing that differs between two runs.
		bodies = append(bodies, strings.ReplaceAll(string(r.lastBody(t)), v.Manifest.Inputs.Now, "now"))
		logs = append(logs, strings.Join(v.Manifest.Shrink, "\n"))
		d.clean()
	}
	if bodies[0] != bodies[1] || logs[0] != logs[1] {
		t.Errorf("the same conversation shrank in two ways:\n%s\n\n%s", logs[0], logs[1])
	}
}

func inOrder(t *testing.T, log []string) {
	t.Helper()
	steps := make([]string, len(log))
	for i, s := range log {
		steps[i], _, _ = strings.Cut(s, ":")
	}
	if !slices.IsSorted(steps) || !slices.Contains(steps, "3") {
		t.Errorf("the shrinker went through its steps as %q", log)
	}
}

func (d *desk) show(session string, more ...string) shown {
	d.t.Helper()
	var s shown
	d.ok(append([]string{"show", session, "--json"}, more...)...).document(&s)
	return s
}

// A summary by the model takes the place of an extract once the cut advances, and
// keeps its place: the X-ray of the turn before still shows the extract.
func TestSummarizeTakesThePlaceOfExtracts(t *testing.T) {
	t.Parallel()
	w := anthropicWire
	r := newRelay(t, w, func(n int) llmtest.Step { return reply(w, n) }, summarizing(w))
	d := newDesk(t, w.windowed("m", r.url, 4096))
	session, before, after := "", "", ""
	for i := range 26 {
		s := d.send(session, chatter(i), "--model", "m", "--wait", "committed")
		session = s.SessionID
		if i == 13 {
			before = s.TurnID
			var doc struct{ Summarized int }
			d.ok("summarize", session, "--json").document(&doc)
			if doc.Summarized == 0 {
				t.Fatal("nothing was due: the test shows nothing")
			}
		}
		after = s.TurnID
	}
	first, last := d.seen(session, "--turn", before), d.seen(session, "--turn", after)
	if first.sources()["extract"] == 0 || !first.Same {
		t.Errorf("before: %v, same %v %s", first.sources(), first.Same, first.Note)
	}
	if last.sources()["summary"] == 0 || !last.Same || !strings.Contains(last.text(), "The boxes were moved.") {
		t.Errorf("after: %v, same %v: %s", last.sources(), last.Same, clip(fmt.Sprint(last.Manifest.History)))
	}
	d.clean()
}

// summary.style is read from the configuration into the request for a range summary.
func TestSummaryStyleReachesTheRequest(t *testing.T) {
	t.Parallel()
	w := chatWire
	for style, want := range map[string]bool{"sections": false, "narrative": true} {
		r := newRelay(t, w, func(n int) llmtest.Step { return reply(w, n) }, summarizing(w))
		d := newDesk(t, w.windowed("m", r.url, 8192)+"[summary]\nstyle = \""+style+"\"\n")
		session := ""
		for i := range 7 {
			session = d.send(session, chatter(i), "--model", "m", "--wait", "committed").SessionID
		}
		d.ok("summarize", session, "--force")
		ranges := 0
		for _, body := range r.asked() {
			if !strings.Contains(string(body), "You summarize one stretch") {
				continue
			}
			if ranges++; strings.Contains(string(body), "one continuous narrative") != want {
				t.Errorf("%s: the request is %s", style, clip(string(body)))
			}
		}
		if ranges == 0 {
			t.Errorf("%s: no range was summarized", style)
		}
	}
}
