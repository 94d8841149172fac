package store

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/store/migrations"
	"contextinfinity/backend/store/sqlite"
)

// Options say where the data is and how it is opened.
type Options struct {
	DataDir  string
	Address  string       // of the writer: where others can ask it for what needs the lock; written beside its pid
	ReadOnly bool         // no lock, no migration, no write; works beside a writer
	Config   string       // the configuration file, which backups hold too; empty: none
	Scratch  bool         // nothing in it is to survive: the disk is not waited for
	Clock    clock.Clock  // nil: the system's
	Logger   *slog.Logger // nil: silent
	Version  string       // of the program: bundles name what wrote them

	copied bool // see Store
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	dir      string
	address  string
	version  string
	readOnly bool
	scratch  bool
	clock    clock.Clock
	log      *slog.Logger
	lock     *sqlite.FileLock // nil when read-only
	db       *sqlite.DB
	tokens   tokenizer
	sizes    sizeCache
	requests recentValues
	erasures atomic.Int64 // since it was opened
	onForget []func()     // empty what else is kept in memory of stored texts
	staging  sync.Mutex   // held while a database is attached to the writer
	// manifests are those that others were packed against
	manifests recentValues
	embedded  watermarks
	archive   *Archive
	copied    bool         // a copy of the data stands elsewhere: an upgrade needs none
	place     sqlite.Place // of a read-only store

	// running holds the turns this process accepted or resumed and has not
	// finished: an unfinished turn that is not in it was left by a crash.
	mu      sync.Mutex
	running map[chat.TurnID]bool
	// orphaned is how many jobs of a process that is gone were released at opening
	orphaned atomic.Int64

	closeOnce sync.Once
	closeErr  error
}

// Open opens the database in o.DataDir and, unless read-only, makes it if there
// is none, takes the writer's lock and migrates it after a backup.
//
// Errors: CodeLocked (another process is the writer; names its pid), CodeNewer,
// CodeCorrupt (cannot be opened, or is not ours), CodeNotFound (read-only and
// nothing there yet). In all these cases the file is left untouched.
func Open(ctx context.Context, o Options) (*Store, error) {
	return open(ctx, o, migrations.Files)
}

func open(ctx context.Context, o Options, steps fs.FS) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		db:  &sqlite.DB{Clock: o.Clock, Log: o.Logger},
		dir: o.DataDir, address: o.Address, version: o.Version, readOnly: o.ReadOnly, scratch: o.Scratch, clock: o.Clock, log: o.Logger,
		running: map[chat.TurnID]bool{}, copied: o.copied,
		archive: NewArchive(ArchiveOptions{DataDir: o.DataDir, Config: o.Config, Clock: o.Clock, Logger: o.Logger}),
	}
	s.archive.steps = steps
	s.onForget = append(s.onForget, s.sizes.clear)
	var err error
	if o.ReadOnly {
		err = s.openReader(ctx, steps)
	} else {
		err = s.openWriter(ctx, steps)
	}
	if err != nil {
		_ = s.Close()
		return nil, s.unopened(err)
	}
	return s, nil
}

func (s *Store) openReader(ctx context.Context, steps fs.FS) error {
	const op = "store.open"
	if err := refuseHalfRestored(s.dir); err != nil {
		return err
	}
	var have found
	var err error
	if have, s.place, err = locate(ctx, s.dir, steps); err != nil {
		return err
	}
	if err := refuseLost(s.dir, have); err != nil {
		return err
	}
	switch {
	case have.version == 0:
		return chat.Errorf(chat.CodeNotFound, op, "There is no data in %s yet.", s.dir).
			WithHint("send a first message")
	case have.version < have.newest:
		return chat.Errorf(chat.CodeConflict, op, "The data was written by an earlier version and is upgraded when it is next opened for writing.").
			WithHint("open the window once, or run contextinfinity reconcile")
	}
	s.place.Reading = true
	s.place.Note = strings.TrimSpace(s.place.Note + " " + s.archive.LogNote())
	s.db.Reader, err = sqlite.ConnectAt(s.place, sqlite.ReaderPragmas, sqlite.Readers)
	return sqlite.MapError(op, err)
}

// Note says why the data can only be read, where it is not for its being asked for, and
// that the newest changes cannot be; else it is empty.
func (s *Store) Note() string { return s.place.Note }

func (s *Store) openWriter(ctx context.Context, steps fs.FS) error {
	const op = "store.open"
	if err := sqlite.MakeDir(s.dir); err != nil {
		return sqlite.MapError(op, err)
	}
	var err error
	if s.lock, err = sqlite.LockWriter(s.dir, s.address); err != nil {
		return err
	}
	if _, err := s.archive.finishRestore(); err != nil {
		return err
	}
	if err := refuseDamagedLog(s.dir); err != nil {
		return err
	}
	have, err := probe(ctx, sqlite.Place{Path: s.path()}, steps)
	if err != nil {
		return err
	}
	if err := refuseLost(s.dir, have); err != nil {
		return err
	}
	if err := sqlite.SecureFile(s.path()); err != nil {
		return sqlite.MapError(op, err)
	}
	pragmas := sqlite.WriterPragmas
	if s.scratch {
		pragmas = append(slices.Clone(pragmas), "synchronous(OFF)")
	}
	if s.db.Writer, err = sqlite.Connect(s.path(), pragmas, 1); err != nil {
		return sqlite.MapError(op, err)
	}
	if err := s.migrate(ctx, have, steps); err != nil {
		return err
	}
	if s.db.Reader, err = sqlite.Connect(s.path(), sqlite.ReaderPragmas, sqlite.Readers); err != nil {
		return sqlite.MapError(op, err)
	}
	if err := s.db.Identity.Take(s.path()); err != nil {
		return sqlite.MapError(op, err)
	}
	if !s.scratch && !s.copied {
		s.db.BeginMark(s.dir)
	}
	s.mark()
	if err := s.adoptBackup(ctx); err != nil {
		return err
	}
	if err := s.sweepStages(); err != nil {
		s.log.Warn("what an import left cannot be removed", "err", err)
	}
	if err := s.finishErasures(ctx); err != nil {
		s.log.Warn("a hard delete could not be completed; it is tried again at the next start", "err", err)
	}
	return s.releaseOrphanedJobs(ctx)
}

// migrate brings the schema up to date. An existing database is copied first.
func (s *Store) migrate(ctx context.Context, have found, steps fs.FS) error {
	if have.version == have.newest {
		return nil
	}
	if have.version > 0 && !s.copied {
		path, err := s.archive.beforeUpgrade(ctx, have.version)
		if err != nil {
			return err
		}
		s.log.Info("backed up before migrating", "from", have.version, "to", have.newest, "file", filepath.Base(path))
	}
	return upgrade(ctx, s.db.Writer, steps, s.log)
}

// DataDir is the directory the store was opened in.
func (s *Store) DataDir() string { return s.dir }

// Close ends all connections and gives up the lock. Calling it again is safe.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.closeErr = sqlite.MapError("store.close", errors.Join(
			s.tokens.close(), s.db.Close(), s.lock.Release()))
		s.place.Leave()
	})
	return s.closeErr
}

// unopened is a failure to open the data, told as the full disk that it is.
func (s *Store) unopened(err error) error {
	switch {
	case !s.readOnly && chat.CodeOf(err) == chat.CodeNoSpace, sqlite.IsDiskError(err) && faultfs.Full(sqlite.TryRoom(s.dir)):
	default:
		return err
	}
	if s.readOnly {
		return chat.WrapError(chat.CodeNoSpace, "store.open", err, "The disk is full: the data cannot be opened. It is as it was.").
			WithHint("free some space and try again")
	}
	return chat.WrapError(chat.CodeNoSpace, "store.open", err, "The disk is full: nothing can be written. The data is as it was.").
		WithHint("free some space and try again; until then sessions, show, export and backup on the command line read what is there")
}
