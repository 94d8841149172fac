package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/store/sqlite"
)

// DamagedLog reports whether the write-ahead log is damaged, so that DropLog can leave it out.
func (a *Archive) DamagedLog() bool {
	damage, err := sqlite.DamagedLog(a.dir)
	return err == nil && damage != ""
}

// DropLog makes data with a damaged write-ahead log writable again. It drops the changes in the log that cannot be
// read. The original files are first copied to a folder, whose path it returns.
//
// It tries two versions on copies: the database with the readable part of the log, and the database without the log,
// which may be complete because the log was already checkpointed. If both are intact, it takes the one with more
// events.
//
// Errors: CodeLocked, CodeNotFound (the log is not damaged), CodeNoSpace, CodeCorrupt (neither version is intact;
// nothing was changed). An interrupted run can be repeated.
func (a *Archive) DropLog(ctx context.Context) (string, error) {
	const op = "store.drop_log"
	return a.putAside(op, func() error {
		damage, err := sqlite.DamagedLog(a.dir)
		if err == nil && damage == "" {
			err = chat.Errorf(chat.CodeNotFound, op, "The write-ahead log in %s is not damaged; nothing was changed.", a.dir)
		}
		return err
	}, func(aside string) error {
		withLog, err := a.keepLog(ctx, aside)
		if err != nil {
			_ = os.RemoveAll(aside)
			return err
		}
		toRemove := []string{sqlite.ConfirmedFile}
		if !withLog {
			toRemove = []string{sqlite.DatabaseFile + "-shm", sqlite.DatabaseFile + "-wal", sqlite.ConfirmedFile}
		}
		for _, name := range toRemove {
			if err := faultfs.Remove(faultfs.Backup, filepath.Join(a.dir, name)); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
		return syncDir(a.dir)
	})
}

// keepLog copies the database, its log and its marker into a folder, and reports whether the readable part of the log
// belongs to the database.
func (a *Archive) keepLog(ctx context.Context, aside string) (withLog bool, err error) {
	for _, name := range []string{sqlite.DatabaseFile, sqlite.DatabaseFile + "-wal", sqlite.ConfirmedFile} {
		to := filepath.Join(aside, name)
		if err := errors.Join(sqlite.CopyFile(filepath.Join(a.dir, name), to), syncFile(to)); err != nil {
			return false, err
		}
	}
	if err := errors.Join(syncDir(aside), syncDir(filepath.Dir(aside)), syncDir(a.dir)); err != nil {
		return false, err
	}
	with, err := countIntactEvents(ctx, aside, sqlite.DatabaseFile, sqlite.DatabaseFile+"-wal")
	if err != nil {
		return false, err
	}
	withoutLog, err := countIntactEvents(ctx, aside, sqlite.DatabaseFile)
	if err == nil && with < 0 && withoutLog < 0 {
		err = chat.Errorf(chat.CodeCorrupt, "store.drop_log", "The database is damaged, both with and without the readable part of its log. Nothing was changed.").
			WithHint("restore a backup (contextinfinity backups, contextinfinity restore)")
	}
	return with > withoutLog, err
}

// countIntactEvents checks a copy of the files (the check modifies it) and returns its number of events; negative:
// damaged.
func countIntactEvents(ctx context.Context, from string, names ...string) (events int64, err error) {
	folder, err := atrest.MakeFolder(from, atrest.CheckPrefix)
	if err != nil {
		return 0, err
	}
	defer func() { _ = folder.Remove() }()
	dir := folder.Path
	for _, name := range names {
		if err := sqlite.CopyFile(filepath.Join(from, name), filepath.Join(dir, name)); err != nil {
			return 0, err
		}
	}
	pool, err := sqlite.Connect(filepath.Join(dir, sqlite.DatabaseFile), sqlite.CommonPragmas, 1)
	if err != nil {
		return -1, nil //nolint:nilerr // cannot be opened: damaged
	}
	defer func() { _ = sqlite.Disconnect(pool) }()
	db := pool.WithContext(ctx)
	lines, err := sqlite.All[string](db, `PRAGMA integrity_check(1)`)
	broken, brokenErr := sqlite.All[string](db, `SELECT "table" FROM pragma_foreign_key_check LIMIT 1`)
	count, countErr := sqlite.One[int64](db, "count", "", `SELECT count(*) FROM events`)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err := errors.Join(err, brokenErr, countErr); err != nil || len(lines) != 1 || lines[0] != "ok" || len(broken) > 0 {
		return -1, nil //nolint:nilerr // cannot be read: damaged
	}
	return count, nil
}
