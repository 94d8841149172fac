package process

import (
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
)

// newQuotingHome returns a home with two conversations, of which the second quoted the first in its request, and the
// second conversation with its turn.
func newQuotingHome(t *testing.T) (h *harness.Home, session, turn string) {
	t.Helper()
	server := harness.NewRelay(t, harness.OpenAIWire, func(n int) llmtest.Step { return harness.Reply(harness.OpenAIWire, n) }, harness.Summarizing(harness.OpenAIWire))
	h = harness.NewHome(t, harness.Shipped(t), harness.OpenAIWire.Model("relay", server.URL)+"\n[retrieval]\nscope = \"all\"\n")
	h.OK("send", "--new", "--model", "relay", "--wait", "indexed", "The cat is called Otto.")
	second := h.OK("send", "--new", "--model", "relay", "--json", "How is the cat called?").Sent()
	h.OK("reconcile")
	if raw := requestOf(t, h, second.SessionID, second.TurnID); !strings.Contains(raw, "Otto") {
		t.Fatalf("the second conversation did not quote the first, so the test proves nothing:\n%s", raw)
	}
	return h, second.SessionID, second.TurnID
}

// requestOf returns the stored request of a turn.
func requestOf(t *testing.T, h *harness.Home, session, turn string) string {
	t.Helper()
	for _, x := range h.Show(session).Turns {
		if x.ID == turn && len(x.Steps) > 0 {
			return h.OK("show", session, "--raw", x.Steps[0].ID).Stdout
		}
	}
	t.Fatalf("turn %s has no step", turn)
	return ""
}

// A bundle with the requests that quoted other conversations completes a session that was imported without them.
func TestALaterBundleCompletesAnImport(t *testing.T) {
	t.Parallel()
	h, session, turn := newQuotingHome(t)
	without, with := filepath.Join(h.Dir, "without.cinf"), filepath.Join(h.Dir, "with.cinf")
	h.OK("export", session, "--format", "bundle", "-o", without)
	h.OK("export", session, "--format", "bundle", "--quotes", "-o", with)
	other := harness.NewHome(t, harness.Shipped(t), "")
	other.OK("import", without)
	output := other.OK("import", with).Stdout
	if !strings.Contains(output, "0 sessions created, 1 extended, 0 already there; 0 turns added") || !strings.Contains(output, "1 of them were added") {
		t.Errorf("the import says\n%s", output)
	}
	if raw, want := requestOf(t, other, session, turn), requestOf(t, h, session, turn); raw != want {
		t.Errorf("the request is\n%s\nand was\n%s", raw, want)
	}
	other.OK("verify")
	if again := other.OK("import", with).Stdout; !strings.Contains(again, "0 extended, 1 already there") || strings.Contains(again, "added.\n  ") {
		t.Errorf("imported again, it says\n%s", again)
	}
}

// A bundle does not contain the requests that quoted other conversations, unless they are requested. After the import
// verify finds nothing in either case, and the X-ray shows what the bundle contains and says what is missing.
func TestABundleContainsOtherConversationsOnlyOnRequest(t *testing.T) {
	t.Parallel()
	h, session, turn := newQuotingHome(t)
	for _, withQuotes := range []bool{false, true} {
		file := filepath.Join(h.Dir, "without.cinf")
		args := []string{"export", session, "--format", "bundle", "-o", file}
		if withQuotes {
			file = filepath.Join(h.Dir, "with.cinf")
			args[5] = file
			args = append(args, "--quotes")
		}
		output := h.OK(args...).Stdout
		if strings.Contains(output, "because they quoted other sessions: 1 request") == withQuotes {
			t.Errorf("with the quotes %v the export says\n%s", withQuotes, output)
		}
		other := harness.NewHome(t, harness.Shipped(t), "")
		other.OK("import", file)
		other.OK("verify")
		if raw := requestOf(t, other, session, turn); strings.Contains(raw, "Otto") != withQuotes {
			t.Errorf("with the quotes %v the request is\n%s", withQuotes, raw)
		}
		xray := other.OK("context", session, "--turn", turn, "--text").Stdout
		if strings.Contains(xray, "Otto") || !strings.Contains(xray, "How is the cat called?") || !strings.Contains(xray, "a passage of another conversation") {
			t.Errorf("with the quotes %v the X-ray says\n%s", withQuotes, xray)
		}
		// An export of the imported session has the same content.
		again := filepath.Join(h.Dir, "again.cinf")
		other.OK("export", session, "--format", "bundle", "--quotes", "--replace", "-o", again)
		third := harness.NewHome(t, harness.Shipped(t), "")
		third.OK("import", again)
		third.OK("verify")
		if raw := requestOf(t, third, session, turn); strings.Contains(raw, "Otto") != withQuotes {
			t.Errorf("with the quotes %v, exported again, the request is\n%s", withQuotes, raw)
		}
	}
	other := harness.NewHome(t, harness.Shipped(t), "")
	all := filepath.Join(h.Dir, "all.zip")
	h.OK("export", "--all", "--format", "bundle", "-o", all)
	other.OK("import", all)
	other.OK("verify")
	var xray struct{ Same bool }
	other.OK("context", session, "--turn", turn, "--json").Document(&xray)
	if raw := requestOf(t, other, session, turn); !xray.Same || !strings.Contains(raw, "Otto") {
		t.Errorf("after the import of all sessions the context is the same: %v, and its request\n%s", xray.Same, raw)
	}
}
