package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

func TestFindInALineage(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("find")
	f.full(main.ID, "Where is the GRÖSSE of ΣΊΣΥΦΟΣ?", "größe Größe, he said: \"quoted\"")
	two := f.full(main.ID, "nothing here", "line one\nline two 数据库")
	child := f.fork(main.ID, two.ID)
	f.full(child.ID, "only the child knows größe", "yes")
	f.interrupted(main.ID, "größe in a turn that is open")
	for _, tt := range []struct {
		text      string
		matchCase bool
		branch    chat.BranchID
		want      string // seq:count
	}{
		{"größe", false, main.ID, "1:2 3:1"}, {"Größe", true, main.ID, "1:1"}, {"grösse", false, main.ID, "1:1"},
		{"σίσυφος", false, main.ID, "1:1"}, {"\"quoted\"", false, main.ID, "1:1"}, {"one\nline", false, main.ID, "2:1"},
		{"据", false, main.ID, "2:1"}, {"größe", false, child.ID, "1:2 3:1"}, {"child", false, main.ID, ""}, {"  ", false, main.ID, ""}, {"blocks", false, main.ID, ""},
	} {
		found, err := f.Find(f.ctx, chat.FindQuery{Branch: tt.branch, Text: tt.text, MatchCase: tt.matchCase})
		f.ok(err)
		var got []string
		total := 0
		for _, turn := range found.Turns {
			got = append(got, fmt.Sprintf("%d:%d", turn.Seq, turn.Count))
			total += turn.Count
			for _, sp := range turn.Spans {
				if part := turn.First[sp.Start:sp.End]; !strings.EqualFold(strings.ReplaceAll(part, " ", "\n"), strings.ReplaceAll(tt.text, " ", "\n")) {
					t.Errorf("%q is marked for %q", part, tt.text)
				}
			}
		}
		if strings.Join(got, " ") != tt.want || found.Total != total || found.Truncated {
			t.Errorf("%q: %v of %d, want %s", tt.text, got, found.Total, tt.want)
		}
	}
	few, err := f.Find(f.ctx, chat.FindQuery{Branch: main.ID, Text: "größe", Limit: 1})
	f.ok(err)
	if len(few.Turns) != 1 || few.Total != 3 || !few.Truncated {
		t.Errorf("%+v", few)
	}
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	_, err = f.Find(ctx, chat.FindQuery{Branch: main.ID, Text: "größe"})
	f.refused(err, chat.CodeCancelled)
}

// searched returns the results of a search as "session/seq role".
func (f *fixture) searched(q chat.TextQuery) map[string]bool {
	f.Helper()
	found, err := f.SearchText(f.ctx, q)
	f.ok(err)
	out := map[string]bool{}
	for _, h := range found.Hits {
		out[fmt.Sprintf("%s/%d %s", found.Sessions[h.Session].Title, h.Seq, h.Role)] = true
		for _, sp := range h.Spans {
			if sp.Start < 0 || sp.End > len(h.Snippet) || sp.Start >= sp.End {
				f.Errorf("%+v in %q", sp, h.Snippet)
			}
		}
		if h.Branch == "" || h.BranchLabel == "" || h.At.IsZero() || h.Snippet == "" {
			f.Errorf("%+v", h)
		}
	}
	for id := range found.Titles {
		out[found.Sessions[id].Title+" title"] = true
	}
	return out
}

func TestSearchText(t *testing.T) {
	f := newFixture(t)
	first, main := f.session("Sailing")
	f.full(main.ID, "how do ships run before the wind", "They were running with a spinnaker.")
	f.full(main.ID, "我爱数据库 and databases", "the quick brown fox")
	second, other := f.session("Running shoes")
	f.say(other.ID, "pending words of a heron", "unindexed answer")
	f.failed(other.ID, "failed words of a crane", chat.OutcomeFailed)
	f.interrupted(other.ID, "open words of a stork")
	hidden, away := f.session("Hidden")
	f.full(away.ID, "archived spinnaker", "yes")
	f.ok(f.ArchiveSession(f.ctx, hidden.ID, true))
	for _, tt := range []struct {
		q    chat.TextQuery
		want string
	}{
		{chat.TextQuery{Text: "spinnaker"}, "Sailing/1 assistant"},
		{chat.TextQuery{Text: "spinn"}, "Sailing/1 assistant"},
		{chat.TextQuery{Text: "spinnaker", Archived: true}, "Sailing/1 assistant|Hidden/1 user"},
		{chat.TextQuery{Text: "spinnaker", Session: second.ID}, ""},
		{chat.TextQuery{Text: "spinnaker", Session: hidden.ID}, "Hidden/1 user"},
		{chat.TextQuery{Text: "hidden", Session: hidden.ID}, "Hidden title"},
		{chat.TextQuery{Text: "spinnaker", Session: first.ID}, "Sailing/1 assistant"},
		{chat.TextQuery{Text: "runni"}, "Sailing/1 assistant|Running shoes title"},
		{chat.TextQuery{Text: "running "}, "Sailing/1 user|Sailing/1 assistant|Running shoes title"},
		{chat.TextQuery{Text: "running ", Role: chat.RoleUser}, "Sailing/1 user"},
		{chat.TextQuery{Text: `"brown fox"`}, "Sailing/2 assistant"},
		{chat.TextQuery{Text: `"fox brown"`}, ""},
		{chat.TextQuery{Text: "fox quick"}, "Sailing/2 assistant"},
		{chat.TextQuery{Text: "数据"}, "Sailing/2 user"},
		{chat.TextQuery{Text: "HERON"}, "Running shoes/1 user"},
		{chat.TextQuery{Text: "unindexed"}, "Running shoes/1 assistant"},
		{chat.TextQuery{Text: "crane"}, "Running shoes/2 user"},
		{chat.TextQuery{Text: "stork"}, "Running shoes/3 user"},
		{chat.TextQuery{Text: "heron spinnaker"}, ""},
		{chat.TextQuery{Text: "heron", Until: f.clock.Now().Add(-1 << 40)}, ""},
		{chat.TextQuery{Text: "spinnaker", Since: f.clock.Now().Add(1 << 40)}, ""},
		{chat.TextQuery{Text: ` "' OR ) * `}, ""},
	} {
		got := f.searched(tt.q)
		want := map[string]bool{}
		for _, w := range strings.Split(tt.want, "|") {
			if w != "" {
				want[w] = true
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v finds %v, want %v", tt.q, got, want)
		}
	}
}

// TestSearchOpensWhereTheTurnShows: a result names the active branch if its lineage contains the turn.
func TestSearchOpensWhereTheTurnShows(t *testing.T) {
	f := newFixture(t)
	session, main := f.session("branches")
	one := f.full(main.ID, "the shared albatross", "yes")
	f.full(main.ID, "the main pelican", "yes")
	child := f.fork(main.ID, one.ID)
	f.ok(f.SwitchBranch(f.ctx, session.ID, child.ID))
	for word, want := range map[string]chat.BranchID{"albatross": child.ID, "pelican": main.ID} {
		found, err := f.SearchText(f.ctx, chat.TextQuery{Text: word})
		f.ok(err)
		if len(found.Hits) != 1 || found.Hits[0].Branch != want {
			t.Errorf("%s: %+v, want branch %s", word, found.Hits, want)
		}
	}
}
