package store

import (
	"context"
	"database/sql"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faults"
)

// tx is a writing transaction: the only handle inside it, one moment throughout.
type tx struct {
	ctx   context.Context
	db    *gorm.DB
	now   time.Time
	tails map[chat.SessionID]ledgerTail // end of each ledger written to so far
	// requests and manifests are the newest ones, decoded
	requests, manifests *recentValues
	// commits says that what is finalized is committed in it too: no job has to do that
	commits bool
}

// stamp is the transaction's moment as it is stored.
func (t *tx) stamp() string { return chat.FormatTime(t.now) }

// newID returns a fresh identifier at the transaction's moment.
func (t *tx) newID() string { return chat.NewID(t.now) }

// exec runs a statement and reports how many rows it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	res := t.db.Exec(query, args...)
	return res.RowsAffected, res.Error
}

// write runs do in one transaction: committed when do returns nil, else undone.
func (s *Store) write(ctx context.Context, op string, do func(*tx) error) error {
	if s.writer == nil {
		return chat.Errorf(chat.CodeLocked, op, "The data is open for reading only.")
	}
	if faults.Skipped("store.transaction") {
		return mapError(op, s.unprotected(ctx, op, do))
	}
	if err := s.identity.check(); err != nil {
		return mapError(op, err)
	}
	db := s.writer.WithContext(ctx).Begin()
	if db.Error != nil {
		return mapError(op, db.Error)
	}
	defer db.Rollback() // does nothing once committed; its error says only that
	err := faults.Transaction(op, faults.Begun)
	if err == nil {
		err = do(s.transaction(ctx, db))
	}
	if err == nil {
		err = faults.Transaction(op, faults.Committing)
	}
	if err == nil {
		err = s.identity.check()
	}
	if err != nil {
		return mapError(op, err)
	}
	err = db.Commit().Error
	if err == nil {
		// What is committed can no longer fail: here the program can only die.
		_ = faults.Transaction(op, faults.Committed)
		if err = s.identity.loss(); err == nil { // what went into a file that is gone is not confirmed
			s.confirm()
		}
	}
	return mapError(op, err)
}

// unprotected is write without its transaction, for the harness that proves that it
// would notice.
func (s *Store) unprotected(ctx context.Context, op string, do func(*tx) error) error {
	err := do(s.transaction(ctx, s.writer.WithContext(ctx)))
	if err == nil {
		err = faults.Transaction(op, faults.Committing)
	}
	return err
}

func (s *Store) transaction(ctx context.Context, db *gorm.DB) *tx {
	return &tx{ctx: ctx, db: db, now: s.clock.Now(), tails: map[chat.SessionID]ledgerTail{}, requests: &s.requests, manifests: &s.manifests}
}

// read runs do on one moment's view of the database.
func (s *Store) read(ctx context.Context, op string, do func(*gorm.DB) error) error {
	db := s.reader.WithContext(ctx).Begin(&sql.TxOptions{})
	if db.Error != nil {
		return mapError(op, db.Error)
	}
	defer db.Rollback()
	return mapError(op, endedBy(ctx, do(db)))
}

// one reads exactly one row, or says what is missing.
func one[R any](db *gorm.DB, what string, id any, query string, args ...any) (R, error) {
	var rows []R
	if err := db.Raw(query, args...).Scan(&rows).Error; err != nil {
		var none R
		return none, err
	}
	if len(rows) == 0 {
		var none R
		return none, chat.Errorf(chat.CodeNotFound, "", "There is no %s %v.", what, id)
	}
	return rows[0], nil
}

// all reads every row of a query.
func all[R any](db *gorm.DB, query string, args ...any) ([]R, error) {
	var rows []R
	err := db.Raw(query, args...).Scan(&rows).Error
	return rows, err
}
