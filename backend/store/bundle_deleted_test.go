package store

import (
	"bytes"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/sqlite"
)

// sessionWithDeletion returns a session from which one turn and its document were permanently deleted, with bundles
// exported before and after the deletion.
func sessionWithDeletion(f *fixture) (s chat.Session, before, after []byte) {
	f.Helper()
	s, b := f.session("plans")
	f.full(b.ID, "hello", "good day")
	turn := f.attach(b.ID, f.file(s.ID, "secret.txt", "the password is zanzibar"))
	f.commitAll(b.ID)
	f.index(turn.ID)
	f.full(b.ID, "and then", "nothing more")
	before = f.bundled(s.ID)
	_, err := f.Delete(f.ctx, chat.DeletionTurn, string(turn.ID))
	f.ok(err)
	return s, before, f.bundled(s.ID)
}

// TestDeletedContentIsNotExported: a bundle that is exported after a permanent deletion contains nothing of the
// deleted turn, and is still complete.
func TestDeletedContentIsNotExported(t *testing.T) {
	from, to := newFixture(t), newFixture(t)
	s, _, after := sessionWithDeletion(from)
	for name, text := range entries(t, after) {
		if strings.Contains(text, "zanzibar") {
			t.Errorf("%s contains deleted text", name)
		}
	}
	got, notices := to.imported(after)
	if got.Outcome != chat.ImportCreated || len(notices) > 0 {
		t.Errorf("%+v %q", got, notices)
	}
	if from.dump(s.ID) != to.dump(s.ID) {
		t.Error(firstDifference(from.dump(s.ID), to.dump(s.ID)))
	}
	to.verifyClean()
	to.expectReplayable(s.ID)
	for name, want := range entries(t, after) {
		if have := entries(t, to.bundled(s.ID))[name]; have != want {
			t.Errorf("%s differs: %s", name, firstDifference(want, have))
		}
	}
	to.asOne(s.ID)
	to.ok(to.RenameSession(to.ctx, s.ID, "elsewhere"))
	from.ok(from.RenameSession(from.ctx, s.ID, "here"))
	if got, _ := to.imported(from.bundled(s.ID)); got.Outcome != chat.ImportCopied || strings.Contains(got.Notice, "deleted") {
		t.Errorf("diverged: %+v", got)
	}
	to.verifyClean()
}

// TestBundlesFromBeforeAndAfterADeletion: importing an older bundle does not bring deleted content back, and
// importing a newer one does not delete content here.
func TestBundlesFromBeforeAndAfterADeletion(t *testing.T) {
	f := newFixture(t)
	s, before, after := sessionWithDeletion(f)
	if got, _ := f.imported(before); got.Outcome != chat.ImportAlready {
		t.Errorf("the bundle from before: %+v", got)
	}
	if dump := f.dump(s.ID); strings.Contains(dump, "zanzibar") {
		t.Error("it is back")
	}
	other := newFixture(t)
	other.imported(before)
	if got, _ := other.imported(after); got.Outcome != chat.ImportCopied || got.Session == s.ID {
		t.Errorf("the bundle from after, where nothing was deleted: %+v", got)
	}
	if dump := other.dump(s.ID); !strings.Contains(dump, "zanzibar") {
		t.Error("it was deleted without a request")
	}
	other.verifyClean()
	other.ok(other.RenameSession(other.ctx, s.ID, "went on"))
	longer := other.bundled(s.ID)
	if got, _ := f.imported(longer); got.Outcome != chat.ImportMerged || strings.Contains(f.dump(s.ID), "zanzibar") {
		t.Errorf("a bundle without it: %+v", got)
	}
	if got, _ := other.imported(f.bundled(s.ID)); got.Outcome != chat.ImportCopied || !strings.Contains(other.dump(s.ID), "zanzibar") {
		t.Errorf("a document was deleted without a request: %+v", got)
	}
	f.verifyClean()
	_, err := f.Delete(f.ctx, chat.DeletionSession, string(s.ID))
	f.ok(err)
	if got, _ := f.imported(after); got.Outcome != chat.ImportCreated || !strings.Contains(got.Notice, "deleted here") {
		t.Errorf("after the session was deleted: %+v", got)
	}
	f.verifyClean()
}

// TestDeletedMarksNeedADeletionEvent: "[erased]" is accepted in place of content only if the ledger contains the
// deletion.
func TestDeletedMarksNeedADeletionEvent(t *testing.T) {
	f := newFixture(t)
	_, _, after := sessionWithDeletion(newFixture(t))
	e := rawEntries(t, after)
	f.refusedImport(packed(t, with(e, "events.ndjson", replaced(`[erased]`, `[harmless]`))), chat.CodeCorrupt, "no permanent deletion put it there")
	last := strings.SplitAfter(e["events.ndjson"], "\n")
	for i, text := range last { // cut the ledger before the deletion event
		if strings.Contains(text, string(ledger.EventContentDeleted)) {
			last = last[:i]
			break
		}
	}
	torn := with(e, "events.ndjson", func(string) string { return strings.Join(last, "") + `{"torn` })
	f.refusedImport(packed(t, torn), chat.CodeCorrupt, "no permanent deletion put it there")
}

// TestImportedQuotationsAreLinked: a request that quotes another session is linked to the quoted chunks, whichever of
// the two is imported first, so that deleting the quoted session finds it.
func TestImportedQuotationsAreLinked(t *testing.T) {
	from := newFixture(t)
	d := seed(from)
	quoting := from.bundled(d.Prepared.SessionID)
	quoted := from.bundled(d.Session.ID)
	for name, order := range map[string][][]byte{"the quoted one last": {quoting, quoted}, "the quoted one first": {quoted, quoting}} {
		to := newFixture(t)
		for _, b := range order {
			to.imported(b)
		}
		n, err := sqlite.One[int](to.core.DB.Reader, "records", "", `SELECT count(*) FROM retrieved r JOIN turns t ON t.n = r.turn_n WHERE t.id = ?`, d.Prepared.ID)
		to.ok(err)
		if n != 2 {
			t.Errorf("%s: %d of 2 chunks are known", name, n)
		}
		if !bytes.Equal(to.manifest(d.Prepared.ID), from.manifest(d.Prepared.ID)) {
			t.Errorf("%s: the manifest differs", name)
		}
		to.verifyClean()
	}
}

func (f *fixture) manifest(id chat.TurnID) []byte {
	f.Helper()
	m, err := f.Manifest(f.ctx, id)
	f.ok(err)
	return m
}
