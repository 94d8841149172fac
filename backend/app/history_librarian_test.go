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
	"contextinfinity/test/harness"
)

// statesOf returns a session's committed state summaries, newest first.
func (d *fixture) statesOf(session string) []chat.State {
	d.t.Helper()
	var doc struct{ States []chat.State }
	d.OK("states", session, "--json").Document(&doc)
	return doc.States
}

// A state that the librarian's model made is marked as such, and sent with the next request.
func TestTheLibrariansModelMakesTheState(t *testing.T) {
	t.Parallel()
	for _, w := range harness.Wires {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, harness.Summarizing(w))
			d := newFixture(t, w.Windowed("m", r.URL, 8192))
			s := d.send("", chatter(1), "--model", "m", "--wait", "committed")
			head := d.statesOf(s.SessionID)[0]
			if head.Origin != chat.StateLibrarian || head.Model != "m-1" || !strings.Contains(head.Summary, "moved week by week") {
				t.Errorf("the state is %s by %q: %s\nasked %d times", head.Origin, head.Model, harness.Clip(head.Summary), len(r.Asked()))
			}
			d.send(s.SessionID, "And now?", "--model", "m")
			if sent := string(r.LastBody(t)); !strings.Contains(sent, "moved week by week") || !strings.Contains(sent, "state_summary") {
				t.Errorf("the next request lacks the state: %s", harness.Clip(sent))
			}
			d.Clean()
		})
	}
}

// If the librarian's model fails or returns something unusable, the same run makes a state summary by rules, which
// keeps the user's constraints.
func TestAFailingLibrarianFallsBackInTheSameRun(t *testing.T) {
	t.Parallel()
	w := harness.ChatWire
	reply := func(text string) llmtest.Step { return llmtest.Stream(w.TextStream(true, text)...) }
	for name, librarian := range map[string]func(*http.Request, string) llmtest.Step{
		"nonsense": func(*http.Request, string) llmtest.Step { return reply("lorem ipsum dolor sit amet") },
		"empty":    func(*http.Request, string) llmtest.Step { return reply("") },
		"echoes": func(_ *http.Request, body string) llmtest.Step {
			return reply("## Facts\n- " + strings.Repeat(chatter(1), 40) + "\n\n## Decisions\n\n## Constraints\n\n## Artifacts\n\n## Open tasks\n")
		},
		"fails":  nil,
		"breaks": func(*http.Request, string) llmtest.Step { return llmtest.Step{Drop: true} },
		"hangs":  func(*http.Request, string) llmtest.Step { return llmtest.Step{Hold: true} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, librarian)
			d := newFixture(t, w.Windowed("m", r.URL, 8192)+"[librarian]\ntimeout_s = 1\n")
			s := d.send("", "You must never deploy on a Friday. "+chatter(1), "--model", "m", "--wait", "committed")
			head := d.statesOf(s.SessionID)[0]
			if head.Origin != chat.StateFallback || head.Model != "" || !strings.Contains(head.Summary, "never deploy on a Friday") {
				t.Errorf("the state is %s by %q: %s", head.Origin, head.Model, harness.Clip(head.Summary))
			}
			if len(r.Asked()) == 0 {
				t.Error("the librarian was not asked, so the test proves nothing")
			}
			stored, err := d.Store.State(context.Background(), head.ID)
			if err != nil || !strings.Contains(string(stored.Validation), "reason") {
				t.Errorf("the state does not say why: %s (%v)", stored.Validation, err)
			}
			d.Clean()
		})
	}
}

// If the model's summary drops a required fact, the summary is kept and the fact is added.
func TestADroppedConstraintIsAdded(t *testing.T) {
	t.Parallel()
	w := harness.ChatWire
	r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, func(*http.Request, string) llmtest.Step {
		return llmtest.Stream(w.TextStream(true, "## Facts\n- Boxes were moved to the shelf.\n\n## Decisions\n\n## Constraints\n\n## Artifacts\n\n## Open tasks\n")...)
	})
	d := newFixture(t, w.Windowed("m", r.URL, 8192))
	s := d.send("", "You must never deploy on a Friday. "+chatter(1), "--model", "m", "--wait", "committed")
	var doc struct {
		States []struct {
			chat.StateCheck
			Origin  chat.StateOrigin `json:"origin"`
			Summary string           `json:"summary"`
		}
	}
	d.OK("states", s.SessionID, "--json").Document(&doc)
	head := doc.States[0]
	if head.Origin != chat.StateLibrarian || head.Result != chat.CheckRepaired || head.Tries != 1 || !slices.Contains(head.Added, "You must never deploy on a Friday.") {
		t.Errorf("the state is %s, %+v", head.Origin, head.StateCheck)
	}
	if !strings.Contains(head.Summary, "Boxes were moved to the shelf.") || !strings.Contains(head.Summary, "never deploy on a Friday") {
		t.Errorf("the state is %s", harness.Clip(head.Summary))
	}
	d.Clean()
}

// While the librarian's request hangs, the chat continues: the next message is answered, with the previous turn in
// full, and the state summary is made later.
func TestTheChatNeverWaitsForTheLibrarian(t *testing.T) {
	t.Parallel()
	w := harness.OpenAIWire
	hanging := make(chan struct{}, 8)
	r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, func(*http.Request, string) llmtest.Step {
		hanging <- struct{}{}
		return llmtest.Step{Hold: true}
	})
	d := newFixture(t, w.Windowed("m", r.URL, 8192))
	d.Jobs.Start()
	s := d.send("", chatter(1), "--model", "m")
	d.Jobs.Wake()
	select {
	case <-hanging:
	case <-time.After(harness.Patience):
		t.Fatal("the librarian was not asked")
	}
	next := d.send(s.SessionID, "Go on at once.", "--model", "m")
	if next.Phase != chat.PhaseResponseFinalized || !strings.Contains(string(r.LastBody(t)), "In week 1 we moved") {
		t.Errorf("%+v", next)
	}
	v := d.contextView(s.SessionID, "--turn", next.TurnID)
	if !slices.ContainsFunc(v.Manifest.Sections, func(s prompt.Section) bool { return s.Name == prompt.SectionPending }) {
		t.Error("the turn before is not pending any more: the librarian did not hang")
	}
	if len(d.statesOf(s.SessionID)) != 1 {
		t.Error("a state was made while the librarian hung")
	}
}

// SRD 22.4: a context over its limit shrinks in the defined order, each step is logged, and the same conversation
// shrinks in the same way again.
func TestSRD22_4ContextShrinkerDeterminism(t *testing.T) {
	t.Parallel()
	w := harness.ChatWire
	var bodies, logs []string
	for range 2 {
		r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, nil)
		d := newFixture(t, w.Windowed("m", r.URL, 2048)+"[librarian]\nafter_send_s = 0\n") // so that turns stay pending
		session := ""
		for i := range 14 {
			args := []string{chatter(i), "--model", "m"}
			if i < 3 {
				args = append(args, "--wait", "committed")
			}
			session = d.send(session, args...).SessionID
		}
		last := d.Show(session)
		v := d.contextView(session, "--turn", last.Turns[len(last.Turns)-1].ID)
		harness.EveryByteIsShown(t, w, v, r.LastBody(t), "the shrunk context")
		checkShrinkOrder(t, v.Manifest.Shrink)
		if v.Manifest.TotalTokens > v.Manifest.Budget.Ceiling || len(v.Manifest.DroppedPending) == 0 {
			t.Errorf("%d tokens of %d, dropped %v", v.Manifest.TotalTokens, v.Manifest.Budget.Ceiling, v.Manifest.DroppedPending)
		}
		human := d.OK("context", session, "--turn", v.TurnID).Stdout
		if !strings.Contains(human, "shrunk 3: dropped pending turn") {
			t.Errorf("context does not name what was dropped: %s", harness.Clip(human))
		}
		// Only the minute in the request differs between the two runs.
		bodies = append(bodies, strings.ReplaceAll(string(r.LastBody(t)), v.Manifest.Inputs.Now, "now"))
		logs = append(logs, strings.Join(v.Manifest.Shrink, "\n"))
		d.Clean()
	}
	if bodies[0] != bodies[1] || logs[0] != logs[1] {
		t.Errorf("the same conversation was shortened in two ways:\n%s\n\n%s", logs[0], logs[1])
	}
}

func checkShrinkOrder(t *testing.T, log []string) {
	t.Helper()
	steps := make([]string, len(log))
	for i, s := range log {
		steps[i], _, _ = strings.Cut(s, ":")
	}
	if !slices.IsSorted(steps) || !slices.Contains(steps, "3") {
		t.Errorf("the shrinker went through its steps as %q", log)
	}
}

func (d *fixture) Show(session string, more ...string) harness.Shown {
	d.t.Helper()
	var s harness.Shown
	d.OK(append([]string{"show", session, "--json"}, more...)...).Document(&s)
	return s
}

// When the cut advances, a model's summary replaces an extract permanently. The X-ray of an earlier turn still shows
// the extract.
func TestSummariesReplaceExtracts(t *testing.T) {
	t.Parallel()
	w := harness.AnthropicWire
	r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, harness.Summarizing(w))
	d := newFixture(t, w.Windowed("m", r.URL, 4096))
	session, before, after := "", "", ""
	for i := range 26 {
		s := d.send(session, chatter(i), "--model", "m", "--wait", "committed")
		session = s.SessionID
		if i == 13 {
			before = s.TurnID
			var doc struct{ Summarized int }
			d.OK("summarize", session, "--json").Document(&doc)
			if doc.Summarized == 0 {
				t.Fatal("nothing was due, so the test proves nothing")
			}
		}
		after = s.TurnID
	}
	first, last := d.contextView(session, "--turn", before), d.contextView(session, "--turn", after)
	if first.Sources()["extract"] == 0 || !first.Same {
		t.Errorf("before: %v, same %v %s", first.Sources(), first.Same, first.Note)
	}
	if last.Sources()["summary"] == 0 || !last.Same || !strings.Contains(last.Text(), "The boxes were moved.") {
		t.Errorf("after: %v, same %v: %s", last.Sources(), last.Same, harness.Clip(fmt.Sprint(last.Manifest.History)))
	}
	d.Clean()
}

// summary.style is used in the request for a range summary.
func TestSummaryStyleReachesTheRequest(t *testing.T) {
	t.Parallel()
	w := harness.ChatWire
	for style, want := range map[string]bool{"sections": false, "narrative": true} {
		r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, harness.Summarizing(w))
		d := newFixture(t, w.Windowed("m", r.URL, 8192)+"[summary]\nstyle = \""+style+"\"\n")
		session := ""
		for i := range 7 {
			session = d.send(session, chatter(i), "--model", "m", "--wait", "committed").SessionID
		}
		d.OK("summarize", session, "--force")
		ranges := 0
		for _, body := range r.Asked() {
			if !strings.Contains(string(body), "You summarize one range of turns") {
				continue
			}
			if ranges++; strings.Contains(string(body), "one continuous narrative") != want {
				t.Errorf("%s: the request is %s", style, harness.Clip(string(body)))
			}
		}
		if ranges == 0 {
			t.Errorf("%s: no range was summarized", style)
		}
	}
}
