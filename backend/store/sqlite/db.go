// Package sqlite is the database file: how it is opened, locked, read and written in
// transactions, what guards it against being replaced or cut off, and the words for what
// goes wrong with it. It knows no table.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/faults"
)

// DB is a database file that is open: one connection that writes, and some that read.
type DB struct {
	Writer *gorm.DB // one connection; nil when read-only
	Reader *gorm.DB
	Clock  clock.Clock
	Log    *slog.Logger

	Identity  identity // of its file
	confirmed logMark  // how far its log is confirmed
}

// Tx is a writing transaction: the only handle inside it, one moment throughout.
type Tx struct {
	ctx context.Context
	DB  *gorm.DB
	Now time.Time
}

// Stamp is the transaction's moment as it is stored.
func (t *Tx) Stamp() string { return chat.FormatTime(t.Now) }

// NewID returns a fresh identifier at the transaction's moment.
func (t *Tx) NewID() string { return chat.NewID(t.Now) }

// Exec runs a statement and reports how many rows it changed.
func (t *Tx) Exec(query string, args ...any) (int64, error) {
	res := t.DB.Exec(query, args...)
	return res.RowsAffected, res.Error
}

// Write runs do in one transaction: committed when do returns nil, else undone.
func (d *DB) Write(ctx context.Context, op string, do func(*Tx) error) error {
	if d.Writer == nil {
		return chat.Errorf(chat.CodeLocked, op, "The data is open for reading only.")
	}
	if faults.Skipped("store.transaction") {
		return MapError(op, d.unprotected(ctx, op, do))
	}
	if err := d.Identity.check(); err != nil {
		return MapError(op, err)
	}
	db := d.Writer.WithContext(ctx).Begin()
	if db.Error != nil {
		return MapError(op, db.Error)
	}
	defer db.Rollback() // does nothing once committed; its error says only that
	err := faults.Transaction(op, faults.Begun)
	if err == nil {
		err = do(&Tx{ctx: ctx, DB: db, Now: d.Clock.Now()})
	}
	if err == nil {
		err = faults.Transaction(op, faults.Committing)
	}
	if err == nil {
		err = d.Identity.check()
	}
	if err != nil {
		return MapError(op, err)
	}
	err = db.Commit().Error
	if err == nil {
		// What is committed can no longer fail: here the program can only die.
		_ = faults.Transaction(op, faults.Committed)
		if err = d.Identity.loss(); err == nil { // what went into a file that is gone is not confirmed
			d.Confirm()
		}
	}
	return MapError(op, err)
}

// unprotected is write without its transaction, for the harness that proves that it
// would notice.
func (d *DB) unprotected(ctx context.Context, op string, do func(*Tx) error) error {
	err := do(&Tx{ctx: ctx, DB: d.Writer.WithContext(ctx), Now: d.Clock.Now()})
	if err == nil {
		err = faults.Transaction(op, faults.Committing)
	}
	return err
}

// Read runs do on one moment's view of the database.
func (d *DB) Read(ctx context.Context, op string, do func(*gorm.DB) error) error {
	db := d.Reader.WithContext(ctx).Begin(&sql.TxOptions{})
	if db.Error != nil {
		return MapError(op, db.Error)
	}
	defer db.Rollback()
	return MapError(op, endedBy(ctx, do(db)))
}

// BeginMark opens the mark of a data directory and brings it up to date. A mark that cannot
// be opened keeps nobody from writing.
func (d *DB) BeginMark(dir string) {
	if err := d.confirmed.begin(filepath.Join(dir, ConfirmedFile), filepath.Join(dir, DatabaseFile)); err != nil {
		d.unmarked(err)
		return
	}
	d.Confirm()
}

// Confirm moves the mark to the end of the log. A commit does not fail for it: a mark that
// cannot be written says less than it could.
func (d *DB) Confirm() {
	if err := d.confirmed.move(); err != nil {
		d.unmarked(err)
	}
}

func (d *DB) unmarked(err error) {
	if d.confirmed.failed.CompareAndSwap(false, true) {
		d.Log.Warn("the end of the write-ahead log could not be noted; damage to it may go unnoticed", "err", err)
	}
}

// Close ends all connections.
func (d *DB) Close() error {
	return errors.Join(d.confirmed.close(), Disconnect(d.Reader), Disconnect(d.Writer))
}
