package store

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/store/migrations"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Core is the open database as all parts of the store use it: the connections, what is known
// of the data directory, and what is kept in memory of stored texts.
type Core struct {
	dir      string
	version  string // of the program: bundles name what wrote them
	readOnly bool
	scratch  bool // nothing in it is to survive: the disk is not waited for
	copied   bool // a copy of the data stands elsewhere: an upgrade needs none
	clock    clock.Clock
	log      *slog.Logger
	db       *sqlite.DB
	place    sqlite.Place // of a store that only reads

	requests recentValues
	// manifests are those that others were packed against
	manifests recentValues
	erasures  atomic.Int64 // since it was opened
	onForget  []func()     // empty what else is kept in memory of stored texts

	// running holds the turns this process accepted or resumed and has not
	// finished: an unfinished turn that is not in it was left by a crash.
	mu      sync.Mutex
	running map[chat.TurnID]bool
}

// openScratch makes a database of the newest schema in an empty directory, of which nothing
// is to survive. Whoever asks for it closes its connections and removes it.
func openScratch(ctx context.Context, dir string, now clock.Clock) (*Core, error) {
	silent := slog.New(slog.DiscardHandler)
	s := &Core{dir: dir, scratch: true, clock: now, log: silent, db: &sqlite.DB{Clock: now, Log: silent}}
	err := sqlite.MapError("store.open", sqlite.MakeDir(dir))
	if err == nil {
		err = s.connect(func() error { return schema.Upgrade(ctx, s.db.Writer, migrations.Files, silent) })
	}
	if err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// connect opens the database's connections: the writer's, on which upgrade then brings the
// schema up to date, and those that read.
func (s *Core) connect(upgrade func() error) error {
	const op = "store.open"
	if err := sqlite.SecureFile(s.path()); err != nil {
		return sqlite.MapError(op, err)
	}
	pragmas := sqlite.WriterPragmas
	if s.scratch {
		pragmas = append(slices.Clone(pragmas), "synchronous(OFF)")
	}
	var err error
	if s.db.Writer, err = sqlite.Connect(s.path(), pragmas, 1); err != nil {
		return sqlite.MapError(op, err)
	}
	if err := upgrade(); err != nil {
		return err
	}
	if s.db.Reader, err = sqlite.Connect(s.path(), sqlite.ReaderPragmas, sqlite.Readers); err != nil {
		return sqlite.MapError(op, err)
	}
	return sqlite.MapError(op, s.db.Identity.Take(s.path()))
}
