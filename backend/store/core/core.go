// Package core is the open database as all packages of the store use it: its connections, the writing transaction
// that appends to the ledgers of sessions, and the lineages of branches.
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

// Core is the open database as all parts of the store use it: the connections, the data directory, and in-memory
// caches of stored texts.
type Core struct {
	Dir      string
	Version  string // of the program, recorded in bundles
	ReadOnly bool
	Scratch  bool // temporary data: writes are not synced
	Copied   bool // this is a copy of the data: an upgrade needs no backup
	Clock    clock.Clock
	Log      *slog.Logger
	DB       *sqlite.DB
	Place    sqlite.Place // of a read-only store

	Requests RecentValues
	// Manifests are recent bases of packed manifests.
	Manifests RecentValues
	Deletions atomic.Int64 // permanent deletions since the database was opened
	OnForget  []func()     // clear other in-memory caches of stored texts

	device atomic.Pointer[Device]

	// running holds the turns this process accepted or resumed and has not finished. An unfinished turn that is not
	// in it was interrupted by a crash.
	mu      sync.Mutex
	running map[chat.TurnID]bool
}

// OpenScratch creates a temporary database of the newest schema in an empty directory. The caller closes its
// connections and removes it.
func OpenScratch(ctx context.Context, dir string, now clock.Clock) (*Core, error) {
	silent := slog.New(slog.DiscardHandler)
	s := &Core{Dir: dir, Scratch: true, Clock: now, Log: silent, DB: &sqlite.DB{Clock: now, Log: silent}}
	s.device.Store(&Device{})
	err := sqlite.MapError("store.open", sqlite.MakeDir(dir))
	if err == nil {
		err = s.Connect(func() error { return schema.Upgrade(ctx, s.DB.Writer, migrations.Files, silent) })
	}
	if err != nil {
		return nil, errors.Join(err, s.DB.Close())
	}
	return s, nil
}

// Connect opens the connections: the writer's, on which upgrade then migrates the schema, and the readers'.
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
	if s.DB.Reader, err = sqlite.Connect(s.Path(), sqlite.ReaderPragmas(s.Path()), sqlite.Readers); err != nil {
		return sqlite.MapError(op, err)
	}
	return sqlite.MapError(op, s.DB.Identity.Take(s.Path()))
}
