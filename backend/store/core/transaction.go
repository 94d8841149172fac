package core

import (
	"context"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// Tx is a writing transaction with the state of the ledgers that it writes to.
type Tx struct {
	*sqlite.Tx
	tails  map[chat.SessionID]LedgerTail // end of each ledger written to so far
	Device Device
	// Requests and Manifests are the most recent ones, decoded: those of the store, see RecentValues.
	Requests, Manifests *RecentValues
	// Commits says that this transaction also commits finalized turns, so no job has to.
	Commits bool
}

// Write runs do in one transaction: committed if do returns nil, otherwise rolled back.
func (s *Core) Write(ctx context.Context, op string, do func(*Tx) error) error {
	return s.DB.Write(ctx, op, func(t *sqlite.Tx) error {
		return do(&Tx{
			Tx: t, tails: map[chat.SessionID]LedgerTail{}, Device: *s.Device(), Requests: &s.Requests, Manifests: &s.Manifests,
		})
	})
}

// Read runs do in one read transaction, on a consistent view of the database.
func (s *Core) Read(ctx context.Context, op string, do func(*gorm.DB) error) error {
	return s.DB.Read(ctx, op, do)
}

// Reader is the open database, or a package of the store.
type Reader interface {
	Read(ctx context.Context, op string, do func(*gorm.DB) error) error
}

// Query returns the result of do from a consistent view of the database.
func Query[R any](ctx context.Context, s Reader, op string, do func(*gorm.DB) (R, error)) (found R, err error) {
	err = s.Read(ctx, op, func(db *gorm.DB) (err error) {
		found, err = do(db)
		return err
	})
	return found, err
}

// Change returns the result of do in one writing transaction.
func Change[R any](ctx context.Context, s *Core, op string, do func(*Tx) (R, error)) (result R, err error) {
	err = s.Write(ctx, op, func(t *Tx) (err error) {
		result, err = do(t)
		return err
	})
	return result, err
}

// All returns the rows of one query.
func All[R any](ctx context.Context, s Reader, op, query string, args ...any) ([]R, error) {
	return Query(ctx, s, op, func(db *gorm.DB) ([]R, error) { return sqlite.All[R](db, query, args...) })
}
