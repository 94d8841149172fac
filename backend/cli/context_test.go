package cli_test

import (
	"strings"
	"testing"
)

// narrow makes a conversation outgrow the window of "test".
var narrow = strings.Replace(configText, "context_limit = 32000", "context_limit = 2048", 1)

// TestContextDocuments holds the documents of `context` and `summarize` fast.
func TestContextDocuments(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := &masks{ids: map[string]string{}, paths: []string{h.dir, h.config}}
	step := func(name string, code int, args ...string) {
		t.Helper()
		m.golden(t, name, h.run(append(args, "--json")...).exits(code).document())
	}
	first := h.send("--new", "--wait", "committed", "Name a colour")
	h.run("pin", first.SessionID, "The user likes blue").exits(0)
	second := h.send("--session", first.SessionID, "And another")
	step("context_next", 0, "context", first.SessionID)
	step("context_turn", 0, "context", first.SessionID, "--turn", second.TurnID)
	step("context_diff", 0, "context", first.SessionID, "--turn", second.TurnID, "--diff")
	step("summarize", 0, "summarize", first.SessionID)
}

func TestContextInWords(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.send("--new", "--wait", "committed", "Name a colour")
	second := h.send("--session", first.SessionID, "And another \x1b[31mred")
	next := h.run("context", first.SessionID).exits(0).out
	for _, part := range []string{"The next request: ", "model test", "SECTION", "pending", "turn 2, user"} {
		if !strings.Contains(next, part) {
			t.Errorf("%q is not in\n%s", part, next)
		}
	}
	sent := h.run("context", first.SessionID, "--turn", second.TurnID[18:], "--diff", "--text").exits(0).out
	for _, part := range []string{"Turn 2: ", "The provider counted 10 input tokens", "Since the request before: ", "+ message", "--- message, ", "And another"} {
		if !strings.Contains(sent, part) {
			t.Errorf("%q is not in\n%s", part, sent)
		}
	}
	if said := h.run("summarize", first.SessionID).exits(0).out; !strings.Contains(said, "still fits as it was said") {
		t.Errorf("%q", said)
	}
}

// What does not fit is an error with its numbers, one document, and the next
// request shows the same without being sent.
func TestContextOverBudget(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.configure(narrow)
	s := h.send("--new", "hi")
	h.run("pin", s.SessionID, strings.Repeat("a pinned word ", 1500)).exits(0)
	for _, args := range [][]string{{"send", "--json", "--session", s.SessionID, "more"}, {"context", "--json", s.SessionID}} {
		f := h.run(args...).exits(1).failure()
		if f.Code != "over_budget" || !strings.Contains(f.Message, "pinned facts 45") || !strings.Contains(f.Hint, "unpin") {
			t.Errorf("%v: %+v", args, f)
		}
	}
	failed := h.show(s.SessionID).Turns[1]
	f := h.run("context", s.SessionID, "--turn", failed.ID, "--json").exits(1).failure()
	if f.Code != "not_found" || !strings.Contains(f.Message, "never sent") {
		t.Errorf("a turn that was never sent: %+v", f)
	}
	const none = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	for _, args := range [][]string{{"context", none}, {"summarize", none}, {"context", s.SessionID, "--turn", none}} {
		if f := h.run(append(args, "--json")...).exits(1).failure(); f.Code != "not_found" {
			t.Errorf("%v: %+v", args, f)
		}
	}
}
