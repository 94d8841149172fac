package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/store/backup"
	"contextinfinity/backend/store/bundles"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/deletion"
	"contextinfinity/backend/store/imports"
	"contextinfinity/backend/store/maintenance"
	"contextinfinity/backend/store/migrations"
	"contextinfinity/backend/store/queue"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/search"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/store/verify"
)

// Options say where the data is and how it is opened.
type Options struct {
	DataDir  string
	Address  string       // the writer's address for requests of other processes; written beside its pid
	ReadOnly bool         // no lock, no migration, no write; works beside a writer
	Config   string       // the configuration file, which backups include; empty: none
	Keyring  Keyring      // nil: none
	Scratch  bool         // temporary data: writes are not synced
	Clock    clock.Clock  // nil: the system's
	Logger   *slog.Logger // nil: silent
	Version  string       // of the program, recorded in bundles

	copied bool // see Store
}

// The parts of a store, under names that callers cannot access.
type (
	queuePart       = queue.Queue
	recordsPart     = records.Records
	searchPart      = search.Search
	verifyPart      = verify.Verifier
	bundlesPart     = bundles.Bundles
	importsPart     = imports.Imports
	deletionPart    = deletion.Deletion
	maintenancePart = maintenance.Maintenance
	backupPart      = backup.Backups
)

// Store is an open database, safe for concurrent use. Its methods are those of its parts.
type Store struct {
	*queuePart
	*recordsPart
	*searchPart
	*verifyPart
	*bundlesPart
	*importsPart
	*deletionPart
	*maintenancePart
	*backupPart

	core    *core.Core
	address string
	lock    *sqlite.FileLock // nil when read-only

	closeOnce sync.Once
	closeErr  error
}

// Open opens the database in o.DataDir. Unless read-only, it creates a missing database, takes the writer's lock and
// migrates after a backup.
//
// Errors: CodeLocked (another process is the writer; names its pid), CodeNewer, CodeCorrupt (cannot be opened, or is
// not ours), CodeNotFound (read-only and no data yet). In all these cases the file is left unchanged.
func Open(ctx context.Context, o Options) (*Store, error) {
	return open(ctx, o, migrations.Files)
}

func open(ctx context.Context, o Options, steps fs.FS) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := newStore(&core.Core{
		Dir: o.DataDir, Version: o.Version, ReadOnly: o.ReadOnly, Scratch: o.Scratch, Copied: o.copied, Clock: o.Clock, Log: o.Logger,
		DB: &sqlite.DB{Clock: o.Clock, Log: o.Logger},
	}, backup.New(backup.ArchiveOptions{DataDir: o.DataDir, Config: o.Config, Keyring: o.Keyring, Clock: o.Clock, Logger: o.Logger}, steps, openCopy))
	s.address = o.Address
	var err error
	if o.ReadOnly {
		err = s.openReader(ctx, steps)
	} else {
		err = s.openWriter(ctx, steps)
	}
	if err != nil {
		_ = s.Close()
		return nil, s.openError(err)
	}
	return s, nil
}

func newStore(c *core.Core, archive *Archive) *Store {
	records, search := &records.Records{Core: c}, &search.Search{Core: c}
	return &Store{
		queuePart: &queue.Queue{Core: c}, recordsPart: records, searchPart: search, verifyPart: verify.New(c, search),
		bundlesPart: bundles.New(c, records), importsPart: imports.New(c, records),
		deletionPart: deletion.New(c, search), maintenancePart: maintenance.New(c), backupPart: &backup.Backups{Core: c, Archive: archive},
		core: c,
	}
}

// openCopy opens a copy of the data the way the program does, which migrates it to the newest schema.
func openCopy(ctx context.Context, o backup.ArchiveOptions, steps fs.FS) (*core.Core, io.Closer, error) {
	s, err := open(ctx, Options{DataDir: o.DataDir, Clock: o.Clock, Logger: o.Logger, copied: true}, steps)
	if err != nil {
		return nil, nil, err
	}
	return s.core, s, nil
}

func (s *Store) openReader(ctx context.Context, steps fs.FS) error {
	const op = "store.open"
	if err := backup.RefuseHalfRestored(s.core.Dir); err != nil {
		return err
	}
	var have schema.Found
	var err error
	if have, s.core.Place, err = schema.Locate(ctx, s.core.Dir, steps); err != nil {
		return err
	}
	if err := backup.RefuseLost(s.core.Dir, have); err != nil {
		return err
	}
	switch {
	case have.Version == 0:
		return chat.Errorf(chat.CodeNotFound, op, "There is no data in %s yet.", s.core.Dir).
			WithHint("send a first message")
	case have.Version < have.Newest:
		return chat.Errorf(chat.CodeConflict, op, "The data was written by an earlier version, and will be upgraded when it is next opened for writing.").
			WithHint("open the window once, or run contextinfinity reconcile")
	}
	s.core.Place.Reading = true
	s.core.Place.Note = strings.TrimSpace(s.core.Place.Note + " " + s.backupPart.Archive.LogNote())
	s.core.DB.Reader, err = sqlite.ConnectAt(s.core.Place, sqlite.ReaderPragmas(s.core.Place.Path), sqlite.Readers)
	if err != nil {
		return sqlite.MapError(op, err)
	}
	if err := s.core.Read(ctx, op, s.core.ReadDevice); err != nil {
		s.core.Log.Warn("it cannot be read which device this is", "err", err)
	}
	return nil
}

// Note says why the data is read-only although that was not requested, or that the newest changes cannot be read;
// otherwise it is empty.
func (s *Store) Note() string { return s.core.Place.Note }

func (s *Store) openWriter(ctx context.Context, steps fs.FS) error {
	const op = "store.open"
	if err := sqlite.MakeDir(s.core.Dir); err != nil {
		return sqlite.MapError(op, err)
	}
	var err error
	if s.lock, err = sqlite.LockWriter(s.core.Dir, s.address); err != nil {
		return err
	}
	if _, err := s.backupPart.Archive.FinishRestore(); err != nil {
		return err
	}
	if err := backup.RefuseDamagedLog(s.core.Dir); err != nil {
		return err
	}
	if !s.core.Copied {
		if _, err := s.backupPart.Archive.FinishSealing(ctx); err != nil {
			s.core.Log.Warn("older backups could not be sealed; it is tried again at the next start", "err", err)
		}
	}
	have, err := schema.Probe(ctx, sqlite.Place{Path: s.core.Path()}, steps)
	if err != nil {
		return err
	}
	if err := backup.RefuseLost(s.core.Dir, have); err != nil {
		return err
	}
	if err := s.core.Connect(func() error { return s.migrate(ctx, have, steps) }); err != nil {
		return err
	}
	if !s.core.Scratch && !s.core.Copied {
		s.core.DB.BeginMark(s.core.Dir)
	}
	backup.Mark(s.core)
	if err := backup.AdoptBackup(ctx, s.core); err != nil {
		return err
	}
	if !s.core.Copied {
		if err := s.core.Write(ctx, op, s.core.TakeDevice); err != nil {
			return err
		}
	}
	if err := search.CheckVectorCache(ctx, s.searchPart); err != nil {
		s.core.Log.Warn("the vector cache cannot be checked", "err", err)
	}
	if err := deletion.FinishDeletions(ctx, s.deletionPart); err != nil {
		s.core.Log.Warn("a permanent deletion could not be completed; it is tried again at the next start", "err", err)
	}
	return queue.ReleaseOrphanedJobs(ctx, s.queuePart)
}

// migrate migrates the schema. An existing database is backed up first.
func (s *Store) migrate(ctx context.Context, have schema.Found, steps fs.FS) error {
	if have.Version == have.Newest {
		return nil
	}
	if have.Version > 0 && !s.core.Copied {
		path, err := s.backupPart.Archive.BeforeUpgrade(ctx, have.Version)
		if err != nil {
			return err
		}
		s.core.Log.Info("backed up before migrating", "from", have.Version, "to", have.Newest, "file", filepath.Base(path))
	}
	return schema.Upgrade(ctx, s.core.DB.Writer, steps, s.core.Log)
}

// Close closes all connections and releases the lock. It may be called again.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.closeErr = sqlite.MapError("store.close", errors.Join(
			s.searchPart.Tokens.Close(), s.core.DB.Close(), s.lock.Release()))
		s.core.Place.Leave()
	})
	return s.closeErr
}

// openError returns an error of opening the data; a full disk is reported as such.
func (s *Store) openError(err error) error {
	switch {
	case !s.core.ReadOnly && chat.CodeOf(err) == chat.CodeNoSpace, sqlite.IsDiskError(err) && faultfs.Full(sqlite.ProbeSpace(s.core.Dir)):
	default:
		return err
	}
	if s.core.ReadOnly {
		return chat.WrapError(chat.CodeNoSpace, "store.open", err, "The disk is full: the data cannot be opened. It was not changed.").
			WithHint("free some space and try again")
	}
	return chat.WrapError(chat.CodeNoSpace, "store.open", err, "The disk is full: nothing can be written. The data was not changed.").
		WithHint("free some space and try again; until then sessions, show, export and backup on the command line read what is there")
}
