package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"contextinfinity/backend/internal/faultfs"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Driver is the name of the SQL driver that opens databases.
const Driver = sqlite.DriverName

// Readers is the size of the pool of read connections.
const Readers = 4

// Every connection is set up with these pragmas. Temporary tables stay in memory, so that no user text is written
// outside the data directory. The page size is for new databases: two turns fit on one page, whereas a smaller page
// holds one turn and much unused space. fullfsync matters only on macOS, where a plain fsync leaves data in the
// drive's cache.
var (
	CommonPragmas = []string{
		"busy_timeout(5000)", "foreign_keys(1)", "temp_store(2)", "trusted_schema(0)",
		"cell_size_check(1)",
	}
	WriterPragmas = append([]string{"page_size(8192)", "journal_mode(WAL)", "synchronous(FULL)", "fullfsync(1)", "checkpoint_fullfsync(1)", "wal_autocheckpoint(1000)", "cache_size(-8000)"}, CommonPragmas...)
)

// The cache of a reader, in KB, for databases of any size. The smallest holds the rows of about 100 000 units, the
// largest the text index of 1 000 000: with less, every search reads and checks the same pages again.
const (
	minReaderCache = 24_000
	maxReaderCache = 64_000
	partCached     = 50 // the denominator of a share of the database
)

// ReaderPragmas returns the pragmas of a read connection to a database.
func ReaderPragmas(path string) []string {
	kilobytes := int64(minReaderCache)
	if info, err := os.Stat(path); err == nil {
		kilobytes = min(max(info.Size()/1000/partCached, minReaderCache), maxReaderCache)
	}
	return append([]string{"query_only(1)", fmt.Sprintf("cache_size(-%d)", kilobytes)}, CommonPragmas...)
}

// Connect opens a pool on an existing file; it never creates one, in particular while a restore moves the database.
// Writers begin immediate transactions: a deferred one that reads first and then writes fails with SQLITE_BUSY three
// times in four.
func Connect(path string, pragmas []string, connections int) (*gorm.DB, error) {
	return ConnectAt(Place{Path: path}, pragmas, connections)
}

// ConnectAt is Connect for a database that may be frozen.
func ConnectAt(place Place, pragmas []string, connections int) (*gorm.DB, error) {
	if err := Prepare(place.Path); err != nil {
		return nil, err
	}
	q := place.Query()
	q["_pragma"] = pragmas
	q.Set("_txlock", "deferred")
	if connections == 1 {
		q.Set("_txlock", "immediate")
	}
	pool, err := sql.Open(sqlite.DriverName, FileURI(place.Path)+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	db, err := gorm.Open(&sqlite.Dialector{Conn: pool}, &gorm.Config{
		SkipDefaultTransaction: true,
		TranslateError:         false,          // MapError reads SQLite's own codes
		Logger:                 logger.Discard, // its messages would contain row text
	})
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return db, nil
}

// Disconnect closes a pool and waits until its last connection is closed; nil is allowed.
func Disconnect(db *gorm.DB) error {
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

// awaitClosed waits until the last connection is closed. A transaction with an ended context is rolled back by a
// goroutine of database/sql, so Close may return before it: until then the log may still be checkpointed by a program
// that has released its lock.
func awaitClosed(pool *sql.DB) {
	const timeout = 2 * time.Second
	for end := time.Now().Add(timeout); pool.Stats().OpenConnections > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// FileURI returns the URI of a database for SQLite, with ?, # and % of the path escaped.
func FileURI(path string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path}).String()
}

// MakeDir creates a data directory, accessible to its owner only (SPEC 13), durably: a power failure must not remove
// it together with acknowledged data.
func MakeDir(dir string) error {
	if dir == "" {
		return fs.ErrNotExist
	}
	if err := makeDurable(dir); err != nil {
		return err
	}
	return narrow(dir, 0o700)
}

// makeDurable syncs all new parents up to an existing one: a directory is durable only if its parents are.
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

// SecureFile makes sure the database exists durably with mode 0600; SQLite gives its companion files, the log and the
// shared memory, the same mode.
func SecureFile(path string) error {
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

// narrow removes permissions beyond mode. A file system without modes is ignored.
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
