// Package core is the open database as all rooms of the store use it: its handle, the writing
// transaction that appends to the ledgers of sessions, and what a branch sees of its lineage.
package core

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
	Dir      string
	Version  string // of the program: bundles name what wrote them
	ReadOnly bool
	Scratch  bool // nothing in it is to survive: the disk is not waited for
	Copied   bool // there is a copy of the data elsewhere: an upgrade needs none
	Clock    clock.Clock
	Log      *slog.Logger
	DB       *sqlite.DB
	Place    sqlite.Place // of a store that only reads

	Requests RecentValues
	// Manifests are those that others were packed against
	Manifests RecentValues
	Erased    atomic.Int64 // since it was opened
	OnForget  []func()     // empty what else is kept in memory of stored texts

	// running holds the turns this process accepted or resumed and has not
	// finished: an unfinished turn that is not in it was left by a crash.
	mu      sync.Mutex
	running map[chat.TurnID]bool
}

// OpenScratch makes a database of the newest schema in an empty directory, of which nothing
// is to survive. Whoever asks for it closes its connections and removes it.
func OpenScratch(ctx context.Context, dir string, now clock.Clock) (*Core, error) {
	silent := slog.New(slog.DiscardHandler)
	s := &Core{Dir: dir, Scratch: true, Clock: now, Log: silent, DB: &sqlite.DB{Clock: now, Log: silent}}
	err := sqlite.MapError("store.open", sqlite.MakeDir(dir))
	if err == nil {
		err = s.Connect(func() error { return schema.Upgrade(ctx, s.DB.Writer, migrations.Files, silent) })
	}
	if err != nil {
		return nil, errors.Join(err, s.DB.Close())
	}
	return s, nil
}

// Connect opens the database's connections: the writer's, on which upgrade then brings the
// schema up to date, and those that read.
func (s *Core) Connect(upgrade func() error) error {
	const op = "store.open"
	if err := sqlite.SecureFile(s.Path()); err != nil {
		return sqlite.MapError(op, err)
	}
	pragmas := sqlite.WriterPragmas
	if s.Scratch {
		pragmas = append(slices.Clone(pragmas), "synchronous(OFF)")
	}
	var err error
	if s.DB.Writer, err = sqlite.Connect(s.Path(), pragmas, 1); err != nil {
		return sqlite.MapError(op, err)
	}
	if err := upgrade(); err != nil {
		return err
	}
	if s.DB.Reader, err = sqlite.Connect(s.Path(), sqlite.ReaderPragmas, sqlite.Readers); err != nil {
		return sqlite.MapError(op, err)
	}
	return sqlite.MapError(op, s.DB.Identity.Take(s.Path()))
}
