package store

import (
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/vault"
)

// TestWhatFollowsIsChecked: what only has to be added to a session is refused if it leaves a gap, as the reducer alone would not.
func TestWhatFollowsIsChecked(t *testing.T) {
	all, s := members(t, 2, true)
	a, b := all[0], all[1]
	own := b.own(s.ActiveBranch, true)
	b.full(own, "by B", "said")
	b.sync()
	carry(t, b.folder, a.folder, nil)
	if out := a.sync(); out.ReceivedTurns != 1 {
		t.Fatalf("%+v", out)
	}
	branch, err := b.Branch(b.ctx, own)
	b.ok(err)
	b.clock.Advance(time.Second)
	b.ok(b.core.Write(b.ctx, "test", func(tx *core.Tx) error {
		message, _, err := schema.EncodeMessage(chat.UserText("far away"))
		if err != nil {
			return err
		}
		id := chat.NewID(tx.Now)
		if err := events.Record(tx, s.ID, ledger.EventTurnAccepted, id, ledger.TurnAccepted{
			BranchID: own, Seq: 40, StateBefore: branch.HeadState, User: []byte(message), Provider: "p", Model: "m",
		}); err != nil {
			return err
		}
		return events.Record(tx, s.ID, ledger.EventTurnFailed, id, ledger.TurnEnded{Outcome: chat.OutcomeDiscarded})
	}))
	_, err = b.vault.Sync(b.ctx)
	b.ok(err)
	carry(t, b.folder, a.folder, nil)
	if out, err := a.vault.Sync(a.ctx); err != nil || len(out.Problems) == 0 || out.ReceivedEvents > 0 {
		t.Errorf("%+v, %v", out, err)
	}
	a.verifyClean()
}

// TestSnapshotsAfterADeparture: what a copy wrote is stored again under its new name, which leaves numbers of the database unused.
func TestSnapshotsAfterADeparture(t *testing.T) {
	all, s := members(t, 2, true)
	a, b := all[0], all[1]
	own := b.own(s.ActiveBranch, true)
	b.full(own, "by B", "said")
	b.sync()
	c := b.from(b.saved(), false)
	c.folder = t.TempDir()
	carry(t, b.folder, c.folder, nil)
	b.full(own, "in B", "said")
	b.sync()
	c.full(own, "in the copy", "said")
	a.full(s.ActiveBranch, "in A", "said")
	c.take(a.give(s.ID))
	c.folder = b.folder
	c.begin()
	c.ok(c.vault.Disconnect(c.ctx))
	code, _ := aVault()
	_, err := c.vault.Connect(c.ctx, vault.Target{Address: c.folder}, code)
	c.ok(err)
	c.sync()
	if n, last := c.events(s.ID); n == last {
		t.Fatalf("%d events, and no number is unused", n)
	}
	c.snapshot(s.ID)
	c.full(c.own(own, true), "after it", "said")
	if _, how, err := c.Replay(c.ctx, s.ID); err != nil || how.From == 0 {
		t.Errorf("the replay begins after event %d, %v", how.From, err)
	}
	c.verifyClean()
}

// events returns how many events a session has, and the number of the last one in the database.
func (d *device) events(s chat.SessionID) (n, last int64) {
	d.Helper()
	rows, err := core.All[struct{ N, Last int64 }](d.ctx, d.core, "test", `SELECT count(*) AS n, max(event_seq) AS last FROM events WHERE session_id = ?`, s)
	d.ok(err)
	return rows[0].N, rows[0].Last
}
