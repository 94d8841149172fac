package store

import (
	"path/filepath"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// A restore reports which permanent deletions it undoes: those whose content is in the backup but no longer in the
// data.
func TestRestoreReportsWhatComesBack(t *testing.T) {
	f := newFixture(t)
	_, talk := f.session("talk")
	before, after := f.say(talk.ID, "gone before", "told"), f.say(talk.ID, "gone after", "told")
	gone, _ := f.session("gone after")
	remove := func(kind, id string) chat.Receipt {
		t.Helper()
		f.clock.Advance(time.Hour)
		receipt, err := f.Delete(f.ctx, kind, id)
		f.ok(err)
		return receipt
	}
	remove(chat.DeletionTurn, string(before.ID))
	backup := f.backup(filepath.Join(t.TempDir(), "copy.db")).Path
	none, err := f.backupPart.Archive.PreviewRestore(f.ctx, backup)
	f.ok(err)
	if len(none.Undone) != 0 {
		t.Errorf("nothing was deleted since: %+v", none.Undone)
	}
	later, _ := f.session("never in the backup")
	remove(chat.DeletionSession, string(later.ID))
	turn := remove(chat.DeletionTurn, string(after.ID))
	session := remove(chat.DeletionSession, string(gone.ID))
	got, err := f.backupPart.Archive.PreviewRestore(f.ctx, backup)
	f.ok(err)
	if len(got.Undone) != 2 || got.Undone[0].ID != session.ID || got.Undone[1].ID != turn.ID || got.Problems != 0 {
		t.Errorf("reported: %+v, %d problems", got.Undone, got.Problems)
	}
	f.ok(f.Store.Close())
	var shown chat.Restoration
	done, err := archiveOf(f.dir).Restore(t.Context(), backup, func(r chat.Restoration) error { shown = r; return nil })
	f.ok(err)
	if len(shown.Undone) != 2 || !done.Done {
		t.Errorf("shown: %+v, %+v", shown.Undone, done)
	}
	if now := titles(t, f.dir); len(now) != 2 {
		t.Errorf("the sessions are now %v", now)
	}
}

// Checking a backup finds the same problems as restoring it.
func TestBackupsAreVerified(t *testing.T) {
	f := newFixture(t)
	s, _ := f.session("s")
	f.ok(f.core.DB.Writer.Exec(`UPDATE sessions SET title = 'changed behind the ledger' WHERE id = ?`, s.ID).Error)
	f.ok(sqlite.MakeDir(filepath.Join(f.dir, sqlite.BackupDir)))
	b := f.backup(filepath.Join(f.dir, sqlite.BackupDir))
	if !b.Checked || b.Problem != "" {
		t.Errorf("the copy is incomplete: %+v", b)
	}
	restored, err := f.backupPart.Archive.PreviewRestore(f.ctx, b.Path)
	f.ok(err)
	for _, check := range []bool{false, true} {
		list, err := f.backupPart.Archive.Backups(f.ctx, check)
		f.ok(err)
		if len(list) != 1 || list[0].Problem != "" || (list[0].Problems > 0) != check || (len(list[0].Findings) > 0) != check {
			t.Errorf("check %v: %+v", check, list)
		}
		if check && list[0].Problems != restored.Problems {
			t.Errorf("%d problems, a restore finds %d", list[0].Problems, restored.Problems)
		}
	}
	if left := leftovers(t, f.dir); left != "" {
		t.Errorf("left: %s", left)
	}
}
