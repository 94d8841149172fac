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

// Readers is the size of the pool of reading connections.
const Readers = 4

// Each connection is set up by these pragmas. Temporary tables stay in memory:
// no text of the user's outside the data directory. The page size is that of new
// databases: two turns fit on one, of which a smaller page holds one and much air.
// fullfsync matters on macOS alone, where a plain fsync leaves data in the drive's cache.
// A reader's cache, in KB, holds the rows of some 100 000 units: with less, each term of
// a search reads and checks the same pages again.
var (
	CommonPragmas = []string{
		"busy_timeout(5000)", "foreign_keys(1)", "temp_store(2)", "trusted_schema(0)",
		"cell_size_check(1)",
	}
	WriterPragmas = append([]string{"page_size(8192)", "journal_mode(WAL)", "synchronous(FULL)", "fullfsync(1)", "checkpoint_fullfsync(1)", "wal_autocheckpoint(1000)", "cache_size(-8000)"}, CommonPragmas...)
	ReaderPragmas = append([]string{"query_only(1)", "cache_size(-24000)"}, CommonPragmas...)
)

// Connect opens a pool on a file that is there: one that is not is never made by
// looking for it, least of all while a restore moves it. Writers begin immediate transactions: a deferred one
// that reads first and then writes loses to SQLITE_BUSY three times in four.
func Connect(path string, pragmas []string, connections int) (*gorm.DB, error) {
	return ConnectAt(Place{Path: path}, pragmas, connections)
}

// ConnectAt is connect to a database that may be frozen.
func ConnectAt(at Place, pragmas []string, connections int) (*gorm.DB, error) {
	q := at.Query()
	q["_pragma"] = pragmas
	q.Set("_txlock", "deferred")
	if connections == 1 {
		q.Set("_txlock", "immediate")
	}
	pool, err := sql.Open(sqlite.DriverName, FileURI(at.Path)+"?"+q.Encode())
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

// Disconnect closes a pool and waits until its last connection is gone; nil is none.
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

// FileURI names a database for SQLite: in a URI a ?, # or % of the path must not
// be taken for syntax.
func FileURI(path string) string {
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

// SecureFile makes sure the database exists, for good, with mode 0600; SQLite gives
// its companions, the WAL and the shared memory, the same mode.
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
