package store

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/records"
	"contextinfinity/test/testtier"
)

// device is one of several installations that share a session.
type device struct {
	*fixture
	name string
}

// devices are installations with a session that the first one began and the others imported.
func devices(t *testing.T, n int) ([]*device, chat.Session) {
	t.Helper()
	var all []*device
	var shared chat.Session
	for i := range n {
		d := &device{fixture: newFixture(t), name: string(rune('A' + i))}
		d.ok(d.core.Write(d.ctx, "test", d.core.RenewDevice)) // the fixture is a copy of one data directory
		d.core.Device().Name = "machine " + d.name
		if i == 0 {
			s, b := d.session("shared")
			d.full(b.ID, "first question", "first answer")
			shared = s
		} else {
			d.take(all[0].give(shared.ID))
		}
		all = append(all, d)
	}
	return all, shared
}

// give exports the session.
func (d *device) give(s chat.SessionID) []byte {
	d.Helper()
	var b bytes.Buffer
	_, err := d.WriteBundle(d.ctx, s, &b, true)
	d.ok(err)
	return b.Bytes()
}

// take imports the session.
func (d *device) take(b []byte) chat.Imported {
	d.Helper()
	out, _, err := d.ImportBundle(d.ctx, bytes.NewReader(b), int64(len(b)), "")
	if err != nil {
		d.Fatalf("%s imports: %v", d.name, err)
	}
	return out
}

// own is the branch to which the device writes in place of a branch, as branches.Service chooses it.
func (d *device) own(id chat.BranchID, activate bool) chat.BranchID {
	d.Helper()
	b, err := d.Branch(d.ctx, id)
	d.ok(err)
	if !b.Elsewhere {
		return id
	}
	turns, err := d.Lineage(d.ctx, chat.LineageQuery{Branch: id, Limit: 2, Newest: true})
	d.ok(err)
	p := chat.ForkPoint{Branch: id, KeepPins: true, Continues: true, Activate: activate}
	var tip chat.Turn
	for _, t := range turns {
		if (t.Phase.Finalized() || t.Phase == chat.PhaseFailed) && t.Seq > tip.Seq {
			tip = t
		}
	}
	p.After = tip.ID
	own, known, err := d.Continuation(d.ctx, id, p.After)
	d.ok(err)
	if known {
		return own
	}
	if b, err := d.Branch(d.ctx, tip.BranchID); tip.ID != "" && !b.Elsewhere {
		d.ok(err)
		d.commitAll(tip.BranchID)
	}
	if base, turns, err := d.ForkBase(d.ctx, id, p.After); len(turns) > 0 {
		d.ok(err)
		p.Fallback = &chat.ForkState{Summary: base.Summary + "\n- more", TokenCount: 5}
	}
	child, err := d.Fork(d.ctx, p)
	d.ok(err)
	return child.ID
}

// any returns one of the session's branches.
func (d *device) any(r *rand.Rand, s chat.SessionID) chat.BranchID {
	d.Helper()
	branches, err := d.Branches(d.ctx, s)
	d.ok(err)
	return branches[r.Intn(len(branches))].ID
}

// step makes one random change.
func (d *device) step(r *rand.Rand, s chat.SessionID) {
	d.Helper()
	d.clock.Advance(time.Duration(1+r.Intn(1000)) * time.Millisecond)
	text := func(what string) string { return fmt.Sprintf("%s by %s %d", what, d.name, r.Intn(1_000_000)) }
	switch r.Intn(12) {
	case 0, 1, 2:
		b := d.own(d.any(r, s), r.Intn(2) == 0)
		d.full(b, text("question"), text("answer"))
		if r.Intn(8) == 0 { // perhaps as another device did
			d.attach(b, d.file(s, text("name"), fmt.Sprint("document ", r.Intn(2))))
		}
	case 3: // an answer that no state summary covers yet
		d.say(d.own(d.any(r, s), false), text("question"), text("answer"))
	case 4:
		d.ok(d.RenameSession(d.ctx, s, text("title")))
	case 5:
		_, err := d.AddPin(d.ctx, d.own(d.any(r, s), false), text("fact"), 5)
		d.ok(err)
	case 6:
		d.ok(d.SetFolder(d.ctx, []chat.SessionID{s}, text("folder")))
	case 7:
		if r.Intn(2) == 0 {
			d.ok(d.SetSystemPrompt(d.ctx, s, text("prompt")))
		} else {
			d.ok(d.SetSessionSettings(d.ctx, s, chat.SessionSettings{SystemPrompt: text("set"), Effort: chat.Efforts[r.Intn(3)]}))
		}
	case 8:
		d.ok(d.PinSession(d.ctx, s, r.Intn(2) == 0))
	case 9:
		d.ok(d.RenameBranch(d.ctx, d.any(r, s), text("branch")))
	case 10:
		_ = d.ArchiveBranch(d.ctx, d.any(r, s), r.Intn(2) == 0) // the active one cannot be archived
	case 11:
		d.ok(d.SwitchBranch(d.ctx, s, d.any(r, s)))
	}
	if r.Intn(3) == 0 {
		d.snapshot(s)
	}
}

// snapshot takes a snapshot, however little has changed.
func (d *device) snapshot(s chat.SessionID) {
	d.Helper()
	ignored, err := records.SnapshotSession(d.ctx, d.core, "test", string(s))
	d.ok(err)
	if len(ignored) > 0 {
		d.Errorf("%s: %v", d.name, ignored)
	}
}

// state is the ledger's state without what only this device can know.
func (d *device) state(s chat.SessionID) *ledger.State {
	d.Helper()
	st, err := core.Query(d.ctx, d.core, "test", func(db *gorm.DB) (*ledger.State, error) {
		st, _, err := records.ReplaySession(db, string(s))
		return st, err
	})
	d.ok(err)
	return st
}

// lanes are the lengths of the lanes.
func (d *device) lanes(s chat.SessionID) map[string]int {
	d.Helper()
	rows, err := core.All[struct {
		Lane string
		N    int
	}](context.Background(), d.core, "test", `SELECT lane, count(*) AS n FROM events WHERE session_id = ? GROUP BY lane`, s)
	d.ok(err)
	out := map[string]int{}
	for _, r := range rows {
		out[r.Lane] = r.N
	}
	return out
}

// TestDevicesConverge: whatever several devices do to a session, and in whatever order they exchange what they know,
// old bundles included, they end with the same lanes and the same records, and verify finds nothing.
func TestDevicesConverge(t *testing.T) {
	t.Parallel()
	for seed := range testtier.Sizes(8, 40, 1000) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { converge(t, rand.New(rand.NewSource(int64(seed)))) })
	}
}

// converge plays one random history.
func converge(t *testing.T, r *rand.Rand) {
	all, s := devices(t, 2+r.Intn(3))
	var old [][]byte
	for range 30 {
		d := all[r.Intn(len(all))]
		switch {
		case r.Intn(3) > 0:
			d.step(r, s.ID)
		case len(old) > 0 && r.Intn(3) == 0:
			d.take(old[r.Intn(len(old))])
		default:
			b := all[r.Intn(len(all))].give(s.ID)
			old = append(old, b)
			if out := d.take(b); out.Outcome == chat.ImportCopied || out.Session != s.ID {
				t.Fatalf("%+v", out)
			}
		}
	}
	for range 2 {
		for _, d := range all {
			for _, other := range all {
				if d != other {
					d.take(other.give(s.ID))
				}
			}
		}
	}
	want := all[0].state(s.ID)
	for _, d := range all {
		d.verifyClean()
		if got := d.lanes(s.ID); !maps.Equal(got, all[0].lanes(s.ID)) {
			t.Errorf("%s has %v, and A has %v", d.name, got, all[0].lanes(s.ID))
		}
		for _, x := range ledger.Compare(d.state(s.ID), want) {
			t.Errorf("%s: %+v", d.name, x)
		}
		if n := len(d.allSessions()); n != 1 {
			t.Errorf("%s has %d sessions", d.name, n)
		}
	}
}

// TestSnapshotsOfSeveralLanes: one is used for what follows it, and gone once events are here that belong before its end.
func TestSnapshotsOfSeveralLanes(t *testing.T) {
	all, s := devices(t, 2)
	a, b := all[0], all[1]
	from := func(what string, snapshots bool) {
		t.Helper()
		_, how, err := a.Replay(a.ctx, s.ID)
		a.ok(err)
		if how.From > 0 != snapshots {
			t.Errorf("%s: the replay begins after event %d", what, how.From)
		}
		a.verifyClean()
	}
	a.snapshot(s.ID)
	b.full(b.own(s.ActiveBranch, true), "asked by B", "said by B")
	a.take(b.give(s.ID))
	from("of one lane, and a second one follows", true)
	a.snapshot(s.ID)
	b.full(b.own(s.ActiveBranch, true), "asked again", "said again")
	elsewhere := b.give(s.ID)
	a.take(elsewhere)
	from("of two lanes, and one is continued", true)
	a.ok(a.core.Write(a.ctx, "test", func(t *core.Tx) error { return t.Run(`DELETE FROM snapshots`) }))
	b.full(b.own(s.ActiveBranch, true), "both go on", "there")
	a.full(a.own(s.ActiveBranch, true), "both go on", "here")
	a.snapshot(s.ID)
	from("before the other part arrives", true)
	a.take(b.give(s.ID))
	from("of a part between which another belongs", false)
}

// TestTwoWritersOfABranch: without the rule that a device writes only to its own branches, nothing could be merged. Such
// a bundle, which no program writes, becomes a copy, once, and changes nothing else.
func TestTwoWritersOfABranch(t *testing.T) {
	all, s := devices(t, 2)
	a, b := all[0], all[1]
	main := s.ActiveBranch
	a.full(main, "here", "said here")
	b.say(main, "there", "said there")
	before := a.dump(s.ID)
	bundle := b.give(s.ID)
	if out := a.take(bundle); out.Outcome != chat.ImportCopied || out.Session == s.ID {
		t.Fatalf("%+v", out)
	}
	if out := a.take(bundle); out.Outcome != chat.ImportAlready {
		t.Errorf("again: %+v", out)
	}
	if now := a.dump(s.ID); now != before {
		t.Error("ours changed: " + firstDifference(before, now))
	}
	a.verifyClean()
}

// TestTheLastValueCounts: what both set is the same on both afterwards, whichever bundle comes first. The clock of the
// device that knew less is ahead.
func TestTheLastValueCounts(t *testing.T) {
	all, s := devices(t, 2)
	a, b := all[0], all[1]
	b.clock.Advance(240 * time.Hour)
	b.ok(b.RenameSession(b.ctx, s.ID, "by B"))
	a.ok(a.SetFolder(a.ctx, []chat.SessionID{s.ID}, "work"))
	a.ok(a.RenameSession(a.ctx, s.ID, "by A"))
	fromA := a.give(s.ID)
	for _, out := range []chat.Imported{a.take(b.give(s.ID)), b.take(fromA)} {
		if out.Outcome != chat.ImportMerged {
			t.Errorf("%+v", out)
		}
	}
	for _, d := range all {
		got, err := d.Session(d.ctx, s.ID)
		d.ok(err)
		if got.Title != "by A" || got.Folder != "work" {
			t.Errorf("%s has %q in %q", d.name, got.Title, got.Folder)
		}
		d.verifyClean()
	}
}

// TestACopyIsAnotherDevice: data keeps its device when it is opened again, and becomes another one when it was copied to
// another machine or restored, and then writes to no branch of before.
func TestACopyIsAnotherDevice(t *testing.T) {
	f := newFixture(t)
	s, main := f.session("original")
	f.full(main.ID, "a question", "an answer")
	id := f.core.Device().ID
	f.reopen()
	if f.core.Device().ID != id {
		t.Error("another device, although nothing was copied")
	}
	f.ok(f.core.Write(f.ctx, "test", func(t *core.Tx) error {
		return t.Run(`UPDATE settings SET value = json_set(value, '$.machine', 'another') WHERE key = 'device'`)
	}))
	f.ok(f.Store.Close())
	dir := t.TempDir()
	f.ok(os.CopyFS(dir, os.DirFS(f.dir)))
	other, err := Open(f.ctx, Options{DataDir: dir, Clock: f.clock.Now})
	f.ok(err)
	defer func() { f.ok(other.Close()) }()
	if other.core.Device().ID == id {
		t.Error("a copy is the same device")
	}
	b, err := other.Branch(f.ctx, main.ID)
	f.ok(err)
	if !b.Elsewhere || b.SessionID != s.ID {
		t.Errorf("the copy writes to a branch of the original: %+v", b)
	}
	id = other.core.Device().ID
	f.ok(other.core.Write(f.ctx, "test", other.core.RenewDevice))
	if other.core.Device().ID == id {
		t.Error("restored data is the same device")
	}
}

// TestRestoredDataIsAnotherDevice: each time, because what was written after the backup may be on other machines.
func TestRestoredDataIsAnotherDevice(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("kept")
	f.full(main.ID, "a question", "an answer")
	backup := f.backup(filepath.Join(t.TempDir(), "copy.db")).Path
	id, _ := f.ThisDevice()
	known := map[string]bool{id: true}
	f.ok(f.Store.Close())
	for range 2 {
		_, err := archiveOf(f.dir).Restore(f.ctx, backup, agreed)
		f.ok(err)
		f.open()
		if id, _ = f.ThisDevice(); known[id] {
			t.Errorf("restored as %s, of %v", id, known)
		}
		known[id] = true
		if b, err := f.Branch(f.ctx, main.ID); err != nil || !b.Elsewhere {
			t.Errorf("it writes to the branch of before: %+v, %v", b, err)
		}
		f.ok(f.Store.Close())
	}
	f.open()
}

// TestRestoredDataContinuesUnderItsName: after a restore each session continues on a branch of the new device. On the same
// machine it has the name of before, and nothing tells it apart; on another one it is named after that one.
func TestRestoredDataContinuesUnderItsName(t *testing.T) {
	for machine, want := range map[string][2]string{"same": {"main", "here"}, "another": {"main · here", ""}} {
		f := newFixture(t)
		d := &device{fixture: f, name: "A"}
		s, main := d.session("kept")
		d.full(main.ID, "a question", "an answer")
		if machine == "another" {
			d.ok(d.core.Write(d.ctx, "test", func(t *core.Tx) error {
				return t.Run(`UPDATE settings SET value = json_set(value, '$.machine', 'another') WHERE key = 'device'`)
			}))
		}
		d.ok(d.core.Write(d.ctx, "test", d.core.RenewDevice))
		d.core.Device().Name = "here"
		own := d.own(main.ID, true)
		d.full(own, "another question", "another answer")
		branches, err := d.Branches(d.ctx, s.ID)
		d.ok(err)
		before, after := branches[0], branches[1]
		if after.ID != own || after.Label != want[0] || before.On != want[1] || after.On != "here" || !chat.Continued(branches)[main.ID] {
			t.Errorf("on %s machine: %+v, then %+v", machine, before, after)
		}
		if before.Foreign || !before.Elsewhere || after.Elsewhere {
			t.Errorf("on %s machine: what was restored is finished here, and not written to: %+v, then %+v", machine, before, after)
		}
		d.full(main.ID, "by the other", "told by the other")
		if branches, err = d.Branches(d.ctx, s.ID); err != nil || chat.Continued(branches)[main.ID] {
			t.Errorf("a branch that went on is hidden: %v", err)
		}
	}
}
