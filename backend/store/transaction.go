package store

import (
	"context"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// tx is a writing transaction with what is known of the ledgers that it writes to.
type tx struct {
	*sqlite.Tx
	tails map[chat.SessionID]ledgerTail // end of each ledger written to so far
	// requests and manifests are the newest ones, decoded
	requests, manifests *recentValues
	// commits says that what is finalized is committed in it too: no job has to do that
	commits bool
}

// write runs do in one transaction: committed when do returns nil, else undone.
func (s *Core) write(ctx context.Context, op string, do func(*tx) error) error {
	return s.db.Write(ctx, op, func(t *sqlite.Tx) error {
		return do(&tx{Tx: t, tails: map[chat.SessionID]ledgerTail{}, requests: &s.requests, manifests: &s.manifests})
	})
}

// read runs do on one moment's view of the database.
func (s *Core) read(ctx context.Context, op string, do func(*gorm.DB) error) error {
	return s.db.Read(ctx, op, do)
}
