package process

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/prompt"
	"contextinfinity/test/harness"
)

// SRD 22.1: turn N+1, sent as soon as turn N has streamed, contains turn N as a pending turn, even if a librarian will
// summarize it.
func TestSRD22_1SummaryLagCorrectness(t *testing.T) {
	t.Parallel()
	for _, w := range harness.Wires {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, harness.Summarizing(w))
			h := harness.NewHome(t, harness.Shipped(t), w.Windowed("m", r.URL, 8192)+"[librarian]\nafter_send_s = 0\n")
			first := h.OK("send", "--new", "--json", "--model", "m", "The cellar key hangs <behind> the clock.").Sent()
			second := h.OK("send", "--json", "--model", "m", "Where is it?").Sent()
			texts := strings.Join(harness.WireTexts(t, w, r.LastBody(t)), "")
			if !strings.Contains(texts, "The cellar key hangs <behind> the clock.") || !strings.Contains(texts, first.Text) {
				t.Errorf("turn N is not in the request of turn N+1 in full: %s", harness.Clip(texts))
			}
			v := harness.ViewOf(h.OK("context", second.SessionID, "--turn", second.TurnID, "--json"))
			harness.EveryByteIsShown(t, w, v, r.LastBody(t), "turn N+1")
			pending := 0
			for _, it := range v.Items {
				if it.Section == prompt.SectionPending && it.ID == first.TurnID {
					pending++
				}
			}
			if pending != 2 || len(r.Asked()) != 0 {
				t.Errorf("%d messages of turn N are pending, and the librarian was asked %d times", pending, len(r.Asked()))
			}
			h.OK("commit", second.SessionID)
			if left := h.Show(second.SessionID).Branches[0].Pending; left != 0 || len(r.Asked()) == 0 {
				t.Errorf("%d turns are pending after commit", left)
			}
			h.Clean()
		})
	}
}

// SRD 22.3 with a librarian: after a kill between the final answer and its commit, the next start commits it once,
// with the model's summary.
func TestSRD22_3WithALibrarian(t *testing.T) {
	t.Parallel()
	w := harness.AnthropicWire
	r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, harness.Summarizing(w))
	h := harness.NewHome(t, harness.Shipped(t), w.Windowed("m", r.URL, 8192))
	h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT=turn.settled:exit").
		Run("send", "--new", "--model", "m", "--wait", "indexed", "Remember: the boxes were moved week by week.").Exits(137)
	h.OK("reconcile")
	session := h.LastSession()
	doc := h.Show(session)
	if turn, b := doc.Turns[0], doc.Branches[0]; turn.Phase != chat.PhaseDone || b.HeadState != turn.StateAfter || b.HeadSeq != 1 {
		t.Errorf("reconcile left %s, head %+v", turn.Phase, b)
	}
	if s := h.Summary(session); !strings.Contains(s, "- The boxes were moved week by week") || len(r.Asked()) == 0 {
		t.Errorf("the state does not contain the model's summary: %s", harness.Clip(s))
	}
	asked := len(r.Asked())
	h.OK("reconcile")
	if len(r.Asked()) != asked {
		t.Error("a second reconcile asked the librarian again")
	}
	h.Clean()
}
