package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/deletion"
	"contextinfinity/backend/store/imports"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/transfer"
)

// byRule summarizes with a fixed text; these tests are about what the store does with the result.
var byRule = chat.ImportRules{
	Summarize: func(previous string, pins []chat.Pin, turns []chat.Turn) chat.State {
		n := strings.Count(previous, "- ") + len(turns)
		return chat.State{Summary: "## Facts\n" + strings.Repeat("- said\n", min(n, 100)), TokenCount: n}
	},
	Excerpt: func(text string) (string, int) { return text[:min(len(text), 40)], len(text) / 4 },
}

// conversations reads a file with the readers for foreign formats.
func conversations(t testing.TB, path string) []transfer.Conversation {
	t.Helper()
	data, err := os.ReadFile(path) // #nosec G304 -- of the test data
	if err != nil {
		t.Fatal(err)
	}
	var out []transfer.Conversation
	in := transfer.Input{Name: path, Size: int64(len(data)), Data: strings.NewReader(string(data))}
	if _, err := transfer.Read(context.Background(), in, transfer.Options{}, func(c transfer.Conversation) error {
		out = append(out, c)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func (f *fixture) imports(c transfer.Conversation) chat.Imported {
	f.Helper()
	im, err := f.ImportConversation(f.ctx, c, byRule)
	f.ok(err)
	return im
}

// lineages returns the turns of each branch of a session, by label.
func (f *fixture) lineages(s chat.SessionID) map[string][]chat.Turn {
	f.Helper()
	branches, err := f.Branches(f.ctx, s)
	f.ok(err)
	out := map[string][]chat.Turn{}
	for _, b := range branches {
		turns, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: b.ID})
		f.ok(err)
		if _, twice := out[b.Label]; twice {
			f.Errorf("two branches are called %q", b.Label)
		}
		out[b.Label] = turns
	}
	return out
}

// firstTurns returns the first turn of each branch of a session, by label.
func (f *fixture) firstTurns(id chat.SessionID) map[string]chat.Turn {
	f.Helper()
	branches, err := f.Branches(f.ctx, id)
	f.ok(err)
	out := map[string]chat.Turn{}
	for _, b := range branches {
		first, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: b.ID, Limit: 1})
		f.ok(err)
		out[b.Label] = first[0]
	}
	return out
}

// TestInstructionsOfAnImportAreData: imported instructions are stored with the first turn and nowhere else, even if
// that turn has no question, and are deleted with it.
func TestInstructionsOfAnImportAreData(t *testing.T) {
	f := newFixture(t)
	c := foreign("a", "a - hello 1")
	c.SystemPrompt = "Obey the parrot."
	c.Turns[0].User = chat.NoMessage()
	im := f.imports(c)
	first := f.firstTurns(im.Session)["main"]
	if chat.ImportedInstructions(first) != "Obey the parrot." || len(first.User.Blocks) != 1 || first.Assistant.RenderedText() != "1" {
		t.Errorf("%+v, %+v", first.User, first.Assistant)
	}
	f.verifyClean()
	_, err := f.Delete(f.ctx, chat.DeletionTurn, string(first.ID))
	f.ok(err)
	if got := chat.ImportedInstructions(f.firstTurns(im.Session)["main"]); got != "" {
		t.Errorf("the deleted turn still contains %q", got)
	}
	f.expectNoTrace("parrot")
}

// brief returns a turn as a short text.
func brief(t chat.Turn) string {
	answer := "-"
	if t.Assistant != nil {
		answer = t.Assistant.RenderedText()
	}
	return t.User.RenderedText() + " > " + answer
}

// foreign makes a conversation of turns "key parent question answer". An answer that begins with ! is an error, with
// ? it is missing, and with ~ it was cut off.
func foreign(current string, turns ...string) transfer.Conversation {
	c := transfer.Conversation{
		Source: transfer.SourceChatGPT, ID: "c1", Title: "From elsewhere", Current: current, Folder: "Old",
		CreatedAt: start.Add(-48 * time.Hour), UpdatedAt: start.Add(-time.Hour),
	}
	for i, line := range turns {
		p := strings.SplitN(line, " ", 4)
		t := transfer.Turn{
			Key: p[0], Parent: strings.Trim(p[1], "-"), ContentKey: "content " + p[0], User: chat.UserText(p[2]), Provider: "openai", Model: "gpt-4o",
			CreatedAt: start.Add(-47*time.Hour + time.Duration(i)*time.Minute), AnsweredAt: start.Add(-47*time.Hour + time.Duration(i)*time.Minute + 5*time.Second),
		}
		words := strings.TrimLeft(p[3], "!?~")
		t.Failed, t.Incomplete = p[3][0] == '!', p[3][0] == '~'
		if p[3][0] != '?' {
			m := chat.AssistantText(words)
			t.Assistant = &m
		}
		c.Turns = append(c.Turns, t)
	}
	c.Key = chat.HashText(current + "|" + strings.Join(turns, "|"))
	return c
}

// TestImportOfEveryReader: what the readers make of all their test data is imported, passes verify, and is recognized
// when it is imported again.
func TestImportOfEveryReader(t *testing.T) {
	paths, err := filepath.Glob("../transfer/testdata/*/*.json*")
	paths = slices.DeleteFunc(paths, func(p string) bool { return strings.Contains(p, "golden") })
	if err != nil || len(paths) < 25 {
		t.Fatalf("%d files to import: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f := newFixture(t)
			all := conversations(t, path)
			for _, c := range all {
				im := f.imports(c)
				if im.Outcome != chat.ImportCreated || im.Turns != len(c.Turns) {
					t.Errorf("%+v of %d turns", im, len(c.Turns))
				}
				f.expectConversation(im.Session, c)
				if again := f.imports(c); again != (chat.Imported{Session: im.Session, Outcome: chat.ImportAlready}) {
					t.Errorf("again: %+v", again)
				}
			}
			if len(all) == 0 {
				t.Error("nothing was there to import")
			}
			f.verifyClean()
		})
	}
}

// expectConversation compares a session with its conversation: for each turn, the path of messages that leads to it.
func (f *fixture) expectConversation(s chat.SessionID, c transfer.Conversation) {
	f.Helper()
	have := map[string]bool{}
	pathOf := func(turns []chat.Turn) string {
		var b strings.Builder
		for _, t := range turns {
			user, err := t.User.Blocks.MarshalJSON()
			f.ok(err)
			fmt.Fprintf(&b, "%s / %v\n", f.without(user), t.Phase.Finalized())
		}
		return b.String()
	}
	for _, turns := range f.lineages(s) {
		for n := range turns {
			have[pathOf(turns[:n+1])] = true
		}
	}
	pathByKey := map[string]string{}
	for _, t := range c.Turns {
		user, err := t.User.Blocks.MarshalJSON()
		f.ok(err)
		pathByKey[t.Key] = pathByKey[t.Parent] + fmt.Sprintf("%s / %v\n", f.without(user), imports.Ended(&t))
		if !have[pathByKey[t.Key]] {
			f.Errorf("turn %s is not in a session of %d branches:\n%s", t.Key, len(f.lineages(s)), pathByKey[t.Key])
		}
	}
	session, err := f.Session(f.ctx, s)
	f.ok(err)
	active, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: session.ActiveBranch})
	f.ok(err)
	if pathOf(active) != pathByKey[c.Current] {
		f.Errorf("the active branch is not where %s was left:\n%s\nwant\n%s", c.ID, pathOf(active), pathByKey[c.Current])
	}
	if session.Title != schema.Clean(c.Title) || session.Source != string(c.Source) || session.Pinned != c.Pinned || (session.ArchivedAt != nil) != c.Archived {
		f.Errorf("session %+v of %q", session, c.Title)
	}
}

// without returns a message without what the store adds to it and to its documents.
func (f *fixture) without(blocks []byte) string {
	var bs chat.Blocks
	f.ok(bs.UnmarshalJSON(blocks))
	bs = slices.DeleteFunc(bs, func(b chat.Block) bool { _, ok := chat.InstructionsIn(b); return ok })
	for i, b := range bs {
		if d, ok := b.(chat.Document); ok {
			bs[i] = chat.Document{Name: d.Name, MediaType: d.MediaType}
		}
	}
	out, err := bs.MarshalJSON()
	f.ok(err)
	return string(out)
}

// An imported conversation that ends with a question is not listed as one that failed.
func TestAnImportedQuestionIsNoFailure(t *testing.T) {
	f := newFixture(t)
	im := f.imports(foreign("1", "1 - Which? ?"))
	list, err := f.Sessions(f.ctx, chat.SessionQuery{})
	f.ok(err)
	for _, s := range list {
		if s.ID == im.Session && (!s.Unanswered || s.LastPhase != chat.PhaseFailed) {
			t.Errorf("%+v", s)
		}
	}
	turns := f.lineages(im.Session)
	for _, line := range turns {
		if len(line) != 1 || !line[0].Failure.Unanswered() {
			t.Errorf("%+v", line)
		}
	}
	if len(list) != 1 || len(turns) != 1 {
		t.Errorf("%d sessions, %d branches", len(list), len(turns))
	}
	_, branch := f.session("failed here")
	f.failed(branch.ID, "hello", chat.OutcomeFailed)
	list, err = f.Sessions(f.ctx, chat.SessionQuery{})
	f.ok(err)
	for _, s := range list {
		if s.ID != im.Session && s.Unanswered {
			t.Errorf("what failed here: %+v", s)
		}
	}
}

// TestImportCreatesBranches: a tree of turns becomes branches with descriptive names.
func TestImportCreatesBranches(t *testing.T) {
	f := newFixture(t)
	c := foreign("d2", "a - one 1", "b a two 2", "b2 a two 2-again", "c b three ~3", "d2 c four ?", "d c four !4", "e b three-else 3", "z - other 0")
	c.SystemPrompt = "Be kind."
	im := f.imports(c)
	if im.Turns != 8 || im.Branches != 4 {
		t.Errorf("%+v", im)
	}
	f.expectConversation(im.Session, c)
	got := map[string]string{}
	for label, turns := range f.lineages(im.Session) {
		for _, turn := range turns {
			got[label] += brief(turn) + " " + string(turn.Outcome) + "; "
		}
	}
	want := map[string]string{
		"main":                     "one > 1 completed; two > 2 completed; three > 3 kept; four > - failed; ",
		"Regenerated answer at #2": "one > 1 completed; two > 2-again completed; ",
		"Regenerated answer at #4": "one > 1 completed; two > 2 completed; three > 3 kept; four > - failed; ",
		"Edited at #3":             "one > 1 completed; two > 2 completed; three-else > 3 completed; ",
		"Edited at #1":             "other > 0 completed; ",
	}
	for label, words := range want {
		if got[label] != words {
			t.Errorf("%s says %q, want %q", label, got[label], words)
		}
	}
	if len(got) != len(want) {
		t.Errorf("branches %v", got)
	}
	s, err := f.Session(f.ctx, im.Session)
	f.ok(err)
	if !s.UpdatedAt.Equal(c.UpdatedAt) || !s.CreatedAt.Equal(c.CreatedAt) || s.Folder != "Old" || s.SystemPrompt != "" {
		t.Errorf("%+v", s)
	}
	for label, branch := range f.firstTurns(im.Session) {
		if got := chat.ImportedInstructions(branch); got != "Be kind." {
			t.Errorf("the first turn of %s contains the instructions %q", label, got)
		}
	}
	f.verifyClean()
	f.expectSameAfterReplay(im.Session)
	queued, err := f.Jobs(f.ctx, chat.JobQuery{Session: im.Session, State: chat.JobQueued})
	f.ok(err)
	if len(queued) != 6 || slices.ContainsFunc(queued, func(j chat.Job) bool { return j.Type != chat.JobIndexTurn }) {
		t.Errorf("due are %+v, want six turns to be indexed and no model to be asked", queued)
	}
}

// TestImportOfWhatGrew: new turns are added, and changes that were made here are kept.
func TestImportOfWhatGrew(t *testing.T) {
	f := newFixture(t)
	first := foreign("b", "a - one 1", "b a two 2")
	s := f.imports(first).Session
	f.ok(f.RenameSession(f.ctx, s, "mine"))
	grown := foreign("c", "a - one 1", "b a two 2", "c b three 3")
	grown.Title = "renamed there"
	if im := f.imports(grown); im.Outcome != chat.ImportGrown || im.Turns != 1 || im.Branches != 0 || im.Session != s {
		t.Errorf("grown: %+v", im)
	}
	session, err := f.Session(f.ctx, s)
	f.ok(err)
	if session.Title != "mine" {
		t.Errorf("its title is %q", session.Title)
	}
	f.full(session.ActiveBranch, "said here", "and answered")
	both := foreign("e", "a - one 1", "b a two 2", "c b three 3", "d c four 4", "e d five 5")
	if im := f.imports(both); im.Outcome != chat.ImportGrown || im.Turns != 2 || im.Branches != 1 {
		t.Errorf("grown beside: %+v", im)
	}
	lines := f.lineages(s)
	if n := len(lines["main"]); n != 4 || brief(lines["main"][3]) != "said here > and answered" {
		t.Errorf("main has %d turns", n)
	}
	beside := lines["Continued in ChatGPT at #4"]
	if len(beside) != 5 || brief(beside[4]) != "five > 5" {
		t.Errorf("branches %v", lines)
	}
	if now, err := f.Session(f.ctx, s); err != nil || now.ActiveBranch != session.ActiveBranch {
		t.Errorf("the active branch moved away from where it was continued: %v", err)
	}
	for _, c := range []transfer.Conversation{first, grown, both} {
		if im := f.imports(c); im.Outcome != chat.ImportAlready || im.Turns != 0 {
			t.Errorf("again: %+v", im)
		}
	}
	f.verifyClean()
}

// TestImportFollowsTheSource: if nothing was added here, the active branch follows the source.
func TestImportFollowsTheSource(t *testing.T) {
	f := newFixture(t)
	s := f.imports(foreign("b", "a - one 1", "b a two ?")).Session
	grown := foreign("b2", "a - one 1", "b2 a two 2")
	if im := f.imports(grown); im.Turns != 1 || im.Branches != 1 {
		t.Errorf("%+v", im)
	}
	session, err := f.Session(f.ctx, s)
	f.ok(err)
	turns, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: session.ActiveBranch})
	f.ok(err)
	if len(turns) != 2 || brief(turns[1]) != "two > 2" {
		t.Errorf("active is %v", turns)
	}
	f.verifyClean()
}

// TestAnInterruptedImportIsResumed: if an import stops after any of its parts, the next import completes it without
// duplicates.
func TestAnInterruptedImportIsResumed(t *testing.T) {
	var lines []string
	lines = append(lines, "t0 - q0 a0")
	for i := 1; i < 3*imports.ImportTurns+10; i++ {
		lines = append(lines, fmt.Sprintf("t%d t%d q%d a%d", i, i-1, i, i))
		if i%imports.ImportTurns == 7 {
			lines = append(lines, fmt.Sprintf("r%d t%d q%d other", i, i-1, i))
		}
	}
	c := foreign(fmt.Sprintf("t%d", 3*imports.ImportTurns+9), lines...)
	for parts := 1; parts <= 4; parts++ {
		f := newFixture(t)
		m := imports.Importer{Store: f.importsPart, Ctx: f.ctx, Conversation: &c, Rules: byRule, Now: f.clock.Now()}
		f.ok(m.Load())
		f.ok(m.Sort())
		for range parts { // the process ends after this many parts
			part, err := m.Plan()
			f.ok(err)
			f.ok(m.Write(part))
		}
		f.reopen()
		im := f.imports(c)
		want := chat.ImportCreated
		if parts == 4 {
			want = chat.ImportAlready
		}
		if im.Outcome != want || m.Turns+im.Turns != len(c.Turns) || m.Branches+im.Branches != 4 {
			t.Errorf("after %d parts: %+v, %d turns before", parts, im, m.Turns)
		}
		f.expectConversation(im.Session, c)
		if got := f.lineages(im.Session); len(got) != 5 {
			t.Errorf("after %d parts: %d branches", parts, len(got))
		}
		f.verifyClean()
	}
}

// TestImportWhileTheSessionIsUsed: a turn that is added to the session during an import is kept, and the import
// continues on another branch.
func TestImportWhileTheSessionIsUsed(t *testing.T) {
	f := newFixture(t)
	c := foreign("t1", "t0 - q0 a0", "t1 t0 q1 a1")
	m := imports.Importer{Store: f.importsPart, Ctx: f.ctx, Conversation: &c, Rules: byRule, Now: f.clock.Now()}
	f.imports(foreign("t0", "t0 - q0 a0"))
	f.ok(m.Load())
	f.ok(m.Sort())
	part, err := m.Plan()
	f.ok(err)
	session, err := f.Session(f.ctx, m.Session)
	f.ok(err)
	f.say(session.ActiveBranch, "here first", "yes")
	f.refused(m.Write(part), chat.CodeConflict)
	if im := f.imports(c); im.Turns != 1 || im.Branches != 1 {
		t.Errorf("%+v", im)
	}
	f.verifyClean()
}

// TestImportKeepsDocuments: a document becomes a file of the session, bound to its turn and stored once.
func TestImportKeepsDocuments(t *testing.T) {
	f := newFixture(t)
	c := foreign("b", "a - one 1", "b a two 2")
	words := strings.Repeat("The plan is to sail at dawn. ", 20)
	for i := range c.Turns {
		c.Turns[i].User.Blocks = append(c.Turns[i].User.Blocks, chat.Document{Name: "plan.md", MediaType: "text/markdown", Text: words, Complete: true},
			chat.Document{Name: "empty.md", Text: " "})
	}
	im := f.imports(c)
	files := f.files(im.Session)
	if len(files) != 1 || files[0].Name != "plan.md" || files[0].TurnID == "" || files[0].Size != int64(len(words)) || files[0].Hash != chat.HashText(words) {
		t.Fatalf("%+v", files)
	}
	turns := f.lineages(im.Session)["main"]
	d := turns[0].User.Blocks.Documents()
	if len(d) != 1 || d[0].File != files[0].ID || d[0].Complete || d[0].Text != words[:40] {
		t.Errorf("%+v", d)
	}
	turnFiles, err := f.TurnFiles(f.ctx, turns[0].ID)
	f.ok(err)
	if len(turnFiles) != 1 || turnFiles[0].Text != words {
		t.Errorf("%d documents are indexed with the turn", len(turnFiles))
	}
	f.clock.Advance(48 * time.Hour)
	if n, err := f.SweepFiles(f.ctx); n != 0 || err != nil {
		t.Errorf("%d documents were swept: %v", n, err)
	}
	f.verifyClean()
}

// TestAnImportedSessionCanBeExported: importing its bundle elsewhere makes the same session.
func TestAnImportedSessionCanBeExported(t *testing.T) {
	f := newFixture(t)
	c := foreign("d2", "a - one 1", "b a two 2", "b2 a two 2-again", "c b three ~3", "d2 c four ?", "d c four !4")
	im := f.imports(c)
	var bundle bytes.Buffer
	_, err := f.WriteBundle(f.ctx, im.Session, &bundle, true)
	f.ok(err)
	other := newFixture(t)
	made, _, err := other.ImportBundle(other.ctx, bytes.NewReader(bundle.Bytes()), int64(bundle.Len()), "x.cinf")
	other.ok(err)
	if made.Session != im.Session || made.Turns != im.Turns {
		t.Errorf("%+v of %+v", made, im)
	}
	other.expectConversation(im.Session, c)
	a, err := f.Session(f.ctx, im.Session)
	f.ok(err)
	if b, err := other.Session(other.ctx, im.Session); err != nil || a != b {
		t.Errorf("%+v, want %+v: %v", b, a, err)
	}
	other.verifyClean()
}

// TestImportOfManyBranches: each of many answers gets a branch with a name of its own. A tree with too many nested
// forks is refused before anything is written.
func TestImportOfManyBranches(t *testing.T) {
	f := newFixture(t)
	lines := []string{"a - one 1"}
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("b%d a two %d", i, i))
	}
	im := f.imports(foreign("b0", lines...))
	got := f.lineages(im.Session)
	if len(got) != 30 || got["Regenerated answer at #2"] == nil || got["Regenerated answer at #2 (29)"] == nil {
		t.Errorf("%d branches", len(got))
	}
	more := append(slices.Clone(lines), "b30 a two 30", "c a else 1")
	f.imports(foreign("b0", more...))
	if got := f.lineages(im.Session); len(got) != 32 || got["Regenerated answer at #2 (30)"] == nil || got["Edited at #2"] == nil {
		t.Errorf("grown: %d branches", len(got))
	}
	f.verifyClean()
	deep, before := []string{"k0 - q a"}, "k0"
	for i := range imports.MaxForks + 2 {
		deep = append(deep, fmt.Sprintf("s%d %s q a", i, before), fmt.Sprintf("d%d %s q a", i, before))
		before = fmt.Sprintf("d%d", i)
	}
	c := foreign("k0", deep...)
	c.ID = "deep"
	_, err := f.ImportConversation(f.ctx, c, byRule)
	f.refused(err, chat.CodeInvalid)
	if list, err := f.Sessions(f.ctx, chat.SessionQuery{}); err != nil || len(list) != 1 {
		t.Errorf("%d sessions: %v", len(list), err)
	}
}

// TestARegeneratedAnswerNamesTheTurnItRepeats, as one that was made here does, even if it is imported later. So
// deleting a question permanently also removes it from the other answers to it.
func TestARegeneratedAnswerNamesTheTurnItRepeats(t *testing.T) {
	f := newFixture(t)
	s := f.imports(foreign("b2", "a - one 1", "b a "+canary+" 2", "b2 a "+canary+" 2-again", "e a else 2-else")).Session
	f.imports(foreign("b3", "a - one 1", "b a "+canary+" 2", "b2 a "+canary+" 2-again", "e a else 2-else", "b3 a "+canary+" 2-later"))
	turns := map[string]chat.Turn{}
	for _, line := range f.lineages(s) {
		for _, turn := range line {
			turns[turn.Assistant.RenderedText()] = turn
		}
	}
	first := turns["2-again"].ID // the active path is imported first
	for answer, want := range map[string]chat.TurnID{"1": "", "2-again": "", "2": first, "2-later": turns["2"].ID, "2-else": ""} {
		if turn, ok := turns[answer]; !ok || turn.RetryOf != want {
			t.Errorf("the answer %q repeats %q, want %q", answer, turn.RetryOf, want)
		}
	}
	f.verifyClean()
	f.expectReplayable(s)
	_, err := f.Delete(f.ctx, chat.DeletionTurn, string(turns["2"].ID))
	f.ok(err)
	f.expectNoTrace(canary)
	f.verifyClean()
	for _, answer := range []string{"2", "2-again", "2-later"} {
		turn, err := f.Turn(f.ctx, turns[answer].ID)
		if f.ok(err); turn.User.RenderedText() != deletion.DeletedMark {
			t.Errorf("the turn of %q asks %q", answer, turn.User.RenderedText())
		}
	}
	if turn, err := f.Turn(f.ctx, turns["2-else"].ID); err != nil || turn.User.RenderedText() != "else" {
		t.Errorf("another question says %q, %v", turn.User.RenderedText(), err)
	}
}

// A date in the future is replaced, and the import reports it.
func TestImportedFromTheFuture(t *testing.T) {
	f := newFixture(t)
	c := conversations(t, filepath.Join("..", "transfer", "testdata", "jsonl", "interleaved.jsonl"))[0]
	if im := f.imports(c); im.Notice != "" {
		t.Errorf("an unnecessary notice: %q", im.Notice)
	}
	c.ID, c.Key = "another", "another"
	c.Turns = slices.Clone(c.Turns)
	for i := range c.Turns {
		c.Turns[i].ContentKey += "x"
	}
	c.Turns[0].CreatedAt = f.clock.Now().AddDate(1, 0, 0)
	im := f.imports(c)
	if !strings.Contains(im.Notice, "in the future") {
		t.Errorf("the notice is %q", im.Notice)
	}
}
