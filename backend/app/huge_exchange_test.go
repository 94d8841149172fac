package app

import (
	"fmt"
	"strings"
	"testing"

	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// huge returns a text of about 40 kB with one unique sentence in the middle.
func huge(about, fact string) string {
	var b strings.Builder
	for i := range 700 {
		if i == 350 {
			b.WriteString(fact + "\n")
		}
		fmt.Fprintf(&b, "%d. %s: step %d is checked and written down.\n", i+1, about, i*7)
	}
	return b.String()
}

// After an exchange that is larger than the working set, the next message can still be sent. The X-ray and the command
// line show what was shortened, and omitted text is recalled if the question needs it. The stored turn stays complete.
func TestAHugeExchangeDoesNotBlockTheConversation(t *testing.T) {
	t.Parallel()
	const fact = "The spare key of the boathouse hangs behind the barometer."
	w := harness.ChatWire
	for _, ceiling := range testtier.Size([]int{4096}, []int{8192, 4096}) {
		for _, which := range []string{"message", "answer", "both"} {
			t.Run(fmt.Sprintf("%s at %d", which, ceiling), func(t *testing.T) {
				t.Parallel()
				r := harness.NewRelay(t, w, func(n int) llmtest.Step {
					if n == 3 && which != "message" {
						return llmtest.Stream(w.TextStream(true, huge("boat", fact))...)
					}
					return harness.Reply(w, n)
				}, harness.Summarizing(w))
				d := newFixture(t, w.Windowed("wide", r.URL, 128_000)+w.Windowed("m", r.URL, ceiling))
				s := d.send("", chatter(1), "--model", "m", "--wait", "indexed").SessionID
				d.send(s, chatter(2), "--model", "m", "--wait", "indexed")
				question, model := "Write down all steps.", "m"
				if which != "answer" {
					question, model = huge("list", fact), "wide" // the message itself must fit
				}
				d.send(s, question, "--model", model, "--wait", "indexed")
				next := d.OK("send", "--session", s, "Where does the spare key of the boathouse hang?", "--model", "m", "--json")
				if body := string(r.LastBody(t)); !strings.Contains(body, "hangs behind the barometer") {
					t.Errorf("the middle is not recalled: %s", harness.Clip(body))
				}
				if !strings.Contains(next.Stderr, "was sent shortened") {
					t.Errorf("send does not say what was shortened: %s", next.Stderr)
				}
				last := d.Show(s)
				v := d.contextView(s, "--turn", last.Turns[len(last.Turns)-1].ID)
				harness.EveryByteIsShown(t, w, v, r.LastBody(t), "the shortened context")
				if v.Manifest.TotalTokens > ceiling || len(v.Manifest.DroppedPending) > 0 || !strings.Contains(strings.Join(v.Manifest.Shrink, "\n"), "of turn 3 is shortened") {
					t.Errorf("%d tokens, %q", v.Manifest.TotalTokens, v.Manifest.Shrink)
				}
				if all := d.OK("show", s).Stdout; !strings.Contains(all, fact) {
					t.Error("the transcript lacks the fact")
				}
				d.Clean()
			})
		}
	}
}
