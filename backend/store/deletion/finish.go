package deletion

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/internal/faults"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/search"
	"contextinfinity/backend/store/sqlite"
)

// FinishDeletions completes permanent deletions: it removes their files, rewrites the database so that no freed or
// truncated page keeps a remainder, and empties the write-ahead log. It can be repeated safely.
//
// secure_delete alone is not enough: it only wipes what is deleted while it is on, and older pages have remainders.
func FinishDeletions(ctx context.Context, s *Deletion) error {
	rows, err := sqlite.All[schema.ReceiptRow](s.DB.Writer.WithContext(ctx), `SELECT * FROM receipts WHERE json_valid(counts_json)
		AND counts_json ->> '$.pending' IS NOT NULL ORDER BY id`)
	if err != nil || len(rows) == 0 {
		return sqlite.MapError(OpDelete, err)
	}
	err = errors.Join(faults.Point("delete.written"), search.DeleteVectorCache(s.search))
	for _, r := range rows {
		if err == nil {
			err = s.removeFiles(r)
		}
	}
	if err == nil {
		err = s.rewrite(ctx)
	}
	if err == nil {
		err = s.emptyLog(ctx)
	}
	if err == nil {
		err = faults.Point("delete.rewritten")
	}
	if err != nil {
		return sqlite.MapError(OpDelete, err)
	}
	return s.Write(ctx, "content.deleted", func(t *core.Tx) error {
		for _, r := range rows {
			if err := t.Run(`UPDATE receipts SET counts_json = json_remove(counts_json, '$.pending') WHERE id = ?`, r.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeFiles removes the files that a receipt names, durably.
func (s *Deletion) removeFiles(r schema.ReceiptRow) error {
	pending, _, err := r.Pending()
	if err != nil {
		return err
	}
	for _, name := range pending.Folders {
		if !filepath.IsLocal(name) {
			return sqlite.CorruptRecord("receipts", r.ID, nil)
		}
		if err := os.RemoveAll(filepath.Join(s.Dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	for _, name := range pending.Files {
		path := filepath.Join(s.Dir, filepath.FromSlash(name))
		if !filepath.IsLocal(name) {
			return sqlite.CorruptRecord("receipts", r.ID, nil)
		}
		if err := faultfs.Remove(faultfs.Data, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := faults.Point("delete.file"); err != nil {
			return err
		}
	}
	if len(pending.Files) == 0 {
		return nil
	}
	return faultfs.SyncDir(faultfs.Data, filepath.Join(s.Dir, sqlite.StreamDir))
}

// VacuumInMemory is the size up to which a database is rewritten in memory; a larger one uses an unnamed file in the
// data directory.
var VacuumInMemory int64 = 128 << 20

// rewrite rewrites the database.
func (s *Deletion) rewrite(ctx context.Context) error {
	return s.DB.Writer.WithContext(ctx).Connection(func(db *gorm.DB) error {
		if err := db.Exec(`PRAGMA secure_delete = ON`).Error; err != nil {
			return err
		}
		defer db.Exec(`PRAGMA secure_delete = OFF`)
		if sqlite.SizeOf(s.Path()) > VacuumInMemory {
			// The default temporary directory may be on another disk, full, or readable by others.
			if err := errors.Join(db.Exec(`PRAGMA temp_store = FILE`).Error, db.Exec(`PRAGMA temp_store_directory = `+"'"+strings.ReplaceAll(s.Dir, "'", "''")+"'").Error); err != nil {
				return err
			}
			defer db.Exec(`PRAGMA temp_store = MEMORY`)
			defer db.Exec(`PRAGMA temp_store_directory = ''`)
		}
		return db.Exec(`VACUUM`).Error
	})
}

// readerTimeout limits how long emptying the log waits for readers.
const readerTimeout = 20 * time.Second

// emptyLog checkpoints the write-ahead log and truncates it: its pages hold earlier content.
func (s *Deletion) emptyLog(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readerTimeout)
	defer cancel()
	for {
		row, err := sqlite.One[struct{ Busy int }](s.DB.Writer.WithContext(ctx), "log", "", `PRAGMA wal_checkpoint(TRUNCATE)`)
		if err == nil && row.Busy == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return chat.Errorf(chat.CodeBusy, OpDelete, "Another program is reading the data.")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
