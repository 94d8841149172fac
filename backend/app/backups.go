package app

import (
	"context"
	"fmt"
	"sync/atomic"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/store"
)

// backupNotice remembers the last reported failure of a backup, so that it is not reported again at every attempt.
type backupNotice struct{ lastKey atomic.Value }

// once returns err unless the last call had the same key.
func (n *backupNotice) once(key string, err error) error {
	if n.lastKey.Swap(key) == key {
		return nil
	}
	return err
}

// backUp makes the daily backup if it is due. It returns only errors that have not been reported yet.
func (a *app) backUp(ctx context.Context) error { return a.backUpAs(ctx, false) }

func (a *app) backUpAs(ctx context.Context, brief bool) error {
	c := a.Config.Config().Backup
	out, err := a.Store.AutoBackup(ctx, store.BackupPolicy{Daily: c.Daily, KeepDaily: c.KeepDaily, KeepWeekly: c.KeepWeekly, Brief: brief})
	switch {
	case err != nil:
		return a.backups.once(err.Error(), err)
	case out.Outcome == chat.BackupNoSpace:
		return a.backups.once(string(out.Outcome), chat.Errorf(chat.CodeNoSpace, "backup.daily",
			"No daily backup is made while the disk has less than %d MB free (it has %d MB). Your conversations are still saved.",
			out.Need>>20+1, out.Free>>20).WithHint("free some space, or turn backup.daily off"))
	case out.Outcome == chat.BackupCreated && out.Made.Problems > 0:
		a.Log.Warn("the daily backup contains damaged records", "file", out.Made.Path, "problems", out.Made.Problems, "first", out.Made.Findings[0].Message)
		return a.backups.once("damaged", damagedBackup(out.Made))
	case out.Outcome == chat.BackupCreated:
		a.Log.Info("made the daily backup", "file", out.Made.Path, "bytes", out.Made.Bytes, "removed", len(out.Removed))
		_ = a.backups.once("", nil)
	}
	return nil
}

// damagedBackup describes a daily backup in which verify found problems.
func damagedBackup(b chat.Backup) error {
	return chat.Errorf(chat.CodeCorrupt, "backup.daily", "%s damaged, also in today's backup. Everything else can be read, and older backups without damage are kept.", damagedRecords(b.Problems)).
		WithHint("“Check everything” in the settings, or contextinfinity verify, lists the records; restore an older backup if you need them")
}

func damagedRecords(n int) string {
	if n == 1 {
		return "1 record of your data is"
	}
	return fmt.Sprintf("%d records of your data are", n)
}

// closeVerb closes the data after a verb. If the data is small, it makes the daily backup first, for users who only use
// the command line.
func (a *app) closeVerb(o cli.OpenOptions) error {
	if !o.ReadOnly {
		if err := a.backUpAs(context.Background(), true); err != nil {
			a.Log.Warn("the daily backup could not be made", "err", err)
		}
	}
	return a.close()
}
