package store

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/backup"
	"contextinfinity/backend/store/sqlite"
)

// inFile closes the database, changes its file and opens it again.
func (f *fixture) inFile(change func(data []byte)) {
	f.Helper()
	f.checkpoint()
	f.ok(f.Store.Close())
	path := filepath.Join(f.dir, sqlite.DatabaseFile)
	data, err := os.ReadFile(path)
	f.ok(err)
	change(data)
	f.ok(os.WriteFile(path, data, 0o600))
	f.reopen()
}

// swapWord replaces every occurrence of a word in the database file with another word of the same length.
func (f *fixture) swapWord(from, to string) {
	f.Helper()
	f.inFile(func(data []byte) {
		n := 0
		for at := bytes.Index(data, []byte(from)); at >= 0; at = bytes.Index(data, []byte(from)) {
			copy(data[at:], to)
			n++
		}
		if n == 0 {
			f.Fatalf("%q is not in the file", from)
		}
	})
}

// nextDay changes the data, so that a backup is due, and makes the daily backup.
func (f *fixture) nextDay(branch chat.Branch) chat.AutoBackup {
	f.Helper()
	f.clock.Advance(25 * time.Hour)
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: branch.ID, Message: chat.UserText(f.clock.Now().String())}))
	out, err := f.AutoBackup(f.ctx, backup.BackupPolicy{Daily: true, KeepDaily: 2, KeepWeekly: 1})
	f.ok(err)
	if out.Outcome != chat.BackupCreated {
		f.Fatalf("a daily backup was %s", out.Outcome)
	}
	return out
}

func (f *fixture) backups(check bool) (healthy, damaged []string) {
	f.Helper()
	list, err := f.backupPart.Archive.Backups(f.ctx, check)
	f.ok(err)
	for _, b := range list {
		if b.Problem != "" || b.Problems > 0 {
			damaged = append(damaged, b.Path)
		} else {
			healthy = append(healthy, b.Path)
		}
	}
	return healthy, damaged
}

// TestBackupsOfDamagedDataDoNotReplaceHealthyOnes: backups that contain damage never displace healthy ones, however
// many days the damage lasts. Their number is limited as usual, and once the data is repaired they are pruned like
// any other.
func TestBackupsOfDamagedDataDoNotReplaceHealthyOnes(t *testing.T) {
	plainOnly(t)
	f := newFixture(t)
	s, b := f.session("s")
	f.file(s.ID, "plan.txt", "unmistakable")
	for range 5 {
		if made := f.nextDay(b); made.Made.Problems != 0 {
			t.Fatalf("valid data: %+v", made.Made.Findings)
		}
	}
	before, _ := f.backups(false)
	if len(before) != 3 {
		t.Fatalf("there are %d valid backups", len(before))
	}
	f.swapWord("unmistakable", "unmistakeble")
	for range 4 {
		made := f.nextDay(b)
		if made.Made.Problems == 0 || len(made.Made.Findings) == 0 || made.Made.Findings[0].Table != "files" {
			t.Fatalf("%d problems: %+v", made.Made.Problems, made.Made.Findings)
		}
	}
	healthy, damaged := f.backups(false)
	if !slices.Equal(healthy, before) || len(damaged) != 3 {
		t.Errorf("%d of %d valid ones are left, and %d damaged ones", len(healthy), len(before), len(damaged))
	}
	checked, _ := f.backups(true)
	if !slices.Equal(checked, healthy) {
		t.Errorf("%d were reported as valid, %d are", len(healthy), len(checked))
	}
	f.swapWord("unmistakeble", "unmistakable")
	for range 4 {
		f.nextDay(b)
	}
	if healthy, _ = f.backups(false); len(healthy) != 3 || slices.Contains(healthy, before[0]) && slices.Contains(healthy, before[1]) {
		t.Errorf("after the repair, %d valid ones are left", len(healthy))
	}
}

// TestADamagedPagePreventsTheBackup: no backup is made of a file with a damaged page, and none is removed.
func TestADamagedPagePreventsTheBackup(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.accept(b.ID, "hello")
	for range 4 {
		f.nextDay(b)
	}
	before, _ := f.backups(false)
	root, err := sqlite.One[int](f.core.DB.Reader, "table", "turns", `SELECT rootpage FROM sqlite_master WHERE name = 'turns'`)
	f.ok(err)
	f.inFile(func(data []byte) {
		const page = 8192
		copy(data[(root-1)*page:], bytes.Repeat([]byte{0xEE}, 200))
	})
	for day := range 5 {
		f.clock.Advance(25 * time.Hour)
		f.ok(f.core.DB.Writer.Exec(`UPDATE drafts SET updated_at = ?`, chat.FormatTime(f.clock.Now())).Error)
		_, err := f.AutoBackup(f.ctx, sevenAndFour)
		if chat.CodeOf(err) != chat.CodeCorrupt {
			t.Fatalf("day %d: %v", day, err)
		}
	}
	if after, damaged := f.backups(false); !slices.Equal(before, after) || len(damaged) != 0 {
		t.Errorf("%d valid ones of %d, %d damaged", len(after), len(before), len(damaged))
	}
}

// TestBriefBackupsAreVerifiedWeekly: where a user waits for the backup, only one a week is verified, and unverified
// backups never replace one that was verified as healthy.
func TestBriefBackupsAreVerifiedWeekly(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	for range 3 {
		f.nextDay(b)
	}
	verified, _ := f.backups(false)
	var verifiedOn []int
	for day := range 16 {
		f.clock.Advance(25 * time.Hour)
		f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: chat.UserText(f.clock.Now().String())}))
		out, err := f.AutoBackup(f.ctx, backup.BackupPolicy{Daily: true, KeepDaily: 2, KeepWeekly: 0, Brief: true})
		f.ok(err)
		if backup.BackupHealthOf(f.ctx, out.Made.Path) == backup.BackupHealthy {
			verifiedOn = append(verifiedOn, day)
		} else if s, _ := f.backups(false); len(verifiedOn) == 0 && !slices.Contains(s, verified[0]) {
			t.Errorf("day %d: an unverified backup replaced a valid one", day)
		}
	}
	if !slices.Equal(verifiedOn, []int{6, 13}) {
		t.Errorf("verified on days %v", verifiedOn)
	}
}
