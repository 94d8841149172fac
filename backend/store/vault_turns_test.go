package store

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/vault"
	"contextinfinity/test/testtier"
)

// turnWith returns the turn with a question.
func (d *device) turnWith(s chat.SessionID, question string) chat.TurnID {
	d.Helper()
	ids, err := core.All[chat.TurnID](d.ctx, d.core, "test", `SELECT id FROM turns WHERE session_id = ? AND instr(user_message_json, ?) > 0`, s, question)
	d.ok(err)
	if len(ids) != 1 {
		d.Fatalf("%s has %d turns with %q", d.name, len(ids), question)
	}
	return ids[0]
}

// commit adds a state that covers a turn.
func (d *device) commit(branch chat.BranchID, turn chat.TurnID, fact string) {
	d.Helper()
	b, err := d.Branch(d.ctx, branch)
	d.ok(err)
	_, err = d.Commit(d.ctx, chat.Commit{
		BranchID: branch, Epoch: b.Epoch, Turns: []chat.TurnID{turn}, Summary: "## Facts\n- " + fact + "\n- another", TokenCount: 9, Origin: chat.StateFallback,
	})
	d.ok(err)
}

// deleteTurn deletes the content of a turn permanently.
func (d *device) deleteTurn(id chat.TurnID) {
	d.Helper()
	_, err := d.Delete(d.ctx, chat.DeletionTurn, string(id))
	d.ok(err)
}

// stateWithText adds an exchange, and a state that repeats it.
func (d *device) stateWithText(r *rand.Rand, s chat.SessionID) {
	d.Helper()
	d.clock.Advance(time.Duration(1+r.Intn(1000)) * time.Millisecond)
	text, own := fmt.Sprintf("question by %s %d", d.name, r.Intn(1_000_000)), d.own(d.any(r, s), false)
	d.commitAll(own)
	d.commit(own, d.say(own, text, "an answer").ID, text)
}

// deleteAnyTurn deletes the content of a turn that has some.
func (d *device) deleteAnyTurn(r *rand.Rand, s chat.SessionID) bool {
	d.Helper()
	ids, err := core.All[chat.TurnID](d.ctx, d.core, "test", `SELECT id FROM turns WHERE session_id = ? AND instr(user_message_json, ' by ') > 0 ORDER BY id`, s)
	d.ok(err)
	if len(ids) == 0 {
		return false
	}
	d.deleteTurn(ids[r.Intn(len(ids))])
	return true
}

// onDisk returns the files of the data directory with a text.
func (d *device) onDisk(text string) (names []string) {
	d.Helper()
	plainOnly(d)
	d.ok(filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(text)) {
			names = append(names, e.Name())
		}
		return err
	}))
	return names
}

// exchangeAll exchanges everything through one folder, several times.
func exchangeAll(t *testing.T, all []*member, times int) {
	t.Helper()
	for range times {
		for _, m := range all {
			for _, other := range all {
				carry(t, other.folder, m.folder, nil)
			}
			m.sync()
		}
	}
}

// TestTheDeletionOfATurnTravels: the content of a turn that is permanently deleted on one device is deleted on the others, each with a
// receipt of its own, with what these derived from it, and is in no object of the vault, whoever wrote it and whoever deletes it.
// Until then the status says who has not answered.
func TestTheDeletionOfATurnTravels(t *testing.T) {
	for _, deleter := range []string{"its writer", "another"} {
		t.Run(deleter, func(t *testing.T) {
			all, s := members(t, 3, true)
			a, b, c := all[0], all[1], all[2]
			for _, m := range all[1:] {
				m.folder = a.folder
				code, _ := aVault()
				_, err := m.vault.Connect(m.ctx, vault.Target{Address: a.folder}, code)
				m.ok(err)
			}
			a.say(s.ActiveBranch, "canary question "+strings.Repeat("canary words ", 10_000), "canary answer")
			turn := a.turnWith(s.ID, "canary question")
			a.commit(s.ActiveBranch, turn, "canary in the state")
			a.index(turn)
			document := a.attach(s.ActiveBranch, a.file(s.ID, "canary.txt", strings.Repeat("canary document ", 10_000))).ID
			a.sync()
			b.sync()
			c.sync()
			c.ok(c.RenameSession(c.ctx, s.ID, "by C"))
			c.sync()
			own := b.own(s.ActiveBranch, true)
			b.commit(own, b.say(own, "kept question", "kept answer").ID, "canary in the state of B")
			b.sync()
			c.sync()
			if deleter == "another" {
				a.sync()
			}
			by, others := a, []*member{b, c, b}
			if deleter == "another" {
				by, others = b, []*member{a, c, a}
			}
			if len(a.holding("canary")) < 2 || len(b.onDisk("canary")) == 0 {
				t.Fatalf("the vault has it in %q, B in %q", a.holding("canary"), b.onDisk("canary"))
			}
			by.deleteTurn(turn)
			by.deleteTurn(document)
			by.sync()
			status, err := by.vault.Status(by.ctx)
			by.ok(err)
			if len(status.Deletions) != 2 || len(status.Deletions[0].Waiting) != 2 || status.Deletions[0].Of != string(turn) {
				t.Errorf("%+v", status.Deletions)
			}
			for _, m := range others {
				m.sync()
			}
			by.sync()
			exchangeAll(t, all, 2)
			for _, m := range all {
				if names := m.onDisk("canary"); len(names) > 0 {
					t.Errorf("%s has it in %q", m.name, names)
				}
				receipts, err := m.Receipts(m.ctx)
				m.ok(err)
				mine := slices.IndexFunc(receipts, func(r chat.Receipt) bool { return r.Subject == string(document) && len(r.Deleted) > 0 })
				if mine < 0 {
					t.Errorf("%s has the receipts %+v", m.name, receipts)
				}
				m.verifyClean()
				status, err := m.vault.Status(m.ctx)
				m.ok(err)
				if len(status.Deletions) != 0 {
					t.Errorf("%s: afterwards %+v", m.name, status.Deletions)
				}
			}
			if names := a.holding("canary"); len(names) > 0 {
				t.Errorf("the vault has it in %q", names)
			}
			if n := len(added(nil, objects(t, a.folder), "content/")); n != 0 {
				t.Errorf("%d contents are left", n)
			}
			if len(a.said(s.ID, "kept question")) != 1 {
				t.Error("what was to be kept is gone")
			}
			d, _ := members(t, 1, false) // a new device reads what was written again before it reads why
			fresh := d[0]
			fresh.ok(fresh.core.Write(fresh.ctx, "test", fresh.core.RenewDevice))
			fresh.name, fresh.folder = "D", a.folder
			code, _ := aVault()
			_, err = fresh.vault.Connect(fresh.ctx, vault.Target{Address: a.folder}, code)
			fresh.ok(err)
			fresh.sync()
			if len(fresh.said(s.ID, "kept question")) != 1 {
				t.Error("a new device does not have the session")
			}
			settle(t, append(all, fresh))
		})
	}
}

// hasNowhere requires that a text is neither in the data of a member nor in its vault.
func (m *member) hasNowhere(text string) {
	m.Helper()
	if names := append(m.onDisk(text), m.holding(text)...); len(names) > 0 {
		m.Errorf("%s has it in %q", m.name, names)
	}
}

// together makes members use one folder.
func together(t *testing.T, all []*member) {
	t.Helper()
	for _, m := range all[1:] {
		m.folder = all[0].folder
		code, _ := aVault()
		_, err := m.vault.Connect(m.ctx, vault.Target{Address: m.folder}, code)
		m.ok(err)
	}
}

// states returns the texts of all states of a session.
func (d *device) states(s chat.SessionID) (out []string) {
	d.Helper()
	state := d.state(s)
	for _, id := range slices.Sorted(maps.Keys(state.States)) {
		out = append(out, id+": "+d.summaryOf(chat.StateID(id)))
	}
	return out
}

func (d *device) summaryOf(id chat.StateID) string {
	d.Helper()
	st, err := d.State(d.ctx, id)
	d.ok(err)
	return st.Summary
}

// TestASecondDeletionFromTheSameText: two turns that one state repeats are deleted one after the other, on either device. Then the
// text of neither is in the vault, on a device or on a new one, and all have the same of the rest.
func TestASecondDeletionFromTheSameText(t *testing.T) {
	for _, second := range []int{0, 1} {
		all, s := members(t, 2, true)
		together(t, all)
		a := all[0]
		one, two := a.say(s.ActiveBranch, "canaryone question", "an answer"), a.say(s.ActiveBranch, "canarytwo question", "an answer")
		b, err := a.Branch(a.ctx, s.ActiveBranch)
		a.ok(err)
		_, err = a.Commit(a.ctx, chat.Commit{
			BranchID: s.ActiveBranch, Epoch: b.Epoch, Turns: []chat.TurnID{one.ID, two.ID}, Summary: "## Facts\n- canaryone fact\n- canarytwo fact\n- unrelated words",
			TokenCount: 9, Origin: chat.StateFallback,
		})
		a.ok(err)
		exchangeAll(t, all, 1)
		a.deleteTurn(one.ID)
		exchangeAll(t, all, 2)
		if len(a.holding("canaryone")) > 0 || len(a.holding("canarytwo")) == 0 {
			t.Fatalf("after the first deletion: %q, %q", a.holding("canaryone"), a.holding("canarytwo"))
		}
		all[second].deleteTurn(two.ID)
		exchangeAll(t, all, 2)
		d, _ := members(t, 1, false)
		d[0].ok(d[0].core.Write(d[0].ctx, "test", d[0].core.RenewDevice))
		d[0].name = "D"
		together(t, append(all[:1:1], d...))
		exchangeAll(t, append(all, d...), 2)
		if names := a.holding("canary"); len(names) > 0 {
			t.Errorf("the vault has it in %q", names)
		}
		for _, m := range append(all, d...) {
			if names := m.onDisk("canary"); len(names) > 0 {
				t.Errorf("%s has it in %q", m.name, names)
			}
			if got := m.states(s.ID); !slices.Equal(got, a.states(s.ID)) || !strings.Contains(strings.Join(got, " "), "unrelated") {
				t.Errorf("%s has the states %q, and A %q", m.name, got, a.states(s.ID))
			}
			m.verifyClean()
		}
	}
}

// TestWhatIsDeletedByAnother: a state with words of a turn comes to a device that has these words no more. It gets what its writer
// leaves of it, not more and not less, also if it shares a word with what is known there.
func TestWhatIsDeletedByAnother(t *testing.T) {
	all, s := members(t, 3, true)
	a, b, c := all[0], all[1], all[2]
	turn := a.say(s.ActiveBranch, "canaryword question", "canaryother answer").ID
	exchangeAll(t, all, 2)
	own := c.own(s.ActiveBranch, true)
	c.commit(own, c.say(own, "kept question", "kept answer").ID, "canaryword fact\n- canaryother fact")
	c.sync() // without the others
	a.deleteTurn(turn)
	a.sync()
	carry(t, a.folder, b.folder, nil)
	b.sync()
	carry(t, c.folder, b.folder, nil)
	b.sync()
	if len(b.onDisk("canaryword")) == 0 {
		t.Fatal("it was not to be known yet")
	}
	exchangeAll(t, all, 3)
	for _, m := range all {
		m.hasNowhere("canary")
		if got := m.states(s.ID); !slices.Equal(got, c.states(s.ID)) || !strings.Contains(strings.Join(got, " "), "another") {
			t.Errorf("%s has the states %q, and C %q", m.name, got, c.states(s.ID))
		}
		m.verifyClean()
	}
}

// TestADeletionOfBeforeStaysThere: a turn that was deleted before there was a vault is deleted on that device only.
func TestADeletionOfBeforeStaysThere(t *testing.T) {
	devs, s := devices(t, 2)
	devs[0].deleteTurn(devs[1].turnWith(s.ID, "question"))
	a, b := devs[0].join(""), devs[1].join("")
	exchangeAll(t, []*member{a, b}, 2)
	if len(b.said(s.ID, "question")) != 1 {
		t.Error("B deleted what was deleted on A only")
	}
	b.verifyClean()
}

// TestAFileWithADeletionIsNotForOldPrograms: a file of a log has version 2 if something of a deletion of a turn is in it, and no other.
func TestAFileWithADeletionIsNotForOldPrograms(t *testing.T) {
	all, s := members(t, 1, true)
	a := all[0]
	turn := a.say(s.ActiveBranch, "canary question", "an answer").ID
	a.sync()
	a.deleteTurn(turn)
	a.sync()
	a.say(s.ActiveBranch, "another question", "an answer")
	a.sync()
	want := map[string]string{"00000001-1": `"version":2`, "00000002": `"version":2`, "00000003": `"version":1`}
	for name, content := range a.opened() {
		head, _, _ := strings.Cut(content, "\n")
		if v := want[filepath.Base(name)]; strings.HasPrefix(name, "log/") && (v == "" || !strings.Contains(head, v)) {
			t.Errorf("%s begins with %q", name, head)
		}
		delete(want, filepath.Base(name))
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	if raw := string(objects(t, a.folder)["vault.json"]); !strings.Contains(raw, `"version": 1`) {
		t.Errorf("vault.json is %.100q", raw)
	}
}

// documentInUse returns two devices. The first has deleted a turn with its document, which a draft on a branch of the second uses.
func documentInUse(t *testing.T) (all []*member, own chat.BranchID) {
	t.Helper()
	all, s := members(t, 2, true)
	together(t, all)
	a, b := all[0], all[1]
	file := a.file(s.ID, "canary.txt", strings.Repeat("canary document ", 10_000))
	turn := a.attach(s.ActiveBranch, file).ID
	exchangeAll(t, all, 1)
	ids, err := core.All[chat.FileID](b.ctx, b.core, "test", `SELECT id FROM files WHERE turn_id = ?`, turn)
	b.ok(err)
	draft := chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{chat.Document{File: ids[0], Name: "canary.txt"}}}
	own = b.own(s.ActiveBranch, true)
	b.ok(b.SaveDraft(b.ctx, chat.Draft{BranchID: own, Message: draft}))
	a.deleteTurn(turn)
	a.sync()
	return all, own
}

// TestADocumentThatIsUsedHere: while a draft uses a document that was deleted with its turn elsewhere, nothing of that deletion is
// carried out or answered, and this is said. Afterwards it is.
func TestADocumentThatIsUsedHere(t *testing.T) {
	all, own := documentInUse(t)
	a, b := all[0], all[1]
	for range 2 {
		out, err := b.vault.Sync(b.ctx)
		b.ok(err)
		if len(out.Problems) == 0 || !strings.Contains(fmt.Sprint(out.Problems), "canary.txt") || len(b.onDisk("canary document")) == 0 {
			t.Fatalf("B says %v, and has it in %q", out.Problems, b.onDisk("canary document"))
		}
	}
	receipts, err := b.Receipts(b.ctx)
	b.ok(err)
	status, err := a.vault.Status(a.ctx)
	a.ok(err)
	if len(receipts) != 0 || len(status.Deletions) != 1 || len(status.Deletions[0].Waiting) != 1 {
		t.Errorf("B has the receipts %v, A says %+v", receipts, status.Deletions)
	}
	b.ok(b.SaveDraft(b.ctx, chat.Draft{BranchID: own}))
	exchangeAll(t, all, 2)
	for _, m := range all {
		if names := append(m.onDisk("canary document"), m.holding("canary")...); len(names) > 0 {
			t.Errorf("%s has it in %q", m.name, names)
		}
	}
}

// TestDeletedTurnsOnANewDevice: it knows when they were deleted.
func TestDeletedTurnsOnANewDevice(t *testing.T) {
	all, s := members(t, 1, true)
	a := all[0]
	turn := a.say(s.ActiveBranch, "canary question", "an answer").ID
	a.sync()
	a.deleteTurn(turn)
	a.sync()
	d, _ := members(t, 1, false)
	d[0].ok(d[0].core.Write(d[0].ctx, "test", d[0].core.RenewDevice))
	together(t, append(all[:1:1], d...))
	d[0].sync()
	for _, m := range append(all, d...) {
		at, err := m.DeletedTurns(m.ctx, s.ID, []chat.TurnID{turn})
		m.ok(err)
		if at[turn].Year() < 2020 {
			t.Errorf("%s: %v", m.name, at)
		}
		if left, err := m.Uncertified(m.ctx); err != nil || len(left) > 0 {
			t.Errorf("%s: %v %v", m.name, left, err)
		}
	}
}

// TestWhatIsDamagedIsNotSentAsDeleted: a payload that is not what was stored, and that no deletion certifies, is not sent.
func TestWhatIsDamagedIsNotSentAsDeleted(t *testing.T) {
	all, s := members(t, 1, true)
	a := all[0]
	a.sync()
	a.say(s.ActiveBranch, "canary question", "an answer")
	a.ok(a.core.Write(a.ctx, "test", func(t *core.Tx) error {
		return t.Run(`UPDATE events SET payload = ? WHERE type = 'session_renamed' OR type = 'turn_accepted' AND event_seq = (SELECT max(event_seq) FROM events WHERE type = 'turn_accepted')`,
			codec.Pack([]byte(`{"v":1,"data":{}}`)))
	}))
	out, err := a.vault.Sync(a.ctx)
	a.ok(err)
	if len(out.Problems) != 1 || chat.CodeOf(out.Problems[0]) != chat.CodeCorrupt || out.SentEvents != 0 {
		t.Errorf("%v, %d events sent", out.Problems, out.SentEvents)
	}
}

// TestAnotherVaultDuringADeletion: a device that changes to another vault while it cannot carry out a deletion does not say there that
// it did.
func TestAnotherVaultDuringADeletion(t *testing.T) {
	all, _ := documentInUse(t)
	b := all[1]
	out, err := b.vault.Sync(b.ctx)
	b.ok(err)
	if len(out.Problems) == 0 {
		t.Fatal("it was carried out")
	}
	b.folder = t.TempDir()
	_, err = b.vault.Connect(b.ctx, vault.Target{Address: b.folder}, "a passphrase")
	b.ok(err)
	if out := b.sync(); out.SentEvents == 0 {
		t.Error("nothing was sent")
	}
	if names := b.holding(`"of":`); len(names) > 0 {
		t.Errorf("it says so in %q", names)
	}
}

// replacedAtB returns two devices and a session in which a text is replaced at B, and what says so of the deletion has not come.
func replacedAtB(t *testing.T) (a, b *member, s chat.Session) {
	t.Helper()
	all, s := members(t, 2, true)
	a, b = all[0], all[1]
	a.full(s.ActiveBranch, "a secret question", "an answer")
	a.sync()
	a.deleteTurn(a.turnWith(s.ID, "a secret question"))
	for range 2 {
		a.sync()
	}
	carry(t, a.folder, b.folder, nil)
	logs := added(nil, objects(t, b.folder), "log/"+a.log()+"/")
	b.ok(os.Remove(filepath.Join(b.folder, logs[len(logs)-1])))
	if out, err := b.vault.Sync(b.ctx); err != nil || len(out.Problems) == 0 || !b.uncertified(s.ID) {
		t.Fatalf("%+v %v, of %v", out, err, logs)
	}
	return a, b, s
}

// TestASessionIsDeletedDuringADeletion: a session in which a text is replaced, and what says so of the deletion has not come, is
// deleted elsewhere. What was continued here is kept all the same. Until then there is no bundle of it.
func TestASessionIsDeletedDuringADeletion(t *testing.T) {
	a, b, s := replacedAtB(t)
	if _, err := b.WriteBundle(b.ctx, s.ID, io.Discard, true); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("a bundle: %v", err)
	}
	b.full(b.own(s.ActiveBranch, true), "continued by B", "an answer")
	a.erased(s.ID)
	for range 2 {
		a.sync()
	}
	carry(t, a.folder, b.folder, nil)
	out := b.sync()
	if len(out.Kept) != 1 || len(b.said(out.Kept[0], "continued by B", "first question")) != 2 || b.has(s.ID) {
		t.Errorf("%+v, %v", out, b.conversations())
	}
	b.verifyClean()
	settle(t, []*member{a, b})
}

// TestADeletionIsCertifiedByABundle: what says so of a deletion may also come in a bundle. Then the session is whole.
func TestADeletionIsCertifiedByABundle(t *testing.T) {
	a, b, s := replacedAtB(t)
	b.full(b.own(s.ActiveBranch, true), "continued by B", "an answer")
	if out := b.take(a.give(s.ID)); out.Outcome != chat.ImportMerged || b.uncertified(s.ID) {
		t.Errorf("it still waits, after %+v", out)
	}
	b.give(s.ID)
	b.verifyClean()
	carry(t, a.folder, b.folder, nil)
	b.sync()
}

// TestADocumentOfARetry: a document that only retries of the deleted turn name too is not used by something else.
func TestADocumentOfARetry(t *testing.T) {
	all, s := members(t, 2, true)
	together(t, all)
	a := all[0]
	file := a.file(s.ID, "canary.txt", "canary document")
	failed, err := a.Accept(a.ctx, chat.Acceptance{BranchID: s.ActiveBranch, User: naming(file), Provider: "recall", Model: "recall"})
	a.ok(err)
	_, err = a.FailTurn(a.ctx, chat.TurnFailure{TurnID: failed.ID, Outcome: chat.OutcomeDiscarded, Failure: &chat.Failure{Code: chat.CodeCancelled, Message: "no"}})
	a.ok(err)
	again, err := a.Accept(a.ctx, chat.Acceptance{BranchID: s.ActiveBranch, User: naming(file), Provider: "recall", Model: "recall", RetryOf: failed.ID})
	a.ok(err)
	a.finalize(again, "an answer")
	exchangeAll(t, all, 1)
	if len(all[1].onDisk("canary document")) == 0 {
		t.Fatal("B does not have the document")
	}
	a.deleteTurn(again.ID)
	exchangeAll(t, all, 2)
	for _, m := range all {
		if names := append(m.onDisk("canary document"), m.holding("canary document")...); len(names) > 0 {
			t.Errorf("%s has it in %q", m.name, names)
		}
	}
}

// TestADeletionOfAnotherThatIsKilled: a device that is killed while it carries out the deletion of another one, before or after any
// write, continues: it deletes once, answers, and nothing is left.
func TestADeletionOfAnotherThatIsKilled(t *testing.T) {
	for n, ended := 1, 0; ended < 2; n += testtier.Size(4, 1) {
		ended = 0
		for _, after := range []bool{false, true} {
			all, s := members(t, 2, true)
			together(t, all)
			a, b := all[0], all[1]
			turn := a.say(s.ActiveBranch, "canary question", "canary answer "+strings.Repeat("with many words ", 10_000)).ID
			a.commit(s.ActiveBranch, turn, "canary fact")
			exchangeAll(t, all, 1)
			a.deleteTurn(turn)
			a.sync()
			k := &killed{Place: vault.Folder(b.folder), Store: b.Store, left: n, after: after}
			if _, err := b.with(k, func(vault.Target) (vault.Place, error) { return k, nil }).Sync(b.ctx); err == nil {
				ended++
			}
			b.reopen()
			b.begin()
			exchangeAll(t, all, 2)
			deletions, err := core.All[int](b.ctx, b.core, "test", `SELECT 1 FROM events WHERE type = ? AND entity_id = ?`, ledger.EventContentDeleted, turn)
			b.ok(err)
			status, err := a.vault.Status(a.ctx)
			a.ok(err)
			if names := append(b.onDisk("canary"), b.holding("canary")...); len(names) > 0 || len(deletions) != 2 || len(status.Deletions) > 0 {
				t.Fatalf("point %d, after %v: it is in %q, deleted %d times; A says %+v", n, after, names, len(deletions), status.Deletions)
			}
			for _, m := range all {
				m.ok(m.Store.Close())
			}
		}
	}
}

// TestADeletionInABundleIsNotCarriedOut: what a bundle says of the deletion of a turn, in the vault of whoever made it, is the user's
// decision here, also on the other devices of a vault.
func TestADeletionInABundleIsNotCarriedOut(t *testing.T) {
	devs, s := devices(t, 3)
	a := devs[0].join("")
	all := []*member{devs[1].join(""), devs[2].join("")}
	exchangeAll(t, all, 1)
	a.deleteTurn(a.turnWith(s.ID, "first question"))
	a.sync()
	all[0].say(all[0].own(s.ActiveBranch, true), "a question of B", "an answer")
	if out := all[0].take(a.give(s.ID)); out.Outcome != chat.ImportMerged {
		t.Fatalf("%+v", out)
	}
	exchangeAll(t, all, 2)
	all[1].deleteTurn(all[1].say(all[1].own(s.ActiveBranch, true), "another question", "an answer").ID)
	exchangeAll(t, all, 2)
	for _, m := range all {
		if len(m.said(s.ID, "first question")) != 1 {
			t.Errorf("%s deleted it", m.name)
		}
		m.verifyClean()
	}
}

// TestADeletionWhoseEventCameBefore: the event of a deletion comes in a bundle, and from there into the log of another device, before its
// own device says that it is one of this vault. Then it is carried out, also by who has the event already.
func TestADeletionWhoseEventCameBefore(t *testing.T) {
	all, s := members(t, 3, true)
	a, b, c := all[0], all[1], all[2]
	own := b.own(s.ActiveBranch, true)
	b.say(own, "a question of B", "an answer")
	exchangeAll(t, all, 2)
	a.deleteTurn(a.turnWith(s.ID, "first question"))
	c.take(a.give(s.ID))
	c.sync()
	carry(t, c.folder, b.folder, nil)
	b.sync()
	if len(b.said(s.ID, "first question")) != 1 {
		t.Fatal("B carried it out before")
	}
	carry(t, c.folder, a.folder, nil)
	a.sync()
	running := b.accept(own, "while it is deleted")
	step := b.respond(running)
	carry(t, a.folder, b.folder, nil)
	if out, err := b.vault.Sync(b.ctx); err != nil || len(out.Problems) == 0 {
		t.Errorf("%+v %v", out, err)
	}
	carry(t, b.folder, a.folder, nil)
	a.sync()
	if status, err := a.vault.Status(a.ctx); err != nil || len(status.Deletions) != 1 || !slices.Contains(status.Deletions[0].Waiting, "machine B") {
		t.Errorf("B answered, although it could not: %+v %v", status.Deletions, err)
	}
	_, err := b.Finalize(b.ctx, chat.Finalization{
		TurnID: running.ID, Step: b.ended(step, chat.StepCompleted, "an answer"), Message: chat.AssistantText("an answer"), Outcome: chat.OutcomeCompleted,
	})
	b.ok(err)
	b.sync()
	if len(b.said(s.ID, "first question")) > 0 {
		t.Error("B has it")
	}
	exchangeAll(t, all, 2)
	for _, m := range all {
		if len(m.said(s.ID, "first question")) > 0 || len(m.holding("first question")) > 0 {
			t.Errorf("%s has it", m.name)
		}
	}
	status, err := a.vault.Status(a.ctx)
	a.ok(err)
	if len(status.Deletions) > 0 {
		t.Errorf("%+v", status.Deletions)
	}
	settle(t, all)
}

// TestAQuoteOfATurnThatIsNotHere: a session that quotes a deleted turn is cleared of it although the turn is not here, or was
// deleted before it came.
func TestAQuoteOfATurnThatIsNotHere(t *testing.T) {
	all, _ := members(t, 2, false)
	a, b := all[0], all[1]
	other, asking := a.session("Questions")
	source, branch := a.session("about " + canary)
	secret := a.committed(branch.ID, "my password is "+canary, "I keep it.")
	var l lookups
	a.addLookups(asking.ID, secret, &l)
	b.take(a.give(other.ID))
	a.sync()
	if len(b.onDisk(canary)) == 0 || other.ID > source.ID {
		t.Fatal("B does not have the quote, or gets the turn first")
	}
	a.deleteTurn(secret.ID)
	exchangeAll(t, all, 2)
	for _, m := range all {
		if names := append(m.onDisk(canary), m.holding(canary)...); len(names) > 0 {
			t.Errorf("%s has it in %q", m.name, names)
		}
		m.verifyClean()
	}
	receipts, err := b.Receipts(b.ctx)
	b.ok(err)
	if status, err := a.vault.Status(a.ctx); err != nil || len(status.Deletions) != 0 || len(receipts) == 0 {
		t.Errorf("A says %+v, %v; B has the receipts %+v", status.Deletions, err, receipts)
	}
}

// TestAContentThatTwoLogsName: two devices sent one document, and one deleted it from the vault before it knew of the other's file.
// That device can answer nevertheless, and write its file again.
func TestAContentThatTwoLogsName(t *testing.T) {
	devs, s := devices(t, 2)
	turn := devs[0].attach(s.ActiveBranch, devs[0].file(s.ID, "canary.txt", strings.Repeat("canary document ", 10_000)))
	devs[1].take(devs[0].give(s.ID))
	a, b := devs[0].join(""), devs[1].join("")
	a.sync()
	b.sync()
	a.deleteTurn(turn.ID)
	a.sync()
	if n := len(added(nil, objects(t, a.folder), "content/")); n != 0 {
		t.Fatalf("%d contents are left", n)
	}
	carry(t, a.folder, b.folder, nil)
	a.ok(os.RemoveAll(filepath.Join(b.folder, "content"))) // as the program does that synchronizes the folders
	carry(t, b.folder, a.folder, nil)
	out, err := a.vault.Sync(a.ctx)
	a.ok(err)
	if len(out.Problems) != 1 || chat.CodeOf(out.Problems[0]) != chat.CodeNotFound {
		t.Fatalf("A can read the file of B: %v", out.Problems)
	}
	all := []*member{a, b}
	b.sync()
	carry(t, b.folder, a.folder, nil)
	exchangeAll(t, all, 2)
	for _, m := range all {
		if names := append(m.onDisk("canary document"), m.holding("canary document")...); len(names) > 0 {
			t.Errorf("%s has it in %q", m.name, names)
		}
	}
	settle(t, all)
}

// TestADocumentThatTwoTurnsSent: two devices attached one document before they knew of each other's turn, and one of them deletes its own
// turn. What the other one sends is read everywhere, the document too.
func TestADocumentThatTwoTurnsSent(t *testing.T) {
	for _, sentBefore := range []bool{true, false} {
		all, s := members(t, 3, true)
		together(t, all)
		a, b := all[0], all[1]
		own := b.own(s.ActiveBranch, true)
		b.say(own, "a question of B", "an answer")
		exchangeAll(t, all, 2)
		document := strings.Repeat("a document ", 10_000)
		turn := a.attach(s.ActiveBranch, a.file(s.ID, "one.txt", document)).ID
		a.sync()
		b.attach(own, b.file(s.ID, "two.txt", document))
		if sentBefore {
			b.sync()
		}
		a.deleteTurn(turn)
		a.sync()
		exchangeAll(t, all, 3)
		for _, m := range all {
			names, err := core.All[string](m.ctx, m.core, "test", `SELECT name FROM files WHERE session_id = ?`, s.ID)
			m.ok(err)
			status, err := m.vault.Status(m.ctx)
			m.ok(err)
			if !slices.Equal(names, []string{"two.txt"}) || len(m.onDisk("a document")) == 0 || len(status.Deletions) > 0 {
				t.Errorf("%s has the documents %q, in %q, and says %+v", m.name, names, m.onDisk("a document"), status.Deletions)
			}
		}
		d, _ := members(t, 1, false)
		d[0].ok(d[0].core.Write(d[0].ctx, "test", d[0].core.RenewDevice))
		together(t, append(all[:1:1], d...))
		d[0].sync()
		settle(t, append(all, d...))
	}
}

// TestADocumentThatIsSentAgain: a device that has answered the deletion of a document attaches it again, before the last one has answered
// and removed the first one from the vault. All can read it.
func TestADocumentThatIsSentAgain(t *testing.T) {
	all, s := members(t, 3, true)
	together(t, all)
	a, b, c := all[0], all[1], all[2]
	c.say(c.own(s.ActiveBranch, true), "a question of C", "an answer")
	document := strings.Repeat("a document ", 10_000)
	turn := a.attach(s.ActiveBranch, a.file(s.ID, "one.txt", document)).ID
	exchangeAll(t, all, 2)
	a.deleteTurn(turn)
	a.sync()
	b.sync()
	b.attach(b.own(s.ActiveBranch, true), b.file(s.ID, "again.txt", document))
	hung := &meanwhile{Place: vault.Folder(b.folder), do: func() { c.sync(); a.sync() }} // after the contents, before the file
	if _, err := b.with(b.Store, func(vault.Target) (vault.Place, error) { return hung, nil }).Sync(b.ctx); err != nil {
		t.Fatal(err)
	}
	exchangeAll(t, all, 2)
	settle(t, all)
}

// TestALaneThatIsYounger: data that was restored, or is a copy, gets a lane without its own earlier deletions. What it deletes from the
// same text replaces what it had sent before.
func TestALaneThatIsYounger(t *testing.T) {
	for _, restored := range []bool{true, false} {
		all, s := members(t, 1, true)
		a := all[0]
		one, two := a.say(s.ActiveBranch, "canaryone question", "an answer"), a.say(s.ActiveBranch, "canarytwo question", "an answer")
		b, err := a.Branch(a.ctx, s.ActiveBranch)
		a.ok(err)
		_, err = a.Commit(a.ctx, chat.Commit{
			BranchID: s.ActiveBranch, Epoch: b.Epoch, Turns: []chat.TurnID{one.ID, two.ID}, Summary: "## Facts\n- canaryone fact\n- canarytwo fact",
			TokenCount: 9, Origin: chat.StateFallback,
		})
		a.ok(err)
		a.sync()
		a.deleteTurn(one.ID)
		a.sync()
		saved := a.saved()
		if !restored {
			a.ok(a.RenameSession(a.ctx, s.ID, "another title"))
			a.sync()
		}
		a.ok(a.Store.Close())
		r := a.from(saved, restored)
		r.deleteTurn(two.ID)
		if out := r.sync(); out.Departed == restored {
			t.Errorf("restored %v: %+v", restored, out)
		}
		if names := append(r.onDisk("canary"), r.holding("canary")...); len(names) > 0 {
			t.Errorf("restored %v: it is in %q", restored, names)
		}
		settle(t, []*member{r})
	}
}

// TestATurnThatEndsAfterItsDeletion: a turn was sent while it waited to be continued, is deleted elsewhere, and continues before its
// device knows. What it said then is deleted too.
func TestATurnThatEndsAfterItsDeletion(t *testing.T) {
	all, s := members(t, 2, true)
	a, b := all[0], all[1]
	turn := b.accept(b.own(s.ActiveBranch, true), "canary question")
	_, err := b.Interrupt(b.ctx, chat.Interruption{TurnID: turn.ID, Step: b.ended(b.respond(turn), chat.StepIncomplete, "half")})
	b.ok(err)
	exchangeAll(t, all, 2)
	a.deleteTurn(turn.ID)
	a.sync()
	b.ok(b.Resume(b.ctx, turn.ID))
	step, err := b.BeginStep(b.ctx, chat.StepStart{TurnID: turn.ID, Index: 1, Provider: "recall", ModelID: "recall", Request: []byte(`{}`)})
	b.ok(err)
	_, err = b.Finalize(b.ctx, chat.Finalization{
		TurnID: turn.ID, Step: b.ended(step, chat.StepCompleted, "canary words of the end"), Message: chat.AssistantText("canary words of the end"),
		Outcome: chat.OutcomeCompleted,
	})
	b.ok(err)
	b.sync()
	carry(t, b.folder, a.folder, nil)
	a.sync()
	if len(a.onDisk("canary")) == 0 {
		t.Fatal("it was to be known")
	}
	exchangeAll(t, all, 2)
	for _, m := range all {
		m.hasNowhere("canary")
	}
	settle(t, all)
}
