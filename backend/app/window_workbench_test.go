package app

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
)

// workbench has the services of the window that the workbench uses.
type workbench struct {
	*page
	branches *api.Branches
	search   *api.Search
}

func openWorkbench(t *testing.T) workbench {
	t.Helper()
	r := harness.NewRelay(t, harness.ChatWire, func(int) llmtest.Step { return llmtest.Stream(harness.ChatWire.TextStream(true, "It is noted.")...) }, nil)
	dir := t.TempDir()
	harness.WriteFile(t, filepath.Join(dir, "config.toml"), []byte(harness.ChatWire.Windowed("m", r.URL, 8192)+"[librarian]\nmodel = \"\"\n"))
	p := openPage(t, dir)
	return workbench{page: p, branches: serviceIn[*api.Branches](p.window), search: serviceIn[*api.Search](p.window)}
}

var minute = regexp.MustCompile(`\[Now: [^\]]*\]`)

// texts returns the texts of a context without the current time, which may change between two calls.
func texts(v api.ContextView) string {
	var b strings.Builder
	for _, s := range v.Sections {
		for _, it := range s.Items {
			b.WriteString(it.Text + "\n")
		}
	}
	return minute.ReplaceAllString(b.String(), "[Now]")
}

// A long run has landmarks along the way, a short run has none. Deleted turns are marked as such here
// and in the tree.
func TestWindowLandmarks(t *testing.T) {
	t.Parallel()
	p := openWorkbench(t)
	first := p.say(api.SendRequest{Text: "bird number 1", Model: "m"})
	for i := range 11 {
		text := fmt.Sprintf("bird number %d", i+2)
		if i+2 == 7 {
			text = chat.DeletedMark // a user's own text
		}
		said := p.say(api.SendRequest{SessionID: first.SessionID, Text: text, Model: "m"})
		if i+2 == 5 || i+2 == 12 {
			preview := must[api.DeletionPreview](t)(p.storage.PreviewDeletion(chat.DeletionTurn, said.TurnID, nil))
			must[api.ReceiptView](t)(p.storage.Delete(chat.DeletionTurn, said.TurnID, preview.Confirm, nil))
		}
	}
	var titles []string
	for _, mark := range must[[]api.Landmark](t)(p.branches.Landmarks(first.BranchID, 1, 12)) {
		if mark.Deleted {
			mark.Title = "deleted"
		}
		titles = append(titles, fmt.Sprintf("#%d %s", mark.Seq, mark.Title))
	}
	if want := []string{"#3 bird number 3", "#5 deleted", "#7 [erased]", "#9 bird number 9", "#11 bird number 11"}; !slices.Equal(titles, want) {
		t.Errorf("%v", titles)
	}
	tree := must[api.BranchTree](t)(p.branches.Tree(first.SessionID))
	if len(tree.Runs) != 1 || tree.Runs[0].FirstDeleted || !tree.Runs[0].LastDeleted {
		t.Errorf("the last turn was deleted, the tree says %+v", tree.Runs)
	}
	if few := must[[]api.Landmark](t)(p.branches.Landmarks(first.BranchID, 1, 11)); len(few) != 0 {
		t.Errorf("a short run has %v", few)
	}
}

// The tree, the preview of a fork, rolling back, comparing and archiving branches.
func TestWindowBranches(t *testing.T) {
	t.Parallel()
	p := openWorkbench(t)
	first := p.say(api.SendRequest{Text: "the first albatross", Model: "m"})
	second := p.say(api.SendRequest{SessionID: first.SessionID, Text: "the second pelican", Model: "m"})
	must[api.PinView](t)(p.inspect.AddPin(first.BranchID, "a fact that is pinned later"))

	before := must[api.ContextView](t)(p.branches.ContextAt(first.BranchID, "", "m"))
	if got := texts(before); strings.Contains(got, "albatross") || strings.Contains(got, "pelican") {
		t.Errorf("before the first turn there is %q", got)
	}
	at := must[api.ContextView](t)(p.branches.ContextAt(first.BranchID, first.TurnID, "m"))
	if got := texts(at); !strings.Contains(got, "albatross") || strings.Contains(got, "pelican") || strings.Contains(got, "pinned later") {
		t.Errorf("after the first turn there is %q", got)
	}
	if tree := must[api.BranchTree](t)(p.branches.Tree(first.SessionID)); len(tree.Branches) != 1 || len(tree.Runs) != 1 || tree.Turns != 2 {
		t.Errorf("a preview created something: %+v", tree)
	}

	back := must[api.BranchView](t)(p.branches.RollbackTo(first.BranchID, first.TurnID))
	if back.Label != "rollback to #1: the first albatross" || !back.Active || back.Turns != 1 {
		t.Errorf("%+v", back)
	}
	// The preview was the same as the context that the branch now has.
	actual := must[api.ContextView](t)(p.inspect.NextContext(back.ID, "m", api.Draft{}))
	if want, got := texts(at), texts(actual); want != got {
		t.Errorf("preview:\n%s\nactual:\n%s", want, got)
	}
	if _, err := p.branches.RollbackTo(back.ID, second.TurnID); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("back to a sibling's turn: %v", err)
	}
	third := p.say(api.SendRequest{SessionID: first.SessionID, Text: "a heron instead", Model: "m"})
	tree := must[api.BranchTree](t)(p.branches.Tree(first.SessionID))
	if len(tree.Runs) != 3 || tree.Active != back.ID || tree.Turns != 3 {
		t.Fatalf("%+v", tree)
	}
	root, continued, fork := tree.Runs[0], tree.Runs[1], tree.Runs[2]
	if root.Parent != "" || continued.Parent != root.ID || fork.Parent != root.ID || fork.ID != third.TurnID || continued.ID != second.TurnID ||
		root.First != "the first albatross" || root.Last != "" || root.Ends || !fork.Ends || fork.State == "" {
		t.Errorf("%+v", tree.Runs)
	}
	c := must[api.BranchComparison](t)(p.branches.Compare(first.BranchID, back.ID))
	if c.Shared != 1 || c.LastTurn != first.TurnID || len(c.Left.Turns) != 1 || c.Left.Turns[0].ID != second.TurnID || len(c.Right.Turns) != 1 ||
		c.Right.Turns[0].ID != third.TurnID || c.Right.FromSeq != 2 || c.Right.ToSeq != 2 || len(c.Left.Pins) != 1 || len(c.Right.Pins) != 0 {
		t.Errorf("%+v", c)
	}
	if err := p.branches.Archive(back.ID, true); chat.CodeOf(err) != chat.CodeConflict || chat.AsError(err).Hint == "" {
		t.Errorf("the active branch: %v", err)
	}
	if err := p.branches.Archive(first.BranchID, true); err != nil {
		t.Fatal(err)
	}
	snap := must[api.SessionSnapshot](t)(p.sessions.Open(first.SessionID, first.BranchID))
	if len(snap.Turns) != 2 || snap.Session.Branches != 1 || !snap.Branches[0].Archived {
		t.Errorf("an archived branch opens as %+v", snap.Branches)
	}
}

// Searching all sessions and in a branch, figures, copies, folders and titles.
func TestWindowSearch(t *testing.T) {
	t.Parallel()
	p := openWorkbench(t)
	first := p.say(api.SendRequest{Text: "🦢 Do albatrosses sleep in flight?", Model: "m"})
	second := p.say(api.SendRequest{SessionID: first.SessionID, Text: "And which Albatross is the largest?", Model: "m"})
	found := must[api.SearchResult](t)(p.search.Everything(api.SearchQuery{Text: "albatros"}))
	if len(found.Groups) != 1 || len(found.Groups[0].Hits) != 2 || len(found.Groups[0].Marks) != 1 || found.Hits != 2 {
		t.Fatalf("%+v", found)
	}
	for _, h := range found.Groups[0].Hits {
		if h.BranchID != first.BranchID || h.By != "words" || h.Role != "user" || len(h.Marks) != 1 {
			t.Errorf("%+v", h)
		}
		if h.TurnID == first.TurnID && h.Marks[0] != (api.Span{From: 6, To: 14}) { // the emoji counts as two
			t.Errorf("marks %+v in %q", h.Marks, h.Snippet)
		}
	}
	p.eventually("the turns are found by vectors too", func() bool {
		r := must[api.SearchResult](t)(p.search.Everything(api.SearchQuery{Text: "albatross flight", Meaning: true}))
		return len(r.Groups) > 0 && len(r.Groups[0].Hits) > 0 && r.Groups[0].Hits[0].By == "both"
	})
	for query, marked := range map[string]string{"flihgt": "flight", "largest bird": "largest"} { // typos and phrases, as on the command line
		if r := must[api.SearchResult](t)(p.search.Everything(api.SearchQuery{Text: query})); len(r.Groups) != 0 {
			t.Errorf("%q is found by its words: %+v", query, r.Groups)
		}
		r := must[api.SearchResult](t)(p.search.Everything(api.SearchQuery{Text: query, Meaning: true}))
		if len(r.Groups) != 1 {
			t.Fatalf("%q with similar text: %+v", query, r.Groups)
		}
		if !slices.ContainsFunc(r.Groups[0].Hits, func(h api.SearchHit) bool {
			text := utf16.Encode([]rune(h.Snippet))
			return h.By == "meaning" && len(h.Marks) == 1 && string(utf16.Decode(text[h.Marks[0].From:h.Marks[0].To])) == marked
		}) {
			t.Errorf("%q finds %+v", query, r.Groups[0].Hits)
		}
	}
	for _, bad := range []api.SearchQuery{{Text: "x", Role: "system"}, {Text: "x", Since: 5, Until: 2}, {Text: "x", Limit: -1}} {
		if _, err := p.search.Everything(bad); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	in := must[api.FindResult](t)(p.search.Find(first.BranchID, "ALBATROSS", false))
	if in.Total != 2 || len(in.Hits) != 2 || in.Hits[1].TurnID != second.TurnID || len(in.Hits[1].Marks) != 1 {
		t.Errorf("%+v", in)
	}
	if exact := must[api.FindResult](t)(p.search.Find(first.BranchID, "Albatross", true)); exact.Total != 1 {
		t.Errorf("%+v", exact)
	}
	figures := must[api.MetricsSeries](t)(p.search.Metrics(api.MetricsQuery{Scope: "session", SessionID: first.SessionID}))
	if len(figures.Points) != 2 || figures.Points[0].Turn.TurnSeq != 1 || figures.Cost != nil || figures.Unpriced != 2 || figures.Points[0].Cost != -1 {
		t.Errorf("%+v", figures)
	}
	if _, err := p.search.Metrics(api.MetricsQuery{Scope: "world"}); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("%v", err)
	}
	copied := must[api.SessionRow](t)(p.sessions.Duplicate(first.SessionID, ""))
	if copied.Turns != 2 || copied.ID == first.SessionID || !strings.HasSuffix(copied.Title, "(copy)") || copied.LeftOut != 0 {
		t.Errorf("%+v", copied)
	}
	if err := p.sessions.SetFolder([]string{copied.ID}, " Birds "); err != nil {
		t.Fatal(err)
	}
	folders := must[[]api.Folder](t)(p.sessions.Folders())
	if len(folders) != 1 || folders[0] != (api.Folder{Name: "Birds", Sessions: 1}) {
		t.Errorf("%+v", folders)
	}
	if err := p.sessions.ArchiveMany([]string{copied.ID, first.SessionID}, true); err != nil {
		t.Fatal(err)
	}
	if r := must[api.SearchResult](t)(p.search.Everything(api.SearchQuery{Text: "albatross"})); len(r.Groups) != 0 {
		t.Errorf("archived sessions are found: %+v", r)
	}
	if r := must[api.SearchResult](t)(p.search.Everything(api.SearchQuery{Text: "albatross", Archived: true})); len(r.Groups) != 2 {
		t.Errorf("archived sessions are not found: %+v", r)
	}
	if title := must[string](t)(p.sessions.SuggestTitle(first.SessionID)); !strings.Contains(strings.ToLower(title), "albatross") {
		t.Errorf("%q", title)
	}
}
