package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faults"
	"contextinfinity/backend/store/sqlite"
)

// applicationID marks our databases in their header: "CINF".
const applicationID = 0x43494E46

// VersionTable is where the migrator records applied migrations.
const VersionTable = "goose_db_version"

// Found is the result of a read-only probe of the file.
type Found struct {
	Version int64 // 0: no database, or an empty one
	Newest  int64 // the newest version this program knows
	Started bool  // its first migration was interrupted: it is still empty
}

// Probe reads the database before anything may write to it, and refuses one that is newer, damaged or another
// program's.
func Probe(ctx context.Context, place sqlite.Place, steps fs.FS) (Found, error) {
	const op = "store.open"
	have := Found{Newest: NewestVersion(steps)}
	info, err := os.Stat(place.Path)
	if os.IsNotExist(err) || err == nil && info.Size() == 0 {
		return have, nil
	}
	if err != nil {
		return have, sqlite.MapError(op, err)
	}
	if info.IsDir() {
		return have, chat.Errorf(chat.CodeCorrupt, op, "%s is a folder, where the database should be. Nothing was changed.", place.Path).
			WithHint("move it away; contextinfinity backups lists what contextinfinity restore can put in its place")
	}
	have.Version, err = readVersionAt(ctx, place)
	if err != nil {
		return have, Unopenable(place.Path, err)
	}
	have.Started = have.Version == 0 && info.Size() > sqlite.MinSize
	if have.Version > have.Newest {
		return have, chat.Errorf(chat.CodeNewer, op,
			"The data was written by a newer version of ContextInfinity (schema %d, this one knows %d). It was left untouched.",
			have.Version, have.Newest).WithHint("install the newer version")
	}
	return have, nil
}

// ReadVersion briefly opens the file read-only. If the program died during a change without a write-ahead log, such
// as switching the log on, SQLite must first roll that change back, for which it needs to write.
func ReadVersion(ctx context.Context, path string) (int64, error) {
	return readVersionAt(ctx, sqlite.Place{Path: path})
}

func readVersionAt(ctx context.Context, place sqlite.Place) (int64, error) {
	if err := sqlite.Prepare(place.Path); err != nil {
		return 0, err
	}
	q := place.Query()
	if sqlite.SizeOf(place.Path+"-journal") == 0 {
		q.Set("mode", "ro")
	}
	q["_pragma"] = []string{"busy_timeout(5000)", "query_only(1)"}
	db, err := sql.Open(sqlite.Driver, sqlite.FileURI(place.Path)+"?"+q.Encode())
	if err != nil {
		return 0, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var tables, app int64
	var versioned bool
	row := db.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(name = ?), 0) > 0 FROM sqlite_master`, VersionTable)
	if err := row.Scan(&tables, &versioned); err != nil {
		return 0, err
	}
	if err := db.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&app); err != nil {
		return 0, err
	}
	if tables == 0 {
		return 0, nil
	}
	if !versioned || app != applicationID {
		return unfinishedVersion(ctx, db, versioned, app, tables)
	}
	var version int64
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM `+VersionTable).Scan(&version)
	return version, err
}

// unfinishedVersion distinguishes our database with an interrupted first migration, which has only the migrator's
// table, from another program's.
func unfinishedVersion(ctx context.Context, db *sql.DB, versioned bool, app, tables int64) (int64, error) {
	var others int64
	err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' AND name <> ?`,
		VersionTable).Scan(&others)
	if err == nil && (!versioned || others > 0) {
		err = fmt.Errorf("not a database of this program: application id %#x, %d objects", app, tables)
	}
	return 0, err
}

func Unopenable(path string, err error) error {
	mapped := chat.AsError(sqlite.MapError("store.open", err))
	switch mapped.Code {
	case chat.CodeCancelled, chat.CodeTimeout, chat.CodeLocked, chat.CodeNoSpace, chat.CodeSealed, chat.CodeNewer:
		return mapped
	}
	if sqlite.IsDiskError(err) {
		return mapped // which says nothing about the file's content
	}
	return chat.WrapError(chat.CodeCorrupt, "store.open", err,
		"The database %s cannot be opened.", path).
		WithHint("nothing was overwritten; keep a copy of the file; contextinfinity backups lists what contextinfinity restore can put in its place")
}

func NewestVersion(steps fs.FS) int64 {
	names, _ := fs.Glob(steps, "*.sql")
	var newest int64
	for _, name := range names {
		if v, err := goose.NumericComponent(name); err == nil {
			newest = max(newest, v)
		}
	}
	return newest
}

// Upgrade migrates an open database to the newest schema.
func Upgrade(ctx context.Context, writer *gorm.DB, steps fs.FS, log *slog.Logger) error {
	const op = "store.migrate"
	pool, err := writer.DB()
	if err != nil {
		return sqlite.MapError(op, err)
	}
	list, err := migrationsOf(steps)
	if err != nil {
		return sqlite.MapError(op, err)
	}
	up, err := goose.NewProvider(goose.DialectSQLite3, pool, nil, goose.WithSlog(log), goose.WithDisableGlobalRegistry(true),
		goose.WithGoMigrations(list...))
	if err != nil {
		return sqlite.MapError(op, err)
	}
	for err == nil {
		if err = faults.Point("store.migration"); err == nil {
			_, err = up.UpByOne(ctx)
		}
	}
	if !errors.Is(err, goose.ErrNoNextVersion) {
		return migrationFailed(op, err)
	}
	return nil
}

// migrationsOf passes each file to SQLite as it is, in one transaction: goose's own SQL reader allocates a buffer of
// 4 MB for each line, which took a third of the time of the tests. The files stay in goose's format.
func migrationsOf(steps fs.FS) ([]*goose.Migration, error) {
	names, err := fs.Glob(steps, "*.sql")
	if err != nil {
		return nil, err
	}
	list := make([]*goose.Migration, 0, len(names))
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		script, err := fs.ReadFile(steps, name)
		if err != nil {
			return nil, err
		}
		run := func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, string(script)); err != nil {
				return fmt.Errorf("migration %s: %w", name, err)
			}
			if step := goSteps[version]; step != nil {
				return step(ctx, tx)
			}
			return nil
		}
		list = append(list, goose.NewGoMigration(version, &goose.GoFunc{RunTx: run}, nil))
	}
	return list, nil
}

// goSteps are the parts of migrations that SQL cannot do, run after their scripts.
var goSteps = map[int64]func(context.Context, *sql.Tx) error{10: reindexTexts}

func migrationFailed(op string, err error) error {
	mapped := chat.AsError(sqlite.MapError(op, err))
	if mapped.Code != chat.CodeInternal {
		return mapped
	}
	return chat.WrapError(chat.CodeInternal, op, err, "The data could not be upgraded. Nothing is lost, and the upgrade will be retried at the next start.").
		WithHint("the backup made before it is in the folder " + sqlite.BackupDir)
}
