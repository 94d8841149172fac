package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// drawTree returns a tree as lines: indented by depth, with label, turns, and flags.
func (f *fixture) drawTree(session chat.SessionID) string {
	f.Helper()
	tree, err := f.Tree(f.ctx, session)
	f.ok(err)
	labels := map[chat.BranchID]string{}
	for _, b := range tree.Branches {
		labels[b.ID] = b.Label
	}
	depth := make([]int, len(tree.Runs))
	var out []string
	for i, r := range tree.Runs {
		if r.Parent >= i {
			f.Fatalf("run %d is before its parent %d", i, r.Parent)
		}
		if r.Parent >= 0 {
			depth[i] = depth[r.Parent] + 1
		}
		line := fmt.Sprintf("%s%s %d-%d %q", strings.Repeat(" ", depth[i]), labels[r.Branch], r.From, r.To, r.First.Title)
		if r.Last.Title != "" {
			line += fmt.Sprintf(" to %q", r.Last.Title)
		}
		if r.Ends {
			line += " end"
		}
		if r.Pending+r.Open > 0 {
			line += fmt.Sprintf(" pending %d open %d", r.Pending, r.Open)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestTree(t *testing.T) {
	f := newFixture(t)
	session, main := f.session("tree")
	one := f.full(main.ID, "one", "1")
	two := f.full(main.ID, "two", "2")
	f.full(main.ID, "three", "3")
	child, err := f.Fork(f.ctx, chat.ForkPoint{Branch: main.ID, After: two.ID, Label: "child"})
	f.ok(err)
	other, err := f.Fork(f.ctx, chat.ForkPoint{Branch: main.ID, After: two.ID, Label: "other"})
	f.ok(err)
	_, err = f.Fork(f.ctx, chat.ForkPoint{Branch: main.ID, After: one.ID, Label: "empty"})
	f.ok(err)
	begin, err := f.Fork(f.ctx, chat.ForkPoint{Branch: main.ID, Label: "before"})
	f.ok(err)
	f.full(child.ID, "three again", "3b")
	f.say(child.ID, "four", "4")
	f.interrupted(other.ID, "three otherwise")
	f.failed(begin.ID, "at first", chat.OutcomeDiscarded)
	want := `main 1-1 "one"
 main 2-2 "two"
  main 3-3 "three" end
  child 3-4 "three again" to "four" end pending 1 open 0
  other 3-3 "three otherwise" end pending 0 open 1
 empty 2-1 "" end
before 1-1 "at first" end`
	if got := f.drawTree(session.ID); got != want {
		t.Errorf("%s\n\nwant\n%s", got, want)
	}
	tree, err := f.Tree(f.ctx, session.ID)
	f.ok(err)
	if len(tree.Branches) != 5 || tree.Branches[1].Covers != 3 || tree.Branches[1].Own() != 2 {
		t.Errorf("%+v", tree.Branches[1])
	}
	_, err = f.Tree(f.ctx, "nobody")
	f.refused(err, chat.CodeNotFound)
}

func TestBranchDivergence(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("apart")
	turns := []chat.Turn{f.full(main.ID, "one", "1"), f.full(main.ID, "two", "2"), f.full(main.ID, "three", "3")}
	child := f.fork(main.ID, turns[1].ID)
	grandchild := f.fork(child.ID, turns[0].ID)
	f.full(child.ID, "three again", "3")
	deep := f.fork(child.ID, "")
	_, strange := f.session("another")
	for _, tt := range []struct {
		left, right chat.BranchID
		want        int64
	}{
		{main.ID, child.ID, 2}, {child.ID, main.ID, 2}, {main.ID, grandchild.ID, 1}, {child.ID, grandchild.ID, 1},
		{main.ID, deep.ID, 0}, {main.ID, main.ID, 3},
	} {
		got, err := f.BranchDivergence(f.ctx, tt.left, tt.right)
		f.ok(err)
		if got.Shared != tt.want || tt.want > 0 && got.Last != turns[tt.want-1].ID || tt.want == 0 && got.Last != "" {
			t.Errorf("%+v, want %d", got, tt.want)
		}
	}
	_, err := f.BranchDivergence(f.ctx, main.ID, strange.ID)
	f.refused(err, chat.CodeInvalid)
}

// TestPinsAt: PinsAt returns the pins that a fork at a turn will have.
func TestPinsAt(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("pins")
	f.pin(main.ID, "from the beginning")
	one := f.full(main.ID, "one", "1")
	f.pin(main.ID, "after one")
	two := f.full(main.ID, "two", "2")
	child := f.fork(main.ID, two.ID)
	f.pin(child.ID, "on the child")
	f.pin(main.ID, "after two")
	three := f.full(child.ID, "three", "3")
	for _, at := range []struct {
		seq   int64
		after chat.TurnID
	}{{0, ""}, {1, one.ID}, {2, two.ID}, {3, three.ID}} {
		preview, err := f.PinsAt(f.ctx, child.ID, at.seq)
		f.ok(err)
		fork := f.fork(child.ID, at.after)
		got := lists.Map(preview, func(p chat.Pin) string { return p.Text })
		if want := f.pinTexts(fork.ID); !slices.Equal(got, want) {
			t.Errorf("after turn %d: the preview has %q, the fork has %q", at.seq, got, want)
		}
	}
}

func TestArchivedBranch(t *testing.T) {
	f := newFixture(t)
	session, main := f.session("branches")
	one := f.full(main.ID, "one", "1")
	child := f.fork(main.ID, one.ID)
	f.refused(f.ArchiveBranch(f.ctx, main.ID, true), chat.CodeConflict)
	f.ok(f.ArchiveBranch(f.ctx, child.ID, true))
	if b, err := f.Branch(f.ctx, child.ID); err != nil || b.ArchivedAt == nil {
		t.Fatalf("%+v %v", b, err)
	}
	f.verifyClean()
	f.ok(f.SwitchBranch(f.ctx, session.ID, child.ID))
	if b, err := f.Branch(f.ctx, child.ID); err != nil || b.ArchivedAt != nil {
		t.Errorf("the active branch is archived: %+v %v", b, err)
	}
	f.verifyClean()
}

func TestFoldersAndManySessions(t *testing.T) {
	f := newFixture(t)
	a, _ := f.session("a")
	b, _ := f.session("b")
	c, _ := f.session("c")
	f.ok(f.SetFolder(f.ctx, []chat.SessionID{a.ID, b.ID}, "Work"))
	f.ok(f.SetFolder(f.ctx, []chat.SessionID{c.ID}, "Home"))
	f.refused(f.SetFolder(f.ctx, []chat.SessionID{c.ID, "nobody"}, "Work"), chat.CodeNotFound)
	folders, err := f.Folders(f.ctx)
	f.ok(err)
	if want := []chat.Folder{{Name: "Home", Sessions: 1}, {Name: "Work", Sessions: 2}}; !slices.Equal(folders, want) {
		t.Errorf("%+v", folders)
	}
	f.refused(f.ArchiveSessions(f.ctx, []chat.SessionID{a.ID, "nobody"}, true), chat.CodeNotFound)
	if s, err := f.Session(f.ctx, a.ID); err != nil || s.ArchivedAt != nil || s.Folder != "Work" {
		t.Errorf("%+v %v", s, err)
	}
	f.ok(f.ArchiveSessions(f.ctx, []chat.SessionID{a.ID, b.ID}, true))
	f.ok(f.SetFolder(f.ctx, []chat.SessionID{c.ID}, ""))
	if folders, err = f.Folders(f.ctx); err != nil || len(folders) != 0 {
		t.Errorf("%+v %v", folders, err)
	}
	f.verifyClean()
}

// TestMeasuresExcludeCopies: the turns of a duplicate were already paid for.
func TestMeasuresExcludeCopies(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("measured")
	f.full(main.ID, "one", "1")
	f.full(main.ID, "two", "2")
	f.clock.Advance(time.Second)
	fork, err := f.Duplicate(f.ctx, main.ID, "copy")
	f.ok(err)
	f.full(fork.Session.ActiveBranch, "three", "3")
	for _, tt := range []struct {
		q    chat.MeasureQuery
		want []int64
	}{
		{chat.MeasureQuery{}, []int64{3, 2, 1}}, {chat.MeasureQuery{Limit: 2}, []int64{3, 2}},
		{chat.MeasureQuery{Session: fork.Session.ID}, []int64{3, 2, 1}}, {chat.MeasureQuery{Branch: main.ID, Limit: 1}, []int64{2}},
	} {
		rows, err := f.Measures(f.ctx, tt.q)
		f.ok(err)
		var got []int64
		for _, r := range rows {
			got = append(got, r.TurnSeq)
			if r.Title == "" || r.At.IsZero() || r.Session == "" {
				t.Errorf("%+v", r)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.q, got, tt.want)
		}
	}
}

// TestUsageByModel adds up the usage that providers reported, by model, for a session or since a time, without the
// turns that a duplicate copied.
func TestUsageByModel(t *testing.T) {
	f := newFixture(t)
	session, main := f.session("measured")
	f.full(main.ID, "one", "1")
	f.full(main.ID, "two", "2")
	f.clock.Advance(time.Hour)
	fork, err := f.Duplicate(f.ctx, main.ID, "copy")
	f.ok(err)
	noon := f.clock.Now()
	f.full(fork.Session.ActiveBranch, "three", "3")
	for _, tt := range []struct {
		q     chat.UsageQuery
		turns int
	}{
		{chat.UsageQuery{}, 3}, {chat.UsageQuery{Session: session.ID}, 2}, {chat.UsageQuery{Session: fork.Session.ID}, 1},
		{chat.UsageQuery{Since: noon}, 1}, {chat.UsageQuery{Since: noon.Add(time.Hour)}, 0},
	} {
		rows, err := f.UsageByModel(f.ctx, tt.q)
		f.ok(err)
		turns, input := 0, 0
		for _, r := range rows {
			turns, input = turns+r.Turns, input+r.Usage.InputTokens
		}
		measured, err := f.Measures(f.ctx, chat.MeasureQuery{Session: session.ID, Limit: 1})
		f.ok(err)
		if each := measured[0].Usage.InputTokens; turns != tt.turns || each == 0 || input != tt.turns*each {
			t.Errorf("%+v: %d turns with %d tokens, want %d of %d", tt.q, turns, input, tt.turns, each)
		}
	}
}

// TestBackgroundUsage adds up the usage in the validations of state and range summaries, by the model that was asked,
// for a session or since a time, without those that a duplicate copied.
func TestBackgroundUsage(t *testing.T) {
	f := newFixture(t)
	session, main := f.session("measured")
	summarized := func(branch chat.BranchID, origin chat.StateOrigin, model, validation string) {
		t.Helper()
		turn := f.say(branch, "question", "answer")
		b, err := f.Branch(f.ctx, branch)
		f.ok(err)
		_, err = f.Commit(f.ctx, chat.Commit{
			BranchID: branch, Epoch: b.Epoch, Turns: []chat.TurnID{turn.ID}, Summary: "## Facts\n- a", TokenCount: 4, Origin: origin,
			Model: model, Validation: json.RawMessage(validation),
		})
		f.ok(err)
	}
	summarized(main.ID, chat.StateLibrarian, "small-1", `{"usage":{"input_tokens":100,"output_tokens":10,"cost":{"usd":0.5,"source":"configured"}}}`)
	summarized(main.ID, chat.StateFallback, "", `{"asked":"small-1","usage":{"input_tokens":20,"output_tokens":0}}`)
	f.full(main.ID, "no model is asked", "for this one")
	ranged := summaryOf(main.ID, 1, 3)
	ranged.GeneratedBy, ranged.Validation = "large-1", json.RawMessage(`{"usage":{"input_tokens":3000,"output_tokens":200}}`)
	_, err := f.AddSummary(f.ctx, ranged)
	f.ok(err)
	f.clock.Advance(time.Hour)
	fork, err := f.Duplicate(f.ctx, main.ID, "copy")
	f.ok(err)
	noon := f.clock.Now()
	summarized(fork.Session.ActiveBranch, chat.StateLibrarian, "small-1", `{"usage":{"input_tokens":7,"output_tokens":1}}`)
	all := []string{"large-1 1 3000 200 0", "small-1 2 27 1 0", "small-1 1 100 10 0.5"}
	for _, tt := range []struct {
		q    chat.UsageQuery
		want []string
	}{
		{chat.UsageQuery{}, all},
		{chat.UsageQuery{Session: session.ID}, []string{"large-1 1 3000 200 0", "small-1 1 20 0 0", "small-1 1 100 10 0.5"}},
		{chat.UsageQuery{Session: fork.Session.ID}, []string{"small-1 1 7 1 0"}},
		{chat.UsageQuery{Since: noon}, []string{"small-1 1 7 1 0"}},
		{chat.UsageQuery{Since: noon.Add(-2 * time.Hour)}, all},
		{chat.UsageQuery{Since: noon.Add(time.Hour)}, nil},
	} {
		rows, err := f.BackgroundUsage(f.ctx, tt.q)
		f.ok(err)
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprint(r.Model, " ", r.Turns, " ", r.Usage.InputTokens, " ", r.Usage.OutputTokens, " ", r.Usage.Cost.USD))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %q, want %q", tt.q, got, tt.want)
		}
	}
}
