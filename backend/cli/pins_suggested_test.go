package cli_test

import (
	"strings"
	"testing"
)

// Standing instructions are listed, pinned and dismissed on the command line.
func TestSuggestedPins(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.provider.script(say("I will never forget."))
	h.run("send", "--new", "--wait", "committed", "Always answer in German. Never use tables.\n> Always quoted.").exits(0)
	session := h.onlySession().Session.ID
	var doc struct {
		Suggestions []struct {
			ID   string
			Text string
			Seq  int64 `json:"turn_seq"`
		}
	}
	list := func() []string {
		h.run("pins", string(session), "--suggested", "--json").exits(0).into(&doc)
		var out []string
		for _, s := range doc.Suggestions {
			out = append(out, s.Text)
		}
		return out
	}
	if got := list(); strings.Join(got, "|") != "Always answer in German.|Never use tables." || doc.Suggestions[0].Seq != 1 {
		t.Fatalf("suggested are %q", got)
	}
	german, tables := doc.Suggestions[0].ID, doc.Suggestions[1].ID
	if r := h.run("pins", string(session), "--suggested").exits(0); !strings.Contains(r.out, german) || !strings.Contains(r.out, "Never use tables.") {
		t.Errorf("the text form: %s", r.out)
	}
	if r := h.run("pins", string(session)).exits(0); r.out != "No pinned facts.\n" {
		t.Errorf("something was pinned without a request: %s", r.out)
	}
	h.run("pins", string(session), "--accept", german[10:], "--text", "Answer in German.").exits(0)
	h.run("pins", string(session), "--dismiss", tables).exits(0)
	if got := list(); len(got) != 0 {
		t.Errorf("still suggested: %q", got)
	}
	if r := h.run("pins", string(session)).exits(0); !strings.Contains(r.out, "Answer in German.") {
		t.Errorf("not pinned: %s", r.out)
	}
	h.run("send", "--session", string(session), "--wait", "committed", "We deploy Orders on Sunday at 05:00, never on a Friday.").exits(0) // of the README
	if got := list(); len(got) != 1 || !strings.HasPrefix(got[0], "We deploy Orders") {
		t.Errorf("suggested are %q", got)
	}
	h.run("pins", string(session), "--accept", tables).exits(1)
	h.run("pins", string(session), "--text", "x").exits(2)
	h.run("pins", string(session), "--accept", german, "--dismiss", german).exits(2)
}
