package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/faultfs"
)

// Names of what the store keeps in the data directory.
const (
	DatabaseFile = "contextinfinity.db"
	LockFile     = "writer.lock"
	BackupDir    = "backups"
)

// readers is the size of the pool of reading connections.
const readers = 4

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
	lock     *fileLock // nil when read-only
	identity identity  // of the database's file
	// confirmed is how far its log is confirmed
	confirmed logMark
	writer    *gorm.DB // one connection; nil when read-only
	reader    *gorm.DB
	tokens    tokenizer
	sizes     sizeCache
	requests  recentValues
	erasures  atomic.Int64 // since it was opened
	staging   sync.Mutex   // held while a database is attached to the writer
	// manifests are those that others were packed against
	manifests recentValues
	embedded  watermarks
	archive   *Archive
	copied    bool  // a copy of the data stands elsewhere: an upgrade needs none
	place     place // of a read-only store

	// running holds the turns this process accepted or resumed and has not
	// finished: an unfinished turn that is not in it was left by a crash.
	mu      sync.Mutex
	running map[chat.TurnID]bool
	// orphaned is how many jobs of a process that is gone were released at opening
	orphaned int

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
	return open(ctx, o, migrations())
}

func open(ctx context.Context, o Options, steps fs.FS) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		dir: o.DataDir, address: o.Address, version: o.Version, readOnly: o.ReadOnly, scratch: o.Scratch, clock: o.Clock, log: o.Logger,
		running: map[chat.TurnID]bool{}, copied: o.copied,
		archive: NewArchive(ArchiveOptions{DataDir: o.DataDir, Config: o.Config, Clock: o.Clock, Logger: o.Logger}),
	}
	s.archive.steps = steps
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
	s.place.reading = true
	s.place.note = strings.TrimSpace(s.place.note + " " + s.archive.LogNote())
	s.reader, err = connectAt(s.place, readerPragmas, readers)
	return mapError(op, err)
}

// Note says why the data can only be read, where it is not for its being asked for, and
// that the newest changes cannot be; else it is empty.
func (s *Store) Note() string { return s.place.note }

func (s *Store) openWriter(ctx context.Context, steps fs.FS) error {
	const op = "store.open"
	if err := MakeDir(s.dir); err != nil {
		return mapError(op, err)
	}
	var err error
	if s.lock, err = lockWriter(s.dir, s.address); err != nil {
		return err
	}
	if _, err := s.archive.finishRestore(); err != nil {
		return err
	}
	if err := refuseDamagedLog(s.dir); err != nil {
		return err
	}
	have, err := probe(ctx, place{path: s.path()}, steps)
	if err != nil {
		return err
	}
	if err := refuseLost(s.dir, have); err != nil {
		return err
	}
	if err := secureFile(s.path()); err != nil {
		return mapError(op, err)
	}
	pragmas := writerPragmas
	if s.scratch {
		pragmas = append(slices.Clone(pragmas), "synchronous(OFF)")
	}
	if s.writer, err = connect(s.path(), pragmas, 1); err != nil {
		return mapError(op, err)
	}
	if err := s.migrate(ctx, have, steps); err != nil {
		return err
	}
	if s.reader, err = connect(s.path(), readerPragmas, readers); err != nil {
		return mapError(op, err)
	}
	if err := s.identity.take(s.path()); err != nil {
		return mapError(op, err)
	}
	s.beginMark()
	s.mark()
	if err := s.sweepStages(); err != nil {
		s.log.Warn("what an import left cannot be removed", "err", err)
	}
	if err := s.finishErasures(ctx); err != nil {
		s.log.Warn("a hard delete could not be completed; it is tried again at the next start", "err", err)
	}
	return s.releaseOrphanedJobs(ctx)
}

// DataDir is the directory the store was opened in.
func (s *Store) DataDir() string { return s.dir }

func (s *Store) path() string { return filepath.Join(s.dir, DatabaseFile) }

// Close ends all connections and gives up the lock. Calling it again is safe.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.closeErr = mapError("store.close", errors.Join(
			s.tokens.close(), s.confirmed.close(), disconnect(s.reader), disconnect(s.writer), s.lock.release()))
		s.place.leave()
	})
	return s.closeErr
}

// Each connection is set up by these pragmas. Temporary tables stay in memory:
// no text of the user's outside the data directory. The page size is that of new
// databases: two turns fit on one, of which a smaller page holds one and much air.
// fullfsync matters on macOS alone, where a plain fsync leaves data in the drive's cache.
// A reader's cache, in KB, holds the rows of some 100 000 units: with less, each term of
// a search reads and checks the same pages again.
var (
	commonPragmas = []string{
		"busy_timeout(5000)", "foreign_keys(1)", "temp_store(2)", "trusted_schema(0)",
		"cell_size_check(1)",
	}
	writerPragmas = append([]string{"page_size(8192)", "journal_mode(WAL)", "synchronous(FULL)", "fullfsync(1)", "checkpoint_fullfsync(1)", "wal_autocheckpoint(1000)", "cache_size(-8000)"}, commonPragmas...)
	readerPragmas = append([]string{"query_only(1)", "cache_size(-24000)"}, commonPragmas...)
)

// connect opens a pool on a file that is there: one that is not is never made by
// looking for it, least of all while a restore moves it. Writers begin immediate transactions: a deferred one
// that reads first and then writes loses to SQLITE_BUSY three times in four.
func connect(path string, pragmas []string, connections int) (*gorm.DB, error) {
	return connectAt(place{path: path}, pragmas, connections)
}

// connectAt is connect to a database that may be frozen.
func connectAt(at place, pragmas []string, connections int) (*gorm.DB, error) {
	q := at.query()
	q["_pragma"] = pragmas
	q.Set("_txlock", "deferred")
	if connections == 1 {
		q.Set("_txlock", "immediate")
	}
	pool, err := sql.Open(sqlite.DriverName, fileURI(at.path)+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	db, err := gorm.Open(&sqlite.Dialector{Conn: pool}, &gorm.Config{
		SkipDefaultTransaction: true,
		TranslateError:         false,          // mapError reads the engine's own codes
		Logger:                 logger.Discard, // its messages would hold row text
	})
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return db, nil
}

func disconnect(db *gorm.DB) error {
	if db == nil {
		return nil
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	err = pool.Close()
	awaitClosed(pool)
	return err
}

// awaitClosed waits until the last connection is gone. A transaction whose
// context ended is rolled back by a goroutine of database/sql's own, so Close may
// return before it: until then the log may still be written back, by a program
// that has given up its lock.
func awaitClosed(pool *sql.DB) {
	const patience = 2 * time.Second
	for end := time.Now().Add(patience); pool.Stats().OpenConnections > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// fileURI names a database for SQLite: in a URI a ?, # or % of the path must not
// be taken for syntax.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path}).String()
}

// MakeDir makes a data directory, open to its owner alone (SPEC 13), and durable:
// what is acknowledged in it must not go with it when the power does.
func MakeDir(dir string) error {
	if dir == "" {
		return fs.ErrNotExist
	}
	if err := makeDurable(dir); err != nil {
		return err
	}
	return narrow(dir, 0o700)
}

// makeDurable goes up to what exists: a directory is durable only if its parents are.
func makeDurable(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := makeDurable(parent); err != nil {
			return err
		}
	}
	if err := faultfs.Mkdir(faultfs.Data, dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return faultfs.SyncDir(faultfs.Data, parent)
}

// secureFile makes sure the database exists, for good, with mode 0600; SQLite gives
// its companions, the WAL and the shared memory, the same mode.
func secureFile(path string) error {
	f, err := faultfs.OpenFile(faultfs.Data, path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return narrow(path, 0o600)
	case err != nil:
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return faultfs.SyncDir(faultfs.Data, filepath.Dir(path))
}

// narrow takes away rights beyond mode. A file system without modes is let be.
func narrow(path string, mode fs.FileMode) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&^mode == 0 {
		return nil
	}
	if err := os.Chmod(path, info.Mode().Perm()&mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("closing %s to other users: %w", filepath.Base(path), err)
	}
	return nil
}
