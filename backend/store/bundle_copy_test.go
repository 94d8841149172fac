package store

import (
	"bytes"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// TestACopyRefersToItself: the manifests and the records of what was retrieved name the chunks of the copy, except
// those of other sessions; what is deleted in the copy is deleted from its requests, and the original keeps its own.
func TestACopyRefersToItself(t *testing.T) {
	from, to := newFixture(t), newFixture(t)
	other, a := from.session("other")
	foreign := from.remembered(a.ID, 2)
	s, b := from.session("diverging")
	all := from.remembered(b.ID, 3)
	own := all[len(foreign):]
	turn := from.accept(b.ID, "what was it?")
	_, _, step := from.remember(turn, "", own...)
	_, err := from.FailTurn(from.ctx, chat.TurnFailure{TurnID: turn.ID, Step: from.ended(step, chat.StepFailed, ""), Outcome: chat.OutcomeFailed})
	from.ok(err)
	mixed := from.accept(b.ID, "and there?")
	_, request, step := from.remember(mixed, "", own[0], foreign[0])
	_, err = from.FailTurn(from.ctx, chat.TurnFailure{TurnID: mixed.ID, Step: from.ended(step, chat.StepFailed, ""), Outcome: chat.OutcomeFailed})
	from.ok(err)
	to.imported(from.bundled(other.ID))
	to.imported(from.bundled(s.ID))
	to.asOne(s.ID)
	to.ok(to.RenameSession(to.ctx, s.ID, "ours"))
	from.ok(from.RenameSession(from.ctx, s.ID, "theirs"))
	got, _ := to.imported(from.bundled(s.ID))
	if got.Outcome != chat.ImportCopied {
		t.Fatalf("%+v", got)
	}
	to.verifyClean()
	turns := to.turnsOf(got.Session)
	if left, err := to.QuotingRequests(to.ctx, got.Session); err != nil || left != 1 {
		t.Errorf("%d of its requests quote other sessions: %v", left, err)
	}
	for i, c := range own {
		if c.SourceTurn == turns[0].ID || bytes.Contains(to.manifest(turns[3].ID), []byte(c.ID)) || bytes.Contains(to.manifest(turns[3].ID), []byte(c.SourceTurn)) {
			t.Errorf("the manifest names chunk %d of the original", i)
		}
	}
	if m := to.manifest(turns[4].ID); bytes.Contains(m, []byte(own[0].ID)) || !bytes.Contains(m, []byte(foreign[0].ID)) {
		t.Errorf("the manifest with a passage of another session is %s", m)
	}
	used, err := sqlite.One[int](to.core.DB.Reader, "uses", "", `SELECT count(*) FROM retrieved r JOIN chunks c ON c.n = r.chunk_n JOIN turns t ON t.n = r.turn_n
		WHERE c.session_id = ? AND t.session_id = ?`, got.Session, got.Session)
	if to.ok(err); used != len(own)+1 {
		t.Errorf("%d uses of its chunks are recorded, want %d", used, len(own)+1)
	}
	_, err = to.Delete(to.ctx, chat.DeletionTurn, string(turns[0].ID))
	to.ok(err)
	for i, request := range to.requests(got.Session)[3:] {
		if !strings.HasPrefix(request, `{"erased":`) {
			t.Errorf("request %d still contains what was deleted: %.80q", i, request)
		}
	}
	if requests := to.requests(s.ID); requests[4] != string(request) {
		t.Errorf("the original's request is now %.80q", requests[4])
	}
	to.verifyClean()
	_, err = to.Delete(to.ctx, chat.DeletionSession, string(s.ID))
	to.ok(err)
	to.verifyClean()
}

// turnsOf returns the turns on a session's first branch.
func (f *fixture) turnsOf(s chat.SessionID) []chat.Turn {
	f.Helper()
	branches, err := f.Branches(f.ctx, s)
	f.ok(err)
	turns, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: branches[0].ID})
	f.ok(err)
	return turns
}
