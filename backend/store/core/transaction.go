package core

import (
	"context"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// Tx is a writing transaction with what is known of the ledgers that it writes to.
type Tx struct {
	*sqlite.Tx
	tails map[chat.SessionID]LedgerTail // end of each ledger written to so far
	// Requests and manifests are the newest ones, decoded
	Requests, Manifests *RecentValues
	// Commits says that what is finalized is committed in it too: no job has to do that
	Commits bool
}

// Write runs do in one transaction: committed when do returns nil, else undone.
func (s *Core) Write(ctx context.Context, op string, do func(*Tx) error) error {
	return s.DB.Write(ctx, op, func(t *sqlite.Tx) error {
		return do(&Tx{Tx: t, tails: map[chat.SessionID]LedgerTail{}, Requests: &s.Requests, Manifests: &s.Manifests})
	})
}

// Read runs do on one moment's view of the database.
func (s *Core) Read(ctx context.Context, op string, do func(*gorm.DB) error) error {
	return s.DB.Read(ctx, op, do)
}

// Reader is the open database, or a room of the store.
type Reader interface {
	Read(ctx context.Context, op string, do func(*gorm.DB) error) error
}

// Query returns what do finds on one moment's view of the database.
func Query[R any](ctx context.Context, s Reader, op string, do func(*gorm.DB) (R, error)) (found R, err error) {
	err = s.Read(ctx, op, func(db *gorm.DB) (err error) {
		found, err = do(db)
		return err
	})
	return found, err
}

// All returns the rows of one query.
func All[R any](ctx context.Context, s Reader, op, query string, args ...any) ([]R, error) {
	return Query(ctx, s, op, func(db *gorm.DB) ([]R, error) { return sqlite.All[R](db, query, args...) })
}
