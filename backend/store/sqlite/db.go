// Package sqlite handles the database file: opening, locking, transactions, protection against replacement or
// truncation, and readable errors. It knows nothing about tables.
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

// DB is an open database file: one connection that writes, and some that read.
type DB struct {
	Writer *gorm.DB // one connection; nil when read-only
	Reader *gorm.DB
	Clock  clock.Clock
	Log    *slog.Logger

	Identity  identity // of the file
	confirmed logMark  // up to where the log is confirmed
}

// Tx is a writing transaction: the only handle inside it, with one fixed time.
type Tx struct {
	ctx context.Context
	DB  *gorm.DB
	Now time.Time
}

// Stamp returns the transaction's time as stored.
func (t *Tx) Stamp() string { return chat.FormatTime(t.Now) }

// NewID returns a new identifier at the transaction's time.
func (t *Tx) NewID() string { return chat.NewID(t.Now) }

// Exec runs a statement and reports how many rows it changed.
func (t *Tx) Exec(query string, args ...any) (int64, error) {
	res := t.DB.Exec(query, args...)
	return res.RowsAffected, res.Error
}

// Run is Exec if the number of rows does not matter.
func (t *Tx) Run(query string, args ...any) error { return t.DB.Exec(query, args...).Error }

// Write runs do in one transaction: committed if do returns nil, otherwise rolled back.
func (d *DB) Write(ctx context.Context, op string, do func(*Tx) error) error {
	if d.Writer == nil {
		return chat.Errorf(chat.CodeLocked, op, "The data is open read-only.")
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
	defer db.Rollback() // no effect once committed; its error then says only that
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
		// A committed transaction can no longer fail: a fault here can only end the process.
		_ = faults.Transaction(op, faults.Committed)
		if err = d.Identity.loss(); err == nil { // what was written to a deleted file is not confirmed
			d.Confirm()
		}
	}
	return MapError(op, err)
}

// unprotected is Write without the transaction, for a test that proves that its checks would notice that.
func (d *DB) unprotected(ctx context.Context, op string, do func(*Tx) error) error {
	err := do(&Tx{ctx: ctx, DB: d.Writer.WithContext(ctx), Now: d.Clock.Now()})
	if err == nil {
		err = faults.Transaction(op, faults.Committing)
	}
	return err
}

// Read runs do in one read transaction, on a consistent view of the database.
func (d *DB) Read(ctx context.Context, op string, do func(*gorm.DB) error) error {
	db := d.Reader.WithContext(ctx).Begin(&sql.TxOptions{})
	if db.Error != nil {
		return MapError(op, db.Error)
	}
	defer db.Rollback()
	return MapError(op, endedBy(ctx, do(db)))
}

// BeginMark opens the mark of a data directory and updates it. A mark that cannot be opened does not prevent writing.
func (d *DB) BeginMark(dir string) {
	if err := d.confirmed.begin(filepath.Join(dir, ConfirmedFile), filepath.Join(dir, DatabaseFile)); err != nil {
		d.logMarkFailure(err)
		return
	}
	d.Confirm()
}

// Confirm moves the mark to the end of the log. Failing to write the mark does not fail a commit: an older mark only
// detects less.
func (d *DB) Confirm() {
	if err := d.confirmed.move(); err != nil {
		d.logMarkFailure(err)
	}
}

func (d *DB) logMarkFailure(err error) {
	if d.confirmed.failed.CompareAndSwap(false, true) {
		d.Log.Warn("the end of the write-ahead log could not be recorded; damage to it may go unnoticed", "err", err)
	}
}

// Close ends all connections.
func (d *DB) Close() error {
	return errors.Join(d.confirmed.close(), Disconnect(d.Reader), Disconnect(d.Writer))
}
