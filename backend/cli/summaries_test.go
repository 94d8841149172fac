package cli_test

import (
	"context"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// summaries lists the range summaries of a session, and which of them were replaced.
func TestSummaries(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	session := h.send("--new", "--wait", "committed", "one").SessionID
	for _, text := range []string{"two", "three", "four"} {
		h.run("send", "--wait", "committed", text).exits(0)
	}
	if r := h.run("summaries", session).exits(0); !strings.HasPrefix(r.out, "No range summaries. They are made when") {
		t.Errorf("%q", r.out)
	}
	w := h.writer()
	db := w.Store
	ctx := context.Background()
	s, err := db.Session(ctx, chat.SessionID(session))
	if err != nil {
		t.Fatal(err)
	}
	add := func(from, to int64, content string, replaces ...string) string {
		m, err := db.AddSummary(ctx, chat.NewSummary{
			BranchID: s.ActiveBranch, From: from, To: to, Content: content, TokenCount: 2, OriginalTokens: 9, GeneratedBy: "haiku", Supersedes: replaces,
			Validation: []byte(`{"tries":2,"reason":"it is empty","missing":["port 8080","old name"],"added":["port 8080"]}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		return m.ID
	}
	old := add(1, 2, "of one")
	longer := add(1, 3, "of one and two", old)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Summaries []struct {
			ID       string `json:"summary_id"`
			Orphan   bool
			Replaced string `json:"superseded_by"`
			Content  string
			Check    string
			Tries    int
			Reason   string
			Missing  []string
			Added    []string
		}
	}
	h.run("summaries", session, "--json").exits(0).into(&doc)
	if len(doc.Summaries) != 2 {
		t.Fatalf("%+v", doc)
	}
	h.run("summaries", session, "--orphans", "--json").exits(0).into(&doc)
	if len(doc.Summaries) != 1 || doc.Summaries[0].ID != old || !doc.Summaries[0].Orphan || doc.Summaries[0].Replaced != longer {
		t.Errorf("orphans are %+v", doc.Summaries)
	}
	if s := doc.Summaries[0]; s.Check != "repaired" || s.Tries != 2 || s.Reason != "it is empty" || len(s.Missing) != 2 || len(s.Added) != 1 {
		t.Errorf("the check is %+v", s)
	}
	if r := h.run("summaries", session).exits(0); !strings.Contains(r.out, "repaired: 1 added, 2 attempts") {
		t.Errorf("no check in %s", r.out)
	}
	if r := h.run("summaries", session, "--text").exits(0); !strings.Contains(r.out, "orphan, replaced by "+longer) || !strings.Contains(r.out, "of one and two") {
		t.Errorf("as text: %s", r.out)
	}
}
