package backup

import (
	"context"
	"fmt"
	"path/filepath"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Mark records that the data directory has a history.
func Mark(s *core.Core) {
	if s.Scratch || s.Copied || sqlite.Exists(s.Dir, MarkFile) {
		return
	}
	text := "ContextInfinity began a history of conversations in this folder at " + chat.FormatTime(s.Clock.Now()) + ".\n"
	if err := atomicfile.Write(filepath.Join(s.Dir, MarkFile), []byte(text), 0o600); err != nil {
		s.Log.Warn("the history marker could not be written; it is tried again at the next start", "err", err)
	}
}

// AdoptBackup handles a backup that somebody put in place of the database by hand: it marks its running steps as
// restored, because the journals there belong to the replaced database. Such a file still has the table that only
// backups have.
func AdoptBackup(ctx context.Context, s *core.Core) error {
	if s.Copied {
		return nil
	}
	byHand, err := schema.HasTable(s.DB.Reader, schema.InfoTable)
	if err != nil || !byHand {
		return err
	}
	return markRestored(ctx, s)
}

// RefuseDamagedLog refuses to write if confirmed changes in the write-ahead log cannot be read: SQLite would drop
// them silently and overwrite them.
func RefuseDamagedLog(dir string) error {
	damage, err := sqlite.DamagedLog(dir)
	if err != nil || damage == "" {
		return sqlite.MapError("store.open", err)
	}
	return chat.Errorf(chat.CodeCorrupt, "store.open", "The newest changes cannot be read, because the database's write-ahead log %s is damaged. %s Nothing was written.",
		filepath.Join(dir, sqlite.DatabaseFile+"-wal"), damage).
		WithHint("restore a backup (contextinfinity backups, contextinfinity restore), or continue without these changes (contextinfinity restore --drop-log), which keeps the damaged files in a folder. If the folder was copied while the program ran, copy it again while it does not")
}

// LogNote says that the newest changes are missing from a read-only view because the write-ahead log is damaged;
// empty: it is not.
func (a *Archive) LogNote() string {
	damage, err := sqlite.DamagedLog(a.dir)
	if err != nil || damage == "" {
		return ""
	}
	return fmt.Sprintf("The newest changes are missing here, because the database's write-ahead log %s is damaged. %s Everything before them can be read, and nothing was changed. "+
		"Restore a backup (contextinfinity backups, contextinfinity restore), or continue without these changes (contextinfinity restore --drop-log).",
		filepath.Join(a.dir, sqlite.DatabaseFile+"-wal"), damage)
}
