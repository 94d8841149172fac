package store

import (
	"slices"
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

func TestForkContinuesFromItsTurn(t *testing.T) {
	f := newFixture(t)
	s, main := f.session("s")
	one := f.full(main.ID, "1", "a")
	two := f.full(main.ID, "2", "b")
	f.full(main.ID, "3", "c")
	child, err := f.Fork(f.ctx, chat.ForkPoint{SessionID: s.ID, Branch: main.ID, After: two.ID, Label: "other way", Activate: true})
	f.ok(err)
	if child.ParentBranch != main.ID || child.ForkTurn != two.ID || child.BaseState != two.StateAfter || child.HeadSeq != 2 || child.Epoch != 0 {
		t.Fatalf("%+v", child)
	}
	own := f.full(child.ID, "3'", "c'")
	if own.Seq != 3 || own.StateBefore != two.StateAfter {
		t.Errorf("%+v", own)
	}
	head, err := f.Branch(f.ctx, child.ID)
	f.ok(err)
	if head.HeadSeq != 3 || head.Epoch != 1 {
		t.Errorf("%+v", head)
	}
	session, err := f.Session(f.ctx, s.ID)
	f.ok(err)
	if session.ActiveBranch != child.ID {
		t.Error("not activated")
	}
	// A fork made on the child at a turn that its parent owns becomes a child of the parent.
	again := f.fork(child.ID, one.ID)
	if again.ParentBranch != main.ID || again.HeadState != one.StateAfter || again.Label != "fork 2" {
		t.Errorf("%+v", again)
	}
	first := f.fork(child.ID, "")
	root, err := f.State(f.ctx, first.BaseState)
	f.ok(err)
	if first.ForkTurn != "" || root.Origin != chat.StateRoot || f.accept(first.ID, "again").Seq != 1 {
		t.Errorf("%+v", first)
	}
	f.verifyClean()
}

func TestForkRefuses(t *testing.T) {
	f := newFixture(t)
	s, main := f.session("s")
	other, _ := f.session("other")
	done := f.full(main.ID, "1", "a")
	pending := f.say(main.ID, "2", "b")
	child := f.fork(main.ID, done.ID)
	running := f.accept(main.ID, "3")
	fork := func(p chat.ForkPoint) error { _, err := f.Fork(f.ctx, p); return err }
	f.refused(fork(chat.ForkPoint{Branch: main.ID, After: pending.ID}), chat.CodeConflict)
	f.refused(fork(chat.ForkPoint{Branch: main.ID, After: running.ID}), chat.CodeConflict)
	f.refused(fork(chat.ForkPoint{Branch: child.ID, After: pending.ID}), chat.CodeInvalid) // the turn belongs to a sibling
	f.refused(fork(chat.ForkPoint{Branch: main.ID, After: "nothing"}), chat.CodeNotFound)
	f.refused(fork(chat.ForkPoint{Branch: "nowhere"}), chat.CodeNotFound)
	f.refused(fork(chat.ForkPoint{SessionID: other.ID, Branch: main.ID}), chat.CodeInvalid)
	_, err := f.FailTurn(f.ctx, chat.TurnFailure{TurnID: running.ID, Outcome: chat.OutcomeFailed})
	f.ok(err)
	f.refused(fork(chat.ForkPoint{Branch: main.ID, After: running.ID}), chat.CodeConflict) // an earlier turn is pending
	f.commitAll(main.ID)
	after := f.fork(main.ID, running.ID) // a failed turn; all turns before it are committed
	if after.HeadSeq != 2 || f.accept(after.ID, "4").Seq != 4 {
		t.Errorf("%+v", after)
	}
	f.refused(f.SwitchBranch(f.ctx, other.ID, main.ID), chat.CodeInvalid)
	f.refused(f.ArchiveBranch(f.ctx, main.ID, true), chat.CodeConflict)
	f.ok(f.SwitchBranch(f.ctx, s.ID, child.ID))
	f.ok(f.ArchiveBranch(f.ctx, main.ID, true))
	f.ok(f.RenameBranch(f.ctx, child.ID, "kept"))
	f.verifyClean()
}

// TestForkInsideARun: if one state summary covers turns 2 to 4, a branch that forks after turn 3 must not use it,
// because it includes turn 4 (SPEC 2.7).
func TestForkInsideARun(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("s")
	one := f.full(main.ID, "1", "a")
	two, three, four := f.say(main.ID, "2", "b"), f.say(main.ID, "3", "c"), f.say(main.ID, "4", "d")
	run := f.commitRun(main.ID, two.ID, three.ID, four.ID)
	plain := f.fork(main.ID, three.ID)
	if plain.HeadState != one.StateAfter {
		t.Errorf("without a fallback the head is %s, not the state of turn 1", plain.HeadState)
	}
	base, uncovered, err := f.ForkBase(f.ctx, main.ID, three.ID)
	f.ok(err)
	if base.ID != one.StateAfter || len(uncovered) != 2 || uncovered[0].ID != two.ID || uncovered[1].ID != three.ID {
		t.Fatalf("%+v %+v", base, uncovered)
	}
	inside := f.forkInside(main.ID, three.ID)
	head, err := f.State(f.ctx, inside.HeadState)
	f.ok(err)
	if head.Origin != chat.StateFallback || head.ParentID != base.ID || head.BranchID != inside.ID || inside.Epoch != 1 {
		t.Errorf("%+v %+v", inside, head)
	}
	if seq, err := f.StateTurnSeq(f.ctx, head.ID); seq != 3 || err != nil {
		t.Errorf("covers %d %v", seq, err)
	}
	states, err := f.States(f.ctx, inside.ID)
	f.ok(err)
	if slices.ContainsFunc(states, func(s chat.State) bool { return s.ID == run.ID }) {
		t.Error("the child sees the state of its sibling's turn")
	}
	if end := f.fork(main.ID, four.ID); end.HeadState != run.ID {
		t.Errorf("at the end of the run the head is %s", end.HeadState)
	}
	f.full(inside.ID, "4'", "d'")
	f.verifyClean()
}

func TestBranchesList(t *testing.T) {
	f := newFixture(t)
	d := seed(f)
	list, err := f.Branches(f.ctx, d.Session.ID)
	f.ok(err)
	got := map[chat.BranchID]chat.BranchSummary{}
	for _, b := range list {
		got[b.ID] = b
	}
	if b := got[d.Main.ID]; b.Turns != 9 || b.Pending != 1 || b.ForkSeq != 0 || b.LastSeq != 9 {
		t.Errorf("main %+v", b)
	}
	if b := got[d.Child.ID]; b.Turns != 3 || b.ForkSeq != 2 || b.ParentBranch != d.Main.ID || !b.UpdatedAt.After(b.CreatedAt) {
		t.Errorf("child %+v", b)
	}
	if b := got[d.Early.ID]; b.Turns != 1 || b.Pending != 1 || b.ArchivedAt == nil {
		t.Errorf("early %+v", b)
	}
	if b := got[d.Inside.ID]; b.Turns != 3 || b.HeadSeq != 3 || !b.UpdatedAt.Equal(b.CreatedAt) {
		t.Errorf("inside %+v", b)
	}
}

func (f *fixture) facts(b chat.BranchID) []string {
	f.Helper()
	pins, err := f.Pins(f.ctx, b)
	f.ok(err)
	out := []string{}
	for i, p := range pins {
		if p.Position != i {
			f.Errorf("pin %d has position %d", i, p.Position)
		}
		out = append(out, p.Text)
	}
	return out
}

func (f *fixture) expectFacts(b chat.BranchID, want ...string) {
	f.Helper()
	if got := f.facts(b); !slices.Equal(got, want) {
		f.Errorf("pins %q, want %q", got, want)
	}
}

func TestPinsFollowTheLineage(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("s")
	early := f.pin(main.ID, "early")
	one := f.full(main.ID, "1", "a")
	shared := f.pin(main.ID, "shared")
	two := f.full(main.ID, "2", "b")
	f.pin(main.ID, "after two")
	child := f.fork(main.ID, one.ID)
	f.clock.Advance(time.Millisecond)
	f.pin(main.ID, "main's own")
	f.pin(child.ID, "child's own")
	f.expectFacts(main.ID, "early", "shared", "after two", "main's own")
	f.expectFacts(child.ID, "early", "shared", "child's own")

	f.ok(f.RemovePin(f.ctx, child.ID, shared.ID)) // inherited: hidden only on this branch
	edited, err := f.EditPin(f.ctx, main.ID, early.ID, "early, corrected", 3)
	f.ok(err)
	if edited.Replaces != early.ID || edited.Position != 0 || edited.ID == early.ID || early.Version != 1 || edited.Version != 2 {
		t.Errorf("%+v", edited)
	}
	f.expectFacts(main.ID, "early, corrected", "shared", "after two", "main's own")
	f.expectFacts(child.ID, "early", "child's own")

	f.ok(f.MovePin(f.ctx, main.ID, edited.ID, 99))
	f.expectFacts(main.ID, "shared", "after two", "main's own", "early, corrected")
	f.expectFacts(child.ID, "early", "child's own")
	again, err := f.EditPin(f.ctx, main.ID, edited.ID, "early, twice corrected", 3)
	f.ok(err)
	if again.Position != 3 {
		t.Errorf("an edit moved the pin to %d", again.Position)
	}
	f.ok(f.MovePin(f.ctx, main.ID, again.ID, 1))
	f.pin(main.ID, "last")
	f.expectFacts(main.ID, "shared", "early, twice corrected", "after two", "main's own", "last")

	grand := f.fork(main.ID, two.ID)
	f.clock.Advance(time.Millisecond)
	f.ok(f.RemovePin(f.ctx, main.ID, again.ID))
	f.expectFacts(main.ID, "shared", "after two", "main's own", "last")
	f.expectFacts(grand.ID, "shared", "early, twice corrected", "after two", "main's own", "last")

	f.refused(f.RemovePin(f.ctx, main.ID, again.ID), chat.CodeNotFound)
	f.refused(f.RemovePin(f.ctx, child.ID, again.ID), chat.CodeNotFound)
	_, err = f.EditPin(f.ctx, main.ID, early.ID, "x", 1)
	f.refused(err, chat.CodeNotFound)
	_, err = f.AddPin(f.ctx, main.ID, "", 0)
	f.refused(err, chat.CodeInvalid)
	f.refused(f.MovePin(f.ctx, main.ID, "", 0), chat.CodeInvalid)
	f.verifyClean()
}

// TestABranchThatTakesAPlaceKeepsThePins: an answer that is asked for again follows what was pinned because of the first one.
func TestABranchThatTakesAPlaceKeepsThePins(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("s")
	early := f.pin(main.ID, "early")
	gone := f.pin(main.ID, "gone")
	one := f.full(main.ID, "1", "a")
	f.full(main.ID, "2", "b")
	f.pin(main.ID, "on the last turn")
	_, err := f.EditPin(f.ctx, main.ID, early.ID, "early, corrected", 3)
	f.ok(err)
	f.ok(f.RemovePin(f.ctx, main.ID, gone.ID))
	again, err := f.Fork(f.ctx, chat.ForkPoint{Branch: main.ID, After: one.ID, KeepPins: true})
	f.ok(err)
	f.expectFacts(again.ID, "early, corrected", "on the last turn")
	f.expectFacts(main.ID, "early, corrected", "on the last turn")
	f.expectFacts(f.fork(main.ID, one.ID).ID, "early", "gone") // a fork from there begins with what was pinned there
	f.verifyClean()
}

// TestPinsWithinOneMillisecond: the order of pins and forks does not depend on the clock.
func TestPinsWithinOneMillisecond(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("s")
	before, err := f.AddPin(f.ctx, main.ID, "before", 1)
	f.ok(err)
	child, err := f.Fork(f.ctx, chat.ForkPoint{Branch: main.ID})
	f.ok(err)
	_, err = f.AddPin(f.ctx, main.ID, "after", 1)
	f.ok(err)
	f.ok(f.RemovePin(f.ctx, main.ID, before.ID))
	f.expectFacts(main.ID, "after")
	f.expectFacts(child.ID, "before")
}
