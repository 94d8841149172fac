package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Backups makes the automatic backups of the data that the program has open.
type Backups struct {
	*core.Core
	Archive *Archive
}

// BackupPolicy says whether a backup is made each day, and how many are kept.
type BackupPolicy struct {
	Daily      bool
	KeepDaily  int // number of the newest daily backups
	KeepWeekly int // number of weeks before those, with one backup for each
	// Brief is for a program that is about to exit and must not be delayed: it makes a backup only if the data is at
	// most briefSize and older than a day.
	Brief bool
}

// backupEvery is the age of the last backup at which the next daily backup is due.
const backupEvery = 24 * time.Hour

// briefSize is the size of the data, in bytes, up to which it is backed up while a person waits: 100 MB take about a
// second.
const briefSize = 32 << 20

// spaceFactor is how many times the size of the data must be free for a daily backup, so that it never takes the space
// that the next messages need.
const spaceFactor = 2

// AutoBackup makes the daily backup if it is due: the last backup, automatic or not, is at least a day old and the data
// has changed since. It then deletes the daily backups that the policy does not keep, and no others. It may be called as
// often as needed.
func (s *Backups) AutoBackup(ctx context.Context, p BackupPolicy) (chat.AutoBackup, error) {
	if err := s.writing(); err != nil {
		return chat.AutoBackup{}, err
	}
	return s.Archive.autoBackup(ctx, p)
}

// writing returns an error unless the program holds the writer's lock.
func (s *Backups) writing() error {
	if s.DB.Writer == nil {
		return chat.Errorf(chat.CodeLocked, "store.backup", "The data is open read-only.")
	}
	return nil
}

// whileOpen does what changes the lock, or the keys in the keyring, of data that is open for writing.
func (s *Backups) whileOpen(do func() error) error {
	if err := s.writing(); err != nil {
		return err
	}
	s.Archive.locks.Lock()
	defer s.Archive.locks.Unlock()
	return do()
}

func (a *Archive) autoBackup(ctx context.Context, p BackupPolicy) (chat.AutoBackup, error) {
	const op = "store.backup"
	if !p.Daily {
		return chat.AutoBackup{Outcome: chat.BackupOff}, nil
	}
	dir := filepath.Join(a.dir, sqlite.BackupDir)
	list, last, err := a.Dailies(dir)
	if err != nil {
		return chat.AutoBackup{}, sqlite.MapError(op, err)
	}
	if !last.IsZero() && a.clock.Now().Sub(last) < backupEvery {
		return chat.AutoBackup{Outcome: chat.BackupRecent}, nil
	}
	out, err := a.createDaily(ctx, dir, list, p.Brief)
	if err != nil || out.Outcome != chat.BackupCreated {
		return out, err
	}
	for _, old := range toPrune(ctx, append([]DailyFile{{out.Made.Path, out.Made.At}}, list...), p) {
		if err := faultfs.Remove(faultfs.Backup, old.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, sqlite.MapError(op, err)
		}
		out.Removed = append(out.Removed, old.Path)
	}
	return out, sqlite.MapError(op, syncDir(dir))
}

// createDaily makes the daily backup, unless there is nothing new to back up or too little space, or the data is too
// large or too new for a brief one.
func (a *Archive) createDaily(ctx context.Context, dir string, list []DailyFile, brief bool) (chat.AutoBackup, error) {
	now := a.clock.Now()
	// A backup dated in the future was made before the clock was set back.
	past := slices.DeleteFunc(slices.Clone(list), func(d DailyFile) bool { return d.At.After(now) })
	if len(past) > 0 {
		same, err := a.unchangedSince(ctx, past[0].Path)
		if err != nil || same {
			return chat.AutoBackup{Outcome: chat.BackupUnchanged}, err
		}
	}
	if len(list) == 0 {
		hasData, err := a.hasUserData(ctx)
		if err != nil || !hasData {
			return chat.AutoBackup{Outcome: chat.BackupUnchanged}, err
		}
	}
	size := sqlite.SizeOf(a.database()) + sqlite.SizeOf(a.database()+"-wal")
	if brief {
		isNew, err := a.isFirstDay(ctx)
		if err != nil || isNew || size > briefSize {
			return chat.AutoBackup{Outcome: chat.BackupLater}, err
		}
	}
	if err := sqlite.MakeDir(dir); err != nil {
		return chat.AutoBackup{}, sqlite.MapError("store.backup", err)
	}
	free, err := sqlite.FreeSpace(dir)
	if err != nil {
		return chat.AutoBackup{}, sqlite.MapError("store.backup", err)
	}
	if free < spaceFactor*size {
		return chat.AutoBackup{Outcome: chat.BackupNoSpace, Need: spaceFactor * size, Free: free}, nil
	}
	b, err := a.writeVerified(ctx, filepath.Join(dir, BackupName(LabelDaily, now)), chat.BackupDaily, shouldVerify(ctx, now, list, brief))
	return chat.AutoBackup{Outcome: chat.BackupCreated, Made: b}, err
}

// isFirstDay reports whether no session is older than a day.
func (a *Archive) isFirstDay(ctx context.Context) (bool, error) {
	hasOlder, err := a.hasRow(ctx, `SELECT 1 FROM sessions WHERE created_at < ? LIMIT 1`, chat.FormatTime(a.clock.Now().Add(-backupEvery)))
	return err == nil && !hasOlder, err
}

// hasUserData reports whether the user has saved anything. A backup made before that would delay the first useful one by
// a day.
func (a *Archive) hasUserData(ctx context.Context) (bool, error) {
	return a.hasRow(ctx, `SELECT 1 WHERE EXISTS (SELECT 1 FROM turns) OR EXISTS (SELECT 1 FROM drafts) OR EXISTS (SELECT 1 FROM projects)
		OR EXISTS (SELECT 1 FROM assistants) OR EXISTS (SELECT 1 FROM saved_prompts)`)
}

// hasRow reports whether a query of the current data returns a row.
func (a *Archive) hasRow(ctx context.Context, query string, args ...any) (bool, error) {
	db, err := sqlite.Connect(a.database(), sqlite.ReadBackPragmas, 1)
	if err != nil {
		return false, sqlite.MapError("store.backup", err)
	}
	defer func() { _ = sqlite.Disconnect(db) }()
	rows, err := sqlite.All[int](db.WithContext(ctx), query, args...)
	return len(rows) > 0, sqlite.MapError("store.backup", err)
}

// unchangedSince reports whether the data is still as it was when a backup was made. An unreadable backup counts as
// outdated.
func (a *Archive) unchangedSince(ctx context.Context, path string) (bool, error) {
	var b chat.Backup
	backup, err := sqlite.Connect(path, sqlite.ReadBackPragmas, 1)
	if err != nil {
		return false, nil
	}
	defer func() { _ = sqlite.Disconnect(backup) }()
	saved, hasInfo, err := readInfo(backup.WithContext(ctx), &b)
	if err != nil || !hasInfo {
		return false, ctx.Err()
	}
	db, err := sqlite.Connect(a.database(), sqlite.ReadBackPragmas, 1)
	if err != nil {
		return false, sqlite.MapError("store.backup", err)
	}
	defer func() { _ = sqlite.Disconnect(db) }()
	db = db.WithContext(ctx)
	journals, err := a.Journals()
	if err != nil {
		return false, sqlite.MapError("store.backup", err)
	}
	files, err := NeededJournals(db, db, journals)
	if err != nil {
		return false, sqlite.MapError("store.backup", err)
	}
	if text, err := os.ReadFile(a.ConfigFile); err == nil {
		files[schema.ConfigName] = text
	}
	current, err := fingerprintOf(db, files)
	return current == saved, sqlite.MapError("store.backup", err)
}

// unchangedBackup returns the path of the newest backup in a folder with label in its name, if it is intact and the data
// has not changed since; otherwise "".
func (a *Archive) unchangedBackup(ctx context.Context, dir, label string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", sqlite.MapError("store.backup", err)
	}
	b := chat.Backup{}
	for _, e := range entries { // sorted by name, and so by time
		if _, at, ok := ParseName(e.Name()); ok && e.Name() == BackupName(label, at) {
			b.Path = filepath.Join(dir, e.Name())
		}
	}
	if b.Path == "" {
		return "", nil
	}
	if describeBackup(ctx, &b, true); b.Problem != "" || !b.Checked {
		return "", sqlite.MapError("store.backup", ctx.Err())
	}
	same, err := a.unchangedSince(ctx, b.Path)
	if err != nil || !same {
		return "", err
	}
	return b.Path, nil
}

// DailyFile is a daily backup, recognized by its name.
type DailyFile struct {
	Path string
	At   time.Time
}

// Dailies lists the daily backups, newest first. It also removes empty files with which an interrupted backup reserved a
// name more than a day ago. last is the time of the latest backup of any kind,
// except those made before a restore: they hold the data that the restore replaced.
func (a *Archive) Dailies(dir string) (list []DailyFile, last time.Time, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, last, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // removed in the meantime
		}
		path := filepath.Join(dir, e.Name())
		kind, at, ok := ParseName(e.Name())
		if ok && info.Size() > 0 {
			if kind == chat.BackupDaily {
				list = append(list, DailyFile{path, at})
			}
			if kind != chat.BackupBeforeRestore && at.After(last) && !at.After(a.clock.Now()) {
				last = at
			}
		}
		if ok && kind == chat.BackupDaily && info.Size() == 0 && time.Since(info.ModTime()) > backupEvery {
			_ = faultfs.Remove(faultfs.Backup, path)
		}
	}
	slices.SortFunc(list, func(x, y DailyFile) int { return y.At.Compare(x.At) })
	return list, last, nil
}

// ToKeep returns the daily backups to keep: the one made last, which is first in the list, the newest ones by date, and
// the newest of each week before those.
func ToKeep(list []DailyFile, p BackupPolicy) []DailyFile {
	byDate := slices.Clone(list)
	slices.SortFunc(byDate, func(x, y DailyFile) int { return y.At.Compare(x.At) })
	var out []DailyFile
	weeks := map[string]bool{}
	for i, d := range byDate {
		year, week := d.At.ISOWeek()
		name := fmt.Sprintf("%d/%d", year, week)
		switch {
		case i < p.KeepDaily || d == list[0]:
			out = append(out, d)
		case !weeks[name] && len(weeks) < p.KeepWeekly:
			weeks[name] = true
			out = append(out, d)
		}
	}
	return out
}
