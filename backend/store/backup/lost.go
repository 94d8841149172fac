package backup

import (
	"context"
	"path/filepath"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// MarkFile is written once a database has been created in a data directory. If it exists without a database, the
// history was lost; it is not a first start.
const MarkFile = "history.mark"

// lostSign names something in a data directory that only an earlier history leaves there, or "". A lock is not a
// sign: it is created before the database.
func lostSign(dir string) string {
	journals, _ := filepath.Glob(filepath.Join(sqlite.GlobEscape(dir), sqlite.StreamDir, "*.jsonl"))
	backups, _ := filepath.Glob(filepath.Join(sqlite.GlobEscape(dir), sqlite.BackupDir, "*.db"))
	switch {
	case len(backups) > 0:
		return "backups"
	case len(journals) > 0:
		return "stream journals"
	case !sqlite.Exists(dir, sqlite.DatabaseFile) && sqlite.BytesBeside(filepath.Join(dir, sqlite.DatabaseFile)) > 0: // beside an empty database file it may be from a first start
		return "the write-ahead log"
	case sqlite.Exists(dir, MarkFile):
		return "the history marker"
	}
	return ""
}

// RefuseLost refuses to start with a new database where a missing or empty one shows signs of an earlier history.
func RefuseLost(dir string, have schema.Found) error {
	if have.Version > 0 || have.Started && !sqlite.Exists(dir, MarkFile) {
		return nil
	}
	sign := lostSign(dir)
	if sign == "" {
		return nil
	}
	state := "is missing"
	if sqlite.Exists(dir, sqlite.DatabaseFile) {
		state = "is empty"
	}
	return chat.Errorf(chat.CodeCorrupt, "store.open", "The database %s %s, but its folder contains %s of an earlier one. Nothing was written.",
		filepath.Join(dir, sqlite.DatabaseFile), state, sign).
		WithHint("put the file back and try again, restore a backup (contextinfinity restore PATH), or start fresh with an empty history (contextinfinity restore --fresh), which keeps the remaining files in a folder")
}

// Lost reports whether the database is missing or empty although there are signs of an earlier history, so that
// StartFresh can be offered.
func (a *Archive) Lost(ctx context.Context) bool {
	have, err := schema.Probe(ctx, sqlite.Place{Path: a.database()}, a.steps)
	return err == nil && RefuseLost(a.dir, have) != nil
}

// StartFresh moves the remains of a lost history into a folder, whose path it returns, so that the next start begins
// with an empty history. Backups move too: those of the new history must not replace them.
//
// Errors: CodeLocked, CodeConflict (the database exists), CodeNotFound (there are no remains). An interrupted run can
// be repeated.
func (a *Archive) StartFresh(ctx context.Context) (string, error) {
	const op = "store.fresh"
	return a.putAside(op, func() error {
		have, err := schema.Probe(ctx, sqlite.Place{Path: a.database()}, a.steps)
		switch {
		case err != nil:
			return err
		case have.Version > 0:
			return chat.Errorf(chat.CodeConflict, op, "There are sessions in %s; nothing was changed.", a.dir).
				WithHint("choose another folder with --data-dir to start another history")
		case lostSign(a.dir) == "":
			return chat.Errorf(chat.CodeNotFound, op, "There is no earlier history in %s: the first message starts one.", a.dir)
		}
		return nil
	}, func(aside string) error {
		for _, name := range append(append([]string{}, DatabaseFiles...), sqlite.StreamDir, sqlite.BackupDir, sqlite.ConfirmedFile, MarkFile) { // the marker is moved last
			if err := move(filepath.Join(a.dir, name), filepath.Join(aside, name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// putAside creates a folder for files of the data directory, runs the function that moves them there, and returns the
// folder. It holds the writer's lock and first completes an interrupted restore.
func (a *Archive) putAside(op string, check func() error, put func(aside string) error) (string, error) {
	lock, err := sqlite.LockWriter(a.dir, "")
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Release() }()
	if _, err := a.FinishRestore(); err != nil {
		return "", err
	}
	if err := check(); err != nil {
		return "", sqlite.MapError(op, err)
	}
	aside := filepath.Join(a.dir, core.ReplacedDir, a.clock.Now().Format(backupStamp))
	if err := faultfs.MkdirAll(faultfs.Backup, aside, 0o700); err != nil {
		return "", sqlite.MapError(op, err)
	}
	if err := syncDir(a.dir); err != nil {
		return "", sqlite.MapError(op, err)
	}
	if err := put(aside); err != nil {
		return "", sqlite.MapError(op, err)
	}
	return aside, nil
}
