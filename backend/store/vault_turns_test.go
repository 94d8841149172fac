package store

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/vault"
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
