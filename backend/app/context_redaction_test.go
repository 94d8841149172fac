package app

import (
	"fmt"
	"strings"
	"testing"

	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// typedSecrets are secrets that users paste. They are stored as typed, but must not leave the machine.
var typedSecrets = map[string]string{
	"github-token": "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a",
	"openai-key":   "sk-proj-" + "Tq7wZr4KpX9mVb2Ns6Yd8Hc3Fj5Lg1Ra",
	"pattern":      "EMP-104233",
}

// SPEC 13: a secret in a message is stored as typed and is never sent: not while its turn is pending, not from old
// history, its extract or summary, and not to the librarian. `context` shows what was replaced.
func TestSecretsAreNeverSent(t *testing.T) {
	t.Parallel()
	for _, w := range testtier.Size(harness.Wires[2:], harness.Wires) {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, harness.Summarizing(w))
			d := newFixture(t, w.Windowed("m", r.URL, 4096)+"[redaction]\npatterns = ['EMP-\\d{6}']\n")
			typed := "We decided that the build must always use " + typedSecrets["github-token"] + " and never " +
				typedSecrets["openai-key"] + ". Ask " + typedSecrets["pattern"] + " about shelf 12."
			first := d.send("", typed, "--model", "m")
			if got := d.Show(first.SessionID).Turns[0].User.RenderedText(); got != typed {
				t.Errorf("the typed text is stored as %q", got)
			}
			checkRedactions(t, d, first)
			for i := range 16 {
				s := d.send(first.SessionID, chatter(i), "--model", "m", "--wait", "committed")
				v := d.contextView(first.SessionID, "--turn", s.TurnID)
				harness.EveryByteIsShown(t, w, v, r.LastBody(t), fmt.Sprintf("turn %d", i+2))
			}
			d.OK("summarize", first.SessionID)
			for _, body := range append(r.Bodies(), r.Asked()...) {
				checkNoSecrets(t, string(body))
			}
			if !strings.Contains(string(r.Bodies()[0]), "[redacted:github-token]") || len(r.Asked()) == 0 {
				t.Error("the secrets have no placeholder, or no librarian was asked")
			}
			d.Clean()
		})
	}
}

// checkRedactions checks the redactions that `context` shows, as JSON and as text.
func checkRedactions(t *testing.T, d *fixture, s harness.Sent) {
	t.Helper()
	v := d.contextView(s.SessionID, "--turn", s.TurnID)
	human := d.OK("context", s.SessionID, "--turn", s.TurnID, "--text").Stdout
	checkNoSecrets(t, v.Text())
	checkNoSecrets(t, human)
	for rule, secret := range typedSecrets {
		found := false
		for _, x := range v.Manifest.Redactions {
			found = found || x.Rule == rule && x.Bytes == len(secret)
		}
		if !found || !strings.Contains(v.Text(), "[redacted:"+rule+"]") || !strings.Contains(human, "redacted "+rule) {
			t.Errorf("context does not show that %s was replaced: %+v", rule, v.Manifest.Redactions)
		}
	}
}

// checkNoSecrets checks that a text contains no secret, and no half of one.
func checkNoSecrets(t *testing.T, text string) {
	t.Helper()
	for rule, secret := range typedSecrets {
		half := max(6, len(secret)/2)
		for start := 0; start+half <= len(secret); start++ {
			if i := strings.Index(text, secret[start:start+half]); i >= 0 {
				t.Errorf("%s is in the text: …%s…", rule, harness.Clip(text[max(0, i-60):min(len(text), i+60)]))
				return
			}
		}
	}
}

// If the redaction rules have changed, `context` says so for an old turn, and verify does not report it as damage.
func TestARedactionRuleAddedLaterIsReported(t *testing.T) {
	t.Parallel()
	w := harness.ChatWire
	r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, nil)
	config := w.Windowed("m", r.URL, 8192)
	d := newFixture(t, config)
	s := d.send("", "Ask EMP-104233 about it.", "--model", "m")
	d.restartWith(config + "[redaction]\npatterns = ['EMP-\\d{6}']\n")
	v := d.contextView(s.SessionID, "--turn", s.TurnID)
	if v.Same || !strings.Contains(v.Note, "redaction rules") {
		t.Errorf("same %v, note %q", v.Same, v.Note)
	}
	d.Clean()
	d.send(s.SessionID, "And now?", "--model", "m")
	if strings.Contains(string(r.LastBody(t)), "EMP-104233") {
		t.Error("old history was not redacted by the new rule")
	}
}
