package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// texts returns the messages of a branch, in order.
func (f *fixture) texts(branch chat.BranchID) []string {
	f.Helper()
	turns, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: branch})
	f.ok(err)
	var out []string
	for _, t := range turns {
		out = append(out, t.User.RenderedText())
		if t.Assistant != nil {
			out = append(out, t.Assistant.RenderedText())
		}
	}
	return out
}

func (f *fixture) pinTexts(branch chat.BranchID) []string {
	f.Helper()
	pins, err := f.Pins(f.ctx, branch)
	f.ok(err)
	return lists.Map(pins, func(p chat.Pin) string { return p.Text })
}

// TestDuplicateCopiesTheLineage: the copy of each branch has the same messages, except for the open turn, and passes
// verify.
func TestDuplicateCopiesTheLineage(t *testing.T) {
	f := newFixture(t)
	d := seed(f)
	f.ok(f.SetFolder(f.ctx, []chat.SessionID{d.Session.ID}, "Travel"))
	for name, branch := range map[string]chat.BranchID{"main": d.Main.ID, "child": d.Child.ID, "early": d.Early.ID, "inside": d.Inside.ID} {
		t.Run(name, func(t *testing.T) {
			want := f.texts(branch)
			duplicate, err := f.Duplicate(f.ctx, branch, "a copy")
			f.ok(err)
			open := 0
			if name == "main" {
				open = 1
				want = want[:len(want)-1] // the ninth turn has no answer yet
			}
			if duplicate.LeftOut != open {
				t.Errorf("%d turns were left out, want %d", duplicate.LeftOut, open)
			}
			copied := duplicate.Session.ActiveBranch
			if got := f.texts(copied); !slices.Equal(got, want) {
				t.Errorf("the copy says %q, the original %q", got, want)
			}
			if got, want := f.pinTexts(copied), f.pinTexts(branch); !slices.Equal(got, want) {
				t.Errorf("pins %q, want %q", got, want)
			}
			f.expectSameKnowledge(branch, copied)
			s := duplicate.Session
			if s.Title != "a copy" || s.Folder != "Travel" || s.Model != "recall" || s.SystemPrompt != "Be brief." {
				t.Errorf("%+v", s)
			}
			f.verifyClean()
		})
	}
}

// expectSameKnowledge compares the state and range summaries of two branches.
func (f *fixture) expectSameKnowledge(a, b chat.BranchID) {
	f.Helper()
	summary := func(id chat.BranchID) string {
		branch, err := f.Branch(f.ctx, id)
		f.ok(err)
		st, err := f.State(f.ctx, branch.HeadState)
		f.ok(err)
		return st.Summary
	}
	if x, y := summary(a), summary(b); x != y {
		f.Errorf("the heads say %q and %q", x, y)
	}
	x, err := f.UsableSummaries(f.ctx, a)
	f.ok(err)
	y, err := f.UsableSummaries(f.ctx, b)
	f.ok(err)
	same := func(p, q chat.RangeSummary) bool {
		return p.From == q.From && p.To == q.To && p.Content == q.Content && string(p.Validation) == string(q.Validation)
	}
	if !slices.EqualFunc(x, y, same) {
		f.Errorf("range summaries %+v and %+v", x, y)
	}
}

// TestDuplicateIsIndependent: later changes of the original or the copy do not affect the other.
func TestDuplicateIsIndependent(t *testing.T) {
	f := newFixture(t)
	session, branch := f.session("original")
	file, err := f.AddFile(f.ctx, chat.NewFile{SessionID: session.ID, Name: "plan.md", MediaType: "text/markdown", Content: []byte("the plan is to sail"), Tokens: 5})
	f.ok(err)
	m := chat.UserText("read this")
	m.Blocks = append(m.Blocks, chat.Document{File: file.ID, Name: "plan.md", Tokens: 5})
	turn, err := f.Accept(f.ctx, chat.Acceptance{BranchID: branch.ID, User: m, Provider: "p", Model: "m"})
	f.ok(err)
	f.finalize(turn, "read")
	f.commitAll(branch.ID)
	duplicate, err := f.Duplicate(f.ctx, branch.ID, "copy")
	f.ok(err)
	copied := duplicate.Session.ActiveBranch
	f.full(branch.ID, "only in the original", "yes")
	f.full(copied, "only in the copy", "yes")
	f.pin(copied, "a fact of the copy")
	if got := strings.Join(f.texts(branch.ID), "|"); strings.Contains(got, "copy") {
		t.Errorf("the original says %s", got)
	}
	if got := strings.Join(f.texts(copied), "|"); strings.Contains(got, "original") {
		t.Errorf("the copy says %s", got)
	}
	if pins := f.pinTexts(branch.ID); len(pins) != 0 {
		t.Errorf("the original has %q", pins)
	}
	files := f.files(duplicate.Session.ID)
	if len(files) != 1 || files[0].ID == file.ID || files[0].TurnID == "" {
		t.Fatalf("%+v", files)
	}
	content := f.fileContent(files[0].ID)
	if string(content) != "the plan is to sail" {
		t.Errorf("%q", content)
	}
	jobs, err := f.Jobs(f.ctx, chat.JobQuery{Session: duplicate.Session.ID, Type: chat.JobIndexTurn})
	f.ok(err)
	if len(jobs) == 0 {
		t.Error("nothing will be indexed of the copy")
	}
	f.verifyClean()
}

// A permanent deletion names the sessions that contain the same messages: the duplicates of the session, and the one
// that it is a duplicate of.
func TestADeletionNamesCopies(t *testing.T) {
	f := newFixture(t)
	_, branch := f.session("original")
	turn := f.full(branch.ID, "the vault opens with 4711", "noted")
	f.full(branch.ID, "and the door with 1234", "noted")
	_, beside := f.session("another one")
	f.full(beside.ID, "the vault opens with 4711", "noted at another time")
	duplicate, err := f.Duplicate(f.ctx, branch.ID, "copy")
	f.ok(err)
	copied := duplicate.Session.ID
	titles := func(list []chat.Copy) (out []string) {
		for _, c := range list {
			out = append(out, c.Title)
		}
		return out
	}
	preview, err := f.PreviewDeletion(f.ctx, chat.DeletionSession, string(copied))
	f.ok(err)
	if got := titles(preview.Copies); !slices.Equal(got, []string{"original"}) {
		t.Errorf("of the duplicate the copies are %q", got)
	}
	preview, err = f.PreviewDeletion(f.ctx, chat.DeletionTurn, string(turn.ID))
	f.ok(err)
	if got := titles(preview.Copies); !slices.Equal(got, []string{"copy"}) {
		t.Fatalf("the copies of the turn are %q", got)
	}
	if copyOfTurn, err := f.Turn(f.ctx, preview.Copies[0].Turn); err != nil || copyOfTurn.SessionID != copied || copyOfTurn.User.RenderedText() != turn.User.RenderedText() {
		t.Errorf("the turn of the copy is %+v: %v", copyOfTurn, err)
	}
	receipt, err := f.Delete(f.ctx, chat.DeletionTurn, string(turn.ID))
	f.ok(err)
	if got := titles(receipt.Copies); !slices.Equal(got, []string{"copy"}) {
		t.Errorf("the receipt names %q", got)
	}
	_, err = f.Delete(f.ctx, chat.DeletionTurn, string(preview.Copies[0].Turn))
	f.ok(err)
	receipts, err := f.Receipts(f.ctx)
	f.ok(err)
	if last := receipts[0].Copies; len(last) != 0 {
		t.Errorf("after both were deleted %+v is named", last)
	}
	_, err = f.Delete(f.ctx, chat.DeletionSession, string(copied))
	f.ok(err)
	receipts, err = f.Receipts(f.ctx)
	f.ok(err)
	if first := receipts[2].Copies; len(first) != 1 || first[0].Session != copied || !first[0].Gone || first[0].Title != "" {
		t.Errorf("the first receipt says %+v", first)
	}
	f.verifyClean()
}

// Each turn of a duplicate is found as a copy, although its original has state summaries and edited pins that are newer
// than later turns.
func TestADeletionFindsEachTurnOfACopy(t *testing.T) {
	f := newFixture(t)
	session, branch := f.session("original")
	var turns []chat.Turn
	var pin chat.Pin
	for i := range 4 {
		turns = append(turns, f.say(branch.ID, fmt.Sprintf("question %d", i), fmt.Sprintf("answer %d", i)))
		if i == 0 {
			var err error
			pin, err = f.AddPin(f.ctx, branch.ID, "a fact", 2)
			f.ok(err)
		}
		f.clock.Advance(time.Minute)
	}
	f.commitAll(branch.ID)
	f.clock.Advance(time.Minute)
	_, err := f.EditPin(f.ctx, branch.ID, pin.ID, "an edited fact", 3)
	f.ok(err)
	f.say(branch.ID, "question 4", "answer 4")
	duplicate, err := f.Duplicate(f.ctx, branch.ID, "copy")
	f.ok(err)
	copies, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: duplicate.Session.ActiveBranch})
	f.ok(err)
	for i, turn := range turns {
		if !copies[i].CreatedAt.Equal(turn.CreatedAt) {
			t.Errorf("turn #%d of the copy is of %v, its original of %v", i+1, copies[i].CreatedAt, turn.CreatedAt)
		}
		found, err := f.DeletableCopies(f.ctx, chat.DeletionTurn, string(turn.ID))
		f.ok(err)
		if len(found) != 1 || found[0].Turn != copies[i].ID {
			t.Errorf("turn #%d: the copies are %+v", i+1, found)
		}
	}
	// As in a duplicate that an earlier version made.
	f.ok(f.core.DB.Writer.Exec(`UPDATE turns SET created_at = '2020-01-01T00:00:00.000Z' WHERE session_id = ?`, duplicate.Session.ID).Error)
	found, err := f.DeletableCopies(f.ctx, chat.DeletionSession, string(session.ID))
	f.ok(err)
	if len(found) != 1 || found[0].Turns != 5 || found[0].Own != 0 {
		t.Errorf("with other times, the copies are %+v", found)
	}
}

// A deletion with named copies deletes those, and no others: of a turn its content everywhere, of a session the whole
// copies. Each has a receipt of its own; one that is not a copy is refused, and then nothing is deleted.
func TestADeletionIncludesNamedCopies(t *testing.T) {
	f := newFixture(t)
	original, branch := f.session("original")
	turn := f.full(branch.ID, "the vault opens with 4711", "noted")
	f.full(branch.ID, "and the door with 1234", "noted")
	other, beside := f.session("another one")
	f.full(beside.ID, "the vault opens with 4711", "noted at another time")
	var copied []chat.SessionID
	for _, name := range []string{"copy a", "copy b", "copy c"} {
		duplicate, err := f.Duplicate(f.ctx, branch.ID, name)
		f.ok(err)
		copied = append(copied, duplicate.Session.ID)
		f.full(duplicate.Session.ActiveBranch, "only in "+name, "noted")
	}
	where := func(text string) (out []string) {
		f.Helper()
		sessions, err := f.Sessions(f.ctx, chat.SessionQuery{})
		f.ok(err)
		for _, s := range sessions {
			if slices.Contains(f.texts(s.ActiveBranch), text) {
				out = append(out, s.Title)
			}
		}
		slices.Sort(out)
		return out
	}
	expect := func(text string, want ...string) {
		f.Helper()
		if got := where(text); !slices.Equal(got, want) {
			f.Errorf("%q is in %q, not %q", text, got, want)
		}
	}
	if _, err := f.Delete(f.ctx, chat.DeletionTurn, string(turn.ID), other.ID); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("a session that is not a copy was accepted: %v", err)
	}
	expect("the vault opens with 4711", "another one", "copy a", "copy b", "copy c", "original")

	preview, err := f.PreviewDeletion(f.ctx, chat.DeletionTurn, string(turn.ID), copied[0], copied[1])
	f.ok(err)
	if len(preview.Included) != 2 || preview.Included[1].Title != "copy b" || len(preview.Copies) != 1 || preview.Copies[0].Title != "copy c" {
		t.Errorf("included %+v, staying %+v", preview.Included, preview.Copies)
	}
	expect("the vault opens with 4711", "another one", "copy a", "copy b", "copy c", "original")
	receipt, err := f.Delete(f.ctx, chat.DeletionTurn, string(turn.ID), copied[0], copied[1], copied[0])
	f.ok(err)
	expect("the vault opens with 4711", "another one", "copy c")
	if receipt.Subject != string(turn.ID) || len(receipt.Included) != 2 || len(receipt.Copies) != 1 || len(receipt.Included[0].Copies) != 1 {
		t.Errorf("the receipt is %+v", receipt)
	}
	counted := map[string]int64{}
	for _, r := range append(receipt.Included, receipt) {
		for _, e := range r.Deleted {
			counted[e.Store] += e.Count
		}
	}
	for _, e := range preview.Deleted {
		if counted[e.Store] != e.Count {
			t.Errorf("%s: the preview counts %d, the receipts %d", e.Store, e.Count, counted[e.Store])
		}
	}
	f.verifyClean()

	preview, err = f.PreviewDeletion(f.ctx, chat.DeletionSession, string(original.ID), copied[0], copied[0])
	f.ok(err)
	if len(preview.Included) != 1 {
		t.Errorf("a copy that is named twice is included as %+v", preview.Included)
	}
	preview, err = f.PreviewDeletion(f.ctx, chat.DeletionSession, string(original.ID))
	f.ok(err)
	if len(preview.Copies) != 3 || preview.Copies[0].Turns != 2 || preview.Copies[0].Own != 1 || preview.Copies[2].Turns != 3 || preview.Copies[2].Own != 2 {
		t.Errorf("the copies are %+v", preview.Copies)
	}
	receipt, err = f.Delete(f.ctx, chat.DeletionSession, string(original.ID), copied[0], copied[2], copied[0])
	f.ok(err)
	expect("and the door with 1234", "copy b")
	expect("only in copy a")
	expect("only in copy b", "copy b")
	if len(receipt.Included) != 2 || receipt.Included[0].Subject != string(copied[0]) || len(receipt.Copies) != 1 || receipt.Copies[0].Session != copied[1] {
		t.Errorf("the receipt is %+v", receipt)
	}
	receipts, err := f.Receipts(f.ctx)
	f.ok(err)
	if len(receipts) != 6 {
		t.Errorf("%d receipts", len(receipts))
	}
	f.verifyClean()
}
