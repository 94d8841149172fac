package store

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/deletion"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// sessionWithPassword returns a session with a password in one turn, and with everything that was derived from that
// turn since.
func (f *fixture) sessionWithPassword() (chat.Branch, chat.Turn, []chat.Turn) {
	f.Helper()
	s, b := f.session("my " + canary)
	first := f.committed(b.ID, "hello there", "good morning")
	f.index(first.ID)
	failed := f.failed(b.ID, "use "+canary+" to log in", chat.OutcomeFailed)
	f.clock.Advance(time.Millisecond)
	again, err := f.Accept(f.ctx, chat.Acceptance{
		BranchID: b.ID, User: chat.UserText("use " + canary + " to log in"),
		Provider: "recall", Model: "recall", RetryOf: failed.ID,
	})
	f.ok(err)
	leak := f.finalize(again, "logged in with "+canary+" at once "+longText()[:900])
	branch, err := f.Branch(f.ctx, b.ID)
	f.ok(err)
	_, err = f.Commit(f.ctx, chat.Commit{
		BranchID: b.ID, Epoch: branch.Epoch, Turns: []chat.TurnID{leak.ID}, TokenCount: 9,
		Origin: chat.StateFallback, Summary: "## Facts\n- the weather is fine\n- the password is " + canary + "\n" + longText()[:1200], Validation: []byte(`{"of":"` + canary + `"}`),
	})
	f.ok(err)
	f.index(leak.ID)
	var later []chat.Turn
	for i := range 3 {
		turn := f.accept(b.ID, fmt.Sprint("later ", i))
		source := "turn"
		if i == 2 {
			source = "pin" // of another pin, so nothing of the turn was in the context
		}
		id := map[string]string{"turn": string(leak.ID), "pin": "none"}[source]
		manifest := fmt.Sprintf(`{"sections":[{"name":"originals","items":[{"source":%q,"id":%q,"tokens":3,"bytes":9,"sha256":"%s"}]}],"inputs":{"head_state":"x"}}`,
			source, id, strings.Repeat("ab", 32))
		f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: turn.ID, Manifest: []byte(manifest), Tokens: 12}))
		word := "x"
		if i < 2 {
			word = canary
		}
		step, err := f.BeginStep(f.ctx, chat.StepStart{
			TurnID: turn.ID, Provider: "recall", ModelID: "recall",
			Request: []byte(`{"say":"` + word + longText()[:2000] + fmt.Sprint(i) + `"}`),
		})
		f.ok(err)
		done, err := f.Finalize(f.ctx, chat.Finalization{
			TurnID: turn.ID, Step: f.ended(step, chat.StepCompleted, fmt.Sprint("reply ", i)),
			Message: chat.AssistantText(fmt.Sprint("reply ", i)), Outcome: chat.OutcomeCompleted,
		})
		f.ok(err)
		later = append(later, done)
	}
	f.commitAll(b.ID)
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: chat.UserText("use " + canary + " to log in, please")}))
	_, err = f.Enqueue(f.ctx, b.ID, chat.UserText("then use "+canary+" to log in, please"), 0, false)
	f.ok(err)
	n := summaryOf(b.ID, 1, 4)
	n.Content += "\n- logs in with " + canary
	_, err = f.AddSummary(f.ctx, n)
	f.ok(err)
	n = summaryOf(b.ID, 1, 3) // only the validation mentions the password
	n.Validation = []byte(`{"missing":["logs in with ` + canary + `"]}`)
	_, err = f.AddSummary(f.ctx, n)
	f.ok(err)
	f.ok(os.MkdirAll(filepath.Join(f.dir, sqlite.StreamDir), 0o700))
	steps, err := f.Steps(f.ctx, leak.ID)
	f.ok(err)
	f.ok(os.WriteFile(filepath.Join(f.dir, filepath.FromSlash(steps[0].StreamPath)), []byte(canary), 0o600))
	f.fill(embedder, 100)
	f.ok(f.PutSetting(f.ctx, "task.1", `{"title":"Export my `+canary+`.md","session":"`+string(s.ID)+`"}`))

	_, ob := f.session("other")
	ids, err := sqlite.All[chat.ChunkID](f.core.DB.Reader, `SELECT id FROM chunks WHERE session_id = ? AND source_turn = ? ORDER BY n`, s.ID, leak.ID)
	f.ok(err)
	texts, err := f.ChunkTexts(f.ctx, ids)
	f.ok(err)
	for _, id := range ids {
		f.ok(f.PutChunkSummary(f.ctx, chat.ChunkSummary{Chunk: id, Text: "It names " + canary + ".", GeneratedBy: "m"}))
	}
	turn := f.accept(ob.ID, "what did we use?")
	_, _, step := f.remember(turn, "", texts...)
	_, err = f.FailTurn(f.ctx, chat.TurnFailure{TurnID: turn.ID, Step: f.ended(step, chat.StepFailed, ""), Outcome: chat.OutcomeFailed})
	f.ok(err)
	f.verifyClean()
	return b, leak, later
}

// TestADeletedTurnStaysAsAShell: neither its text nor anything derived from it is left; the turn itself stays, and the
// ledger replays.
func TestADeletedTurnStaysAsAShell(t *testing.T) {
	f := newFixture(t)
	b, leak, later := f.sessionWithPassword()
	if len(f.traces(canary)) < 15 {
		t.Fatalf("the canary is in too few places: %q", f.traces(canary))
	}
	kept, err := f.StepPayload(f.ctx, f.stepsOf(later[2].ID)[0].ID)
	f.ok(err)
	before, err := f.Branch(f.ctx, b.ID)
	f.ok(err)
	preview, err := f.PreviewDeletion(f.ctx, chat.DeletionTurn, string(leak.ID))
	f.ok(err)
	receipt, err := f.Delete(f.ctx, chat.DeletionTurn, string(leak.ID))
	f.ok(err)
	if !slices.Equal(receipt.Deleted, preview.Deleted) || preview.Seq != leak.Seq || !slices.Equal(preview.Sessions, []string{"other"}) {
		t.Errorf("the preview said %+v, the receipt %v", preview, receipt.Deleted)
	}
	f.expectNoTrace(canary)
	f.verifyClean()
	turn, err := f.Turn(f.ctx, leak.ID)
	f.ok(err)
	if turn.User.RenderedText() != deletion.DeletedMark || turn.Assistant.RenderedText() != deletion.DeletedMark || turn.Phase != leak.Phase && turn.Seq != leak.Seq {
		t.Errorf("the shell is %+v", turn)
	}
	failed := turn.RetryOf
	deleted, err := f.DeletedTurns(f.ctx, turn.SessionID, []chat.TurnID{failed, leak.ID, later[0].ID})
	f.ok(err)
	if len(deleted) != 2 || !deleted[leak.ID].Equal(receipt.At) || !deleted[failed].Equal(receipt.At) {
		t.Errorf("deleted: %v, the receipt is of %v", deleted, receipt.At)
	}
	after, err := f.Branch(f.ctx, b.ID)
	f.ok(err)
	if after.Epoch != before.Epoch+1 {
		t.Errorf("the branch's epoch went from %d to %d", before.Epoch, after.Epoch)
	}
	states, err := f.States(f.ctx, b.ID)
	f.ok(err)
	if !slices.ContainsFunc(states, func(st chat.State) bool { return strings.Contains(st.Summary, "the weather is fine\n- [erased]") }) {
		t.Error("the rest of the summary is gone too")
	}
	now, err := f.StepPayload(f.ctx, f.stepsOf(later[2].ID)[0].ID)
	f.ok(err)
	if string(now.Request) != string(kept.Request) {
		t.Error("a request without any of it changed")
	}
	f.expectReplayable(turn.SessionID)
	f.reopen()
	f.verifyClean()
	f.expectNoTrace(canary)
	f.ok(f.core.DB.Writer.Exec(`UPDATE events SET payload = NULL WHERE type = 'turn_finalized' AND entity_id = ?`, later[0].ID).Error)
	f.expectFindingIn("events")
}

func (f *fixture) stepsOf(id chat.TurnID) []chat.Step {
	f.Helper()
	steps, err := f.Steps(f.ctx, id)
	f.ok(err)
	return steps
}

// TestEditsOfADeletedTurnAreDeleted: an edit of it, saved in a branch's draft, goes with its document, and everything
// else that is in a draft stays.
func TestEditsOfADeletedTurnAreDeleted(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("s")
	first := f.say(b.ID, "hello there", "good morning")
	file := f.file(s.ID, canary+".txt", "the file says "+canary)
	message := naming(file)
	leak, err := f.Accept(f.ctx, chat.Acceptance{BranchID: b.ID, User: message, Provider: "recall", Model: "recall"})
	f.ok(err)
	leak = f.finalize(leak, "it says "+canary+"\n```python\n|---|---|\n```")
	f.commitAll(b.ID)
	text := func(s string) chat.Blocks { return chat.Blocks{chat.Text{Text: s}} }
	draft := func(before chat.Blocks, edited ...chat.Block) chat.Blocks { return slices.Concat(before, edited) }
	editOf := func(turn chat.Turn) chat.Block { return chat.Edit{Turn: turn.ID, Seq: turn.Seq} }
	mine := text("an unrelated long thought")
	other := draft(nil, editOf(first), chat.Text{Text: "hello to you"})
	copied := text("It answered: it says " + canary + "!")
	markup := text("```python\nan unrelated program\n```\n|---|---|")
	cases := []struct{ saved, want chat.Blocks }{
		{draft(mine, editOf(leak), message.Blocks[0], chat.Text{Text: "all of " + canary + ", please"}), mine},
		{draft(nil, editOf(leak), message.Blocks[0], chat.Text{Text: "reworded " + canary}), nil},
		{draft(mine, draft(nil, editOf(first), copied[0])...), mine},
		{draft(copied, other...), other},
		{draft(mine, other...), draft(mine, other...)},
		{copied, nil},
		{mine, mine},
		{markup, markup},
	}
	var branches []chat.BranchID
	for i, c := range cases {
		id := b.ID
		if i > 0 {
			id = f.fork(b.ID, leak.ID).ID
		}
		f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: id, Message: chat.Message{Role: chat.RoleUser, Blocks: c.saved}}))
		branches = append(branches, id)
	}
	receipt, err := f.Delete(f.ctx, chat.DeletionTurn, string(leak.ID))
	f.ok(err)
	for i, c := range cases {
		d, _, err := f.Draft(f.ctx, branches[i])
		f.ok(err)
		if !reflect.DeepEqual(slices.Clone(d.Message.Blocks), slices.Clone(c.want)) {
			t.Errorf("of %v is left %v, want %v", c.saved, d.Message.Blocks, c.want)
		}
	}
	for _, want := range []chat.DeletedCount{{Store: "drafts", Count: 5}, {Store: "files", Count: 1}} {
		if !slices.Contains(receipt.Deleted, want) {
			t.Errorf("the receipt lists %v, without %v", receipt.Deleted, want)
		}
	}
	f.expectNoTrace(canary)
	f.verifyClean()
}

// TestARunningAnswerIsNotDeleted: it would be written again when the answer ends.
func TestARunningAnswerIsNotDeleted(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("s")
	done := f.full(b.ID, "done", "and dusted")
	turn := f.accept(b.ID, "running")
	f.respond(turn)
	for kind, id := range map[string]string{chat.DeletionSession: string(s.ID), chat.DeletionTurn: string(done.ID)} {
		p, err := f.PreviewDeletion(f.ctx, kind, id)
		f.ok(err)
		if p.Reason == "" {
			t.Errorf("the preview of a %s promises deletion during a running answer", kind)
		}
		_, err = f.Delete(f.ctx, kind, id)
		f.refused(err, chat.CodeConflict)
	}
	for kind, code := range map[string]chat.Code{"branch": chat.CodeInvalid, chat.DeletionSession: chat.CodeNotFound, chat.DeletionTurn: chat.CodeNotFound} {
		_, err := f.Delete(f.ctx, kind, "nobody")
		f.refused(err, code)
	}
	f.verifyClean()
	f.reopen() // after a crash nothing runs, so it can be deleted
	_, err := f.Delete(f.ctx, chat.DeletionSession, string(s.ID))
	f.ok(err)
	f.verifyClean()
}

// TestAWorkerCannotWriteBackDeletedContent: a worker that read the content before the deletion cannot store its
// result, neither with its job nor with the head that it read.
func TestAWorkerCannotWriteBackDeletedContent(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "1", "one")
	turn := f.say(b.ID, "a secret", "told")
	job, found, err := f.ClaimJob(f.ctx, time.Minute, chat.JobSummarizeTurn)
	f.ok(err)
	if !found {
		t.Fatal("no job to claim")
	}
	branch, err := f.Branch(f.ctx, b.ID)
	f.ok(err)
	_, err = f.Delete(f.ctx, chat.DeletionTurn, string(turn.ID))
	f.ok(err)
	c := chat.Commit{BranchID: b.ID, Epoch: branch.Epoch, Turns: []chat.TurnID{turn.ID}, Summary: "a secret", Origin: chat.StateLibrarian}
	_, err = f.Commit(f.ctx, c)
	f.refused(err, chat.CodeConflict)
	c.Epoch++
	c.Job = job.Lease()
	if _, err = f.Commit(f.ctx, c); err == nil {
		t.Error("a worker without its lease committed")
	}
	c.Job = chat.Lease{}
	c.Summary = deletion.DeletedMark
	_, err = f.Commit(f.ctx, c)
	f.ok(err)
	f.verifyClean()
}

// TestAnInterruptedDeletionIsCompletedAtStart: the work that follows the transaction is done at the next start if it was
// interrupted, and only once.
func TestAnInterruptedDeletionIsCompletedAtStart(t *testing.T) {
	for _, vacuum := range []int64{deletion.VacuumInMemory, 0} {
		f := newFixture(t)
		old := deletion.VacuumInMemory
		deletion.VacuumInMemory = vacuum
		t.Cleanup(func() { deletion.VacuumInMemory = old })
		d := f.secretSession()
		f.ok(f.core.Write(f.ctx, deletion.OpDelete, func(tx *core.Tx) error { // everything but the steps after the transaction
			e, err := deletion.NewOperation(f.deletionPart, tx, chat.DeletionSession, string(d.session.ID), "")
			f.ok(err)
			f.ok(e.CarryOut())
			_, err = e.PutReceipt(nil)
			return err
		}))
		if !slices.ContainsFunc(f.traces(canary), func(s string) bool { return strings.HasPrefix(s, "file ") }) {
			t.Fatal("nothing is left to do")
		}
		f.reopen()
		f.expectNoTrace(canary)
		f.verifyClean()
		rows, err := sqlite.All[schema.ReceiptRow](f.core.DB.Reader, `SELECT * FROM receipts`)
		f.ok(err)
		if _, pending, err := rows[0].Pending(); pending || err != nil {
			t.Errorf("the receipt still lists work: %v", err)
		}
	}
}

// TestAnythingCanBeDeleted: any session and any turn of a random history can be deleted, and the rest stays valid.
func TestAnythingCanBeDeleted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(t)
		defer func() { f.ok(f.Store.Close()) }()
		seed(f)
		f.reopen() // turns that were running count as left by a crash
		for range rapid.IntRange(1, 4).Draw(rt, "times") {
			kind, table := chat.DeletionTurn, "turns"
			if rapid.IntRange(0, 3).Draw(rt, "whole") == 0 {
				kind, table = chat.DeletionSession, "sessions"
			}
			ids, err := sqlite.All[string](f.core.DB.Reader, `SELECT id FROM `+table+` ORDER BY id`)
			f.ok(err)
			if len(ids) == 0 {
				return
			}
			id := rapid.SampledFrom(ids).Draw(rt, "id")
			_, err = f.Delete(f.ctx, kind, id)
			f.ok(err)
			found, err := f.Verify(f.ctx)
			f.ok(err)
			if len(found) > 0 {
				rt.Fatalf("after %s %s: %+v", kind, id, found)
			}
			f.tracesInTables("a text that does not occur") // fails if anything cannot be read
		}
		if f.Failed() {
			rt.FailNow()
		}
	})
}

// TestWordSetFindsRepeatedText: text that shares significant words with deleted text is found and replaced.
func TestWordSetFindsRepeatedText(t *testing.T) {
	w := deletion.WordSet{}
	w.JSON(`{"role":"user","blocks":[{"type":"text","text":"My passcode is p@9! 我爱数据库 and Hunter2, please remember"}]}`)
	for text, want := range map[string]bool{
		"the passcode": true, "HUNTER2": true, "it is p@9!": true, "关于数据库": true, "remember the user": false,
		"text and user": false, "my of is": false, "数 据": false, "": false,
	} {
		if w.In(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
	for before, want := range map[string]string{
		"## Facts\n- one\n- hunter2\n- passcode\n- two\n": "## Facts\n- one\n- [erased]\n- two\n",
		"hunter2": "- [erased]\n", "- one": "- one", "## hunter2\n- one": "- [erased]\n- one",
	} {
		if got := w.Without(before); got != want {
			t.Errorf("%q becomes %q, want %q", before, got, want)
		}
	}
}

// TestNamesThatRevealNothingStay: a name is deleted if it shares a word with the deleted turn that no other turn has.
// The beginning of an automatic name is not such a word.
func TestNamesThatRevealNothingStay(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("Garden project")
	leak := f.full(b.ID, "The garden needs a rollback plan, the password is swordfish", "noted "+canary)
	last := f.full(b.ID, "How large is the garden?", "ten by ten")
	names := map[string]bool{ // whether each stays
		"my garden ideas":               true,
		"rollback to #2: how large":     true,
		"from #1: the password":         false,
		"about Swordfish in the garden": false,
		"a rollback":                    false,
		"nothing in common with it":     true,
	}
	branches := map[string]chat.BranchID{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		child := f.fork(b.ID, last.ID)
		f.ok(f.RenameBranch(f.ctx, child.ID, name))
		branches[name] = child.ID
	}
	_, err := f.Delete(f.ctx, chat.DeletionTurn, string(leak.ID))
	f.ok(err)
	for name, stays := range names {
		got, err := f.Branch(f.ctx, branches[name])
		f.ok(err)
		want := chat.DeletedMark
		if stays {
			want = name
		}
		if got.Label != want {
			t.Errorf("%q becomes %q, want %q", name, got.Label, want)
		}
	}
	if got, err := f.Session(f.ctx, s.ID); err != nil || got.Title != "Garden project" {
		t.Errorf("the title becomes %q (%v)", got.Title, err)
	}
	f.expectNoTrace("swordfish")
	f.verifyClean()
}
