package cli_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/prompt"
)

// narrow gives "test" a small window, so that a conversation outgrows it.
var narrow = strings.Replace(configText, "context_limit = 32000", "context_limit = 2048", 1)

// TestContextDocuments pins the documents of `context` and `summarize`.
func TestContextDocuments(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := &masks{ids: map[string]string{}, paths: []string{h.dir, h.config}}
	step := func(name string, code int, args ...string) {
		t.Helper()
		m.golden(t, name, timeless(h.run(append(args, "--json")...).exits(code).document()).(map[string]any))
	}
	first := h.send("--new", "--wait", "committed", "Name a colour")
	h.run("pin", first.SessionID, "The user likes blue").exits(0)
	second := h.send("--session", first.SessionID, "And another")
	step("context_next", 0, "context", first.SessionID)
	step("context_turn", 0, "context", first.SessionID, "--turn", second.TurnID)
	step("context_diff", 0, "context", first.SessionID, "--turn", second.TurnID, "--diff")
	step("summarize", 0, "summarize", first.SessionID)
}

func TestContextAsText(t *testing.T) {
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
	for _, part := range []string{"Turn 2: ", "The provider counted 10 input tokens", "Since the previous request: ", "+ message", "--- message, ", "And another"} {
		if !strings.Contains(sent, part) {
			t.Errorf("%q is not in\n%s", part, sent)
		}
	}
	if out := h.run("summarize", first.SessionID).exits(0).out; !strings.Contains(out, "The whole conversation still fits") {
		t.Errorf("%q", out)
	}
	if out := h.run("summarize", first.SessionID, "--force").exits(0).out; !strings.Contains(out, "too few turns") {
		t.Errorf("forced: %q", out)
	}
}

// Pinned facts over their cap are refused when they are pinned. If another model leaves no room for them, sending
// fails with one document that contains the numbers, and `context` shows the same without sending.
func TestContextOverBudget(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "hi")
	f := h.run("pin", "--json", s.SessionID, strings.Repeat("a pinned word ", 1500)).exits(1).failure()
	if f.Code != "over_budget" || !strings.Contains(f.Message, "The pinned facts take 45") || !strings.Contains(f.Message, "Nothing was pinned.") {
		t.Errorf("%+v", f)
	}
	h.run("pin", s.SessionID, strings.Repeat("a pinned word ", 100)).exits(0)
	h.configure(narrow)
	for _, args := range [][]string{{"send", "--json", "--session", s.SessionID, "more"}, {"context", "--json", s.SessionID}} {
		f := h.run(args...).exits(1).failure()
		if f.Code != "over_budget" || !strings.Contains(f.Message, "The pinned facts take 30") || !strings.Contains(f.Hint, "unpin") {
			t.Errorf("%v: %+v", args, f)
		}
	}
	failed := h.show(s.SessionID).Turns[1]
	f = h.run("context", s.SessionID, "--turn", failed.ID, "--json").exits(1).failure()
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

// TestContextSaysWhatIsNeeded: while turns that no longer fit have no summary, context names them with their size.
func TestContextSaysWhatIsNeeded(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.configure(strings.Replace(configText, "context_limit = 32000", "context_limit = 4000", 1))
	session := ""
	for range 14 {
		args := []string{"--wait", "committed", strings.Repeat("word ", 300)}
		if session == "" {
			args = append([]string{"--new"}, args...)
		} else {
			args = append([]string{"--session", session}, args...)
		}
		session = h.send(args...).SessionID
	}
	var doc struct {
		Status prompt.UsageStatus `json:"usage_status"`
	}
	if err := json.Unmarshal([]byte(h.run("context", session, "--json").exits(0).out), &doc); err != nil {
		t.Fatal(err)
	}
	st := doc.Status
	text := h.run("context", session).exits(0).out
	if st.Kind != prompt.UsageNeedsSummarization || st.Excess < 300 || len(st.Turns) == 0 || st.Turns[0] != 1 || !strings.Contains(text, "Needs summarization: ") {
		t.Errorf("%+v\n%s", st, text)
	}
}

// timeless removes from a document what depends on the time of day: the line with the time, and the hashes and sizes
// that include it.
func timeless(v any) any {
	switch v := v.(type) {
	case []any:
		v = slices.DeleteFunc(v, func(x any) bool { m, ok := x.(map[string]any); return ok && m["source"] == "now" })
		for i := range v {
			v[i] = timeless(v[i])
		}
		return v
	case map[string]any:
		if v["assembler_version"] != nil {
			v["sha256"] = "SHA256"
		}
		for _, key := range []string{"now", "total_bytes"} {
			if v[key] != nil {
				v[key] = "NOW"
			}
		}
		for key := range v {
			v[key] = timeless(v[key])
		}
	}
	return v
}
