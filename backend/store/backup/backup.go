// Package backup makes and restores backups, moves the data directory, and starts over after the database was lost.
// It works without an open store.
package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"gorm.io/gorm"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/faults"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// ArchiveOptions say which data directory an Archive backs up, and how.
type ArchiveOptions struct {
	DataDir string
	Config  string       // the configuration file, which backups include; empty: none
	Keyring Keyring      // nil: none, for what changes no lock
	Clock   clock.Clock  // nil: the system's
	Logger  *slog.Logger // nil: silent
}

// An opener opens a copy of the data the way the program does, which migrates it to the newest schema.
type opener func(ctx context.Context, o ArchiveOptions, steps fs.FS) (*core.Core, io.Closer, error)

// Archive writes, lists and restores backups of a data directory. It needs no open store and works on data of an
// older schema, so it is available when the data cannot be opened.
//
// A backup is one file: a compact database. Two extra tables hold the description of the backup and what is not in
// the database: the configuration and the journals of the steps that were running. Without the journals a restore
// would lose the partial answer that had arrived when the backup was made.
type Archive struct {
	dir, ConfigFile string
	clock           clock.Clock
	log             *slog.Logger
	steps           fs.FS
	open            opener
	keyring         Keyring
	locks           sync.Mutex // held by whoever changes LockFile or keyringFile while the data is open
	// At is called at each step of a restore, so that tests can end the process there.
	At func(step string)
}

// New does no disk access. The steps are the migrations to the newest schema.
func New(o ArchiveOptions, steps fs.FS, open opener) *Archive {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Keyring == nil {
		o.Keyring = noKeyring{}
	}
	a := &Archive{dir: o.DataDir, ConfigFile: o.Config, clock: o.Clock, log: o.Logger, steps: steps, open: open, keyring: o.Keyring}
	a.At = func(step string) {
		if err := faults.Point("restore.step"); err != nil { // nothing to undo here: the fault point may only end the process
			a.log.Warn("a step of a restore", "step", step, "err", err)
		}
	}
	return a
}

func (a *Archive) database() string { return filepath.Join(a.dir, sqlite.DatabaseFile) }

// ErrChanged means that the data changed during the copy, so that the copy and the files beside it are from different
// moments.
var ErrChanged = errors.New("the data changed while it was being copied")

// backupTries is how often the copy is started again after ErrChanged. Many short answers in a row, as from a script,
// can cause several.
const backupTries = 10

// Backup writes a checked copy of the data to a new file, or under a dated name into a folder. It reads on its own
// connection, so writers continue meanwhile.
//
// Errors: CodeConflict (the file exists, or a restore was interrupted), CodeNotFound (no data, or no such folder),
// CodeNewer, CodeCorrupt, CodeNoSpace. A failed copy leaves no file.
func (a *Archive) Backup(ctx context.Context, path string) (chat.Backup, error) {
	if err := RefuseHalfRestored(a.dir); err != nil {
		return chat.Backup{}, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, BackupName("", a.clock.Now()))
	}
	if whole, err := filepath.Abs(path); err == nil {
		if err := atrest.Remember(a.dir, atrest.Remembered{Copy: whole}); err != nil {
			a.log.Warn("the place of a backup cannot be recorded", "err", err)
		}
	}
	return a.write(ctx, path, chat.BackupByHand)
}

func (a *Archive) write(ctx context.Context, path string, kind chat.BackupKind) (chat.Backup, error) {
	return a.writeVerified(ctx, path, kind, false)
}

// writeVerified is write; with verify set, the backup also records how many problems its data has.
func (a *Archive) writeVerified(ctx context.Context, path string, kind chat.BackupKind, verify bool) (chat.Backup, error) {
	const op = "store.backup"
	have, from, err := schema.Locate(ctx, a.dir, a.steps)
	from.Reading = true
	defer from.Leave()
	if err != nil && (kind != chat.BackupBeforeRestore || chat.CodeOf(err) != chat.CodeNewer) {
		return chat.Backup{}, err
	}
	if err := RefuseLost(a.dir, have); err != nil {
		return chat.Backup{}, err
	}
	if have.Version == 0 {
		return chat.Backup{}, chat.Errorf(chat.CodeNotFound, "store.open", "There is no data in %s yet.", a.dir).
			WithHint("send a first message")
	}
	if _, err := os.Lstat(path); err == nil {
		return chat.Backup{}, existsAlready(path)
	}
	for try := 1; ; try++ {
		b, err := a.writeOnce(ctx, from, path, chat.Backup{Path: path, Kind: kind, Schema: have.Version}, verify)
		if !errors.Is(err, ErrChanged) {
			return b, sqlite.MapError(op, err)
		}
		if try == backupTries {
			return b, chat.WrapError(chat.CodeBusy, op, err, "The data kept changing while it was being copied, so no consistent backup could be made; nothing is lost.").
				WithHint("try again")
		}
	}
}

func existsAlready(path string) error {
	return chat.Errorf(chat.CodeConflict, "store.backup", "There is already a file %s.", path).WithHint("choose another name")
}

// writeOnce writes a temporary file, checks it and renames it last, so that a file with a backup's name is always
// complete.
func (a *Archive) writeOnce(ctx context.Context, from sqlite.Place, path string, b chat.Backup, verify bool) (chat.Backup, error) {
	folder, err := atrest.MakeFolder(filepath.Dir(path), atrest.BackupPrefix)
	if err != nil {
		return b, targetError(path, err)
	}
	defer func() { _ = folder.Remove() }()
	temp := folder.File(sqlite.DatabaseFile)
	if err := createEmpty(temp); err != nil {
		return b, targetError(path, err)
	}
	b.At = a.clock.Now()
	if err := a.copyTo(ctx, from, temp, &b); err != nil {
		return b, err
	}
	if verify {
		if err := verifyDaily(ctx, temp, &b); err != nil {
			return b, err
		}
	}
	if err := syncFile(temp); err != nil {
		return b, targetError(path, err)
	}
	if err := a.ReadBack(ctx, temp, b); err != nil {
		return b, err
	}
	b.Checked = true
	if b.Bytes, b.SHA256, err = hashFile(temp); err != nil {
		return b, targetError(path, err)
	}
	if err := nameNew(temp, path); err != nil {
		return b, targetError(path, err)
	}
	return b, targetError(path, errors.Join(syncDir(filepath.Dir(path)), syncDir(folder.Path)))
}

// copyTo fills a file with a consistent copy of the data and the files that belong to it.
func (a *Archive) copyTo(ctx context.Context, from sqlite.Place, temp string, b *chat.Backup) error {
	source, err := sqlite.ConnectAt(from, sqlite.CommonPragmas, 1)
	if err != nil {
		return err
	}
	defer func() { _ = sqlite.Disconnect(source) }()
	source = source.WithContext(ctx)
	journals, err := a.Journals()
	if err != nil {
		return err
	}
	before, err := countRecords(source)
	if err != nil {
		return err
	}
	if err := source.Exec(`VACUUM INTO ?`, temp).Error; err != nil {
		return err
	}
	after, err := countRecords(source)
	if err != nil {
		return err
	}
	later, err := a.Journals()
	if err != nil {
		return err
	}
	for name, text := range later {
		journals[name] = text // journals only grow
	}
	// The file is not in use yet; it is synced once at the end.
	to, err := sqlite.Connect(temp, append([]string{"journal_mode(MEMORY)", "synchronous(OFF)"}, sqlite.CommonPragmas...), 1)
	if err != nil {
		return err
	}
	to = to.WithContext(ctx)
	return errors.Join(a.complete(to, source, b, [2]map[string]int64{before, after}, journals), sqlite.Disconnect(to))
}

// complete compares the record counts of the copy with those before and after copying, and writes the description and
// the extra files into it.
func (a *Archive) complete(to, source *gorm.DB, b *chat.Backup, around [2]map[string]int64, journals map[string][]byte) (err error) {
	if b.Counts, err = countRecords(to); err != nil {
		return err
	}
	for table, n := range b.Counts {
		x, y := around[0][table], around[1][table]
		if n < min(x, y) || n > max(x, y) {
			return ErrChanged
		}
	}
	files, err := NeededJournals(to, source, journals)
	if err != nil {
		return err
	}
	if a.ConfigFile != "" {
		text, err := os.ReadFile(a.ConfigFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return chat.WrapError(chat.CodeConfig, "store.backup", err, "The configuration file %s cannot be read, so the backup would miss it; none was made.", a.ConfigFile).
				WithHint("fix its permissions")
		}
		if err == nil {
			files[schema.ConfigName] = text
		}
	}
	fingerprint, err := fingerprintOf(to, files)
	if err != nil {
		return err
	}
	return writeInfo(to, *b, fingerprint, files)
}

// NeededJournals selects the journals of the steps that are running in a copy. If such a step ended while the copy was
// made and its journal is already deleted, the copy is useless: ErrChanged.
func NeededJournals(to, source *gorm.DB, journals map[string][]byte) (map[string][]byte, error) {
	files := map[string][]byte{}
	running, err := sqlite.All[string](to, `SELECT id FROM steps WHERE status = 'running' ORDER BY id`)
	if err != nil {
		return nil, err
	}
	for _, id := range running {
		name := id + sqlite.JournalExtension
		if text, ok := journals[name]; ok {
			files[sqlite.StreamDir+"/"+name] = text
			continue
		}
		still, err := sqlite.All[int](source, `SELECT 1 FROM steps WHERE id = ? AND status = 'running'`, id)
		if err != nil {
			return nil, err
		}
		if len(still) == 0 {
			return nil, ErrChanged
		}
	}
	return files, nil
}

// Journals returns the stream journals by file name. They hold the part of a running answer that is not in the
// database yet.
func (a *Archive) Journals() (map[string][]byte, error) {
	files := map[string][]byte{}
	entries, err := os.ReadDir(filepath.Join(a.dir, sqlite.StreamDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if !sqlite.IsJournal(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(a.dir, sqlite.StreamDir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted in the meantime
		}
		if err == nil && seal.Known() {
			text, err = journal.Plain(e.Name(), text)
		}
		if err != nil {
			return nil, err
		}
		files[e.Name()] = text
	}
	return files, nil
}

// ReadBack checks the written file on a read-only connection.
func (a *Archive) ReadBack(ctx context.Context, path string, b chat.Backup) error {
	db, err := sqlite.Connect(path, sqlite.ReadBackPragmas, 1)
	if err != nil {
		return sqlite.MapError("store.backup", err)
	}
	defer func() { _ = sqlite.Disconnect(db) }()
	problem, err := checkCopy(db.WithContext(ctx), b)
	if err != nil {
		return sqlite.MapError("store.backup", err)
	}
	if problem != "" {
		return chat.Errorf(chat.CodeCorrupt, "store.backup", "The copy that was written differs from what was read (%s); it was removed.", problem).
			WithHint("check the disk, and run verify")
	}
	return nil
}

// checkCopy returns what is wrong with a backup, or "".
func checkCopy(db *gorm.DB, b chat.Backup) (string, error) {
	lines, err := sqlite.All[string](db, `PRAGMA quick_check(3)`)
	if err != nil {
		return "", err
	}
	if len(lines) != 1 || lines[0] != "ok" {
		return strings.Join(lines, "; "), nil
	}
	counts, err := countRecords(db)
	if err != nil {
		return "", err
	}
	for table, n := range b.Counts {
		if counts[table] != n {
			return "it has " + sqlite.Itoa(counts[table]) + " records of " + table + " instead of " + sqlite.Itoa(n), nil
		}
	}
	return damagedFile(db)
}

// hashFile returns a file's size and SHA-256.
func hashFile(path string) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return n, hex.EncodeToString(sum.Sum(nil)), err
}

// targetError describes why a backup cannot be written to its destination.
func targetError(path string, err error) error {
	const op = "store.backup"
	dir := filepath.Dir(path)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return existsAlready(path)
	case errors.Is(err, fs.ErrNotExist):
		return chat.WrapError(chat.CodeNotFound, op, err, "There is no folder %s; no backup was written.", dir).
			WithHint("create it first, or choose another")
	case errors.Is(err, fs.ErrPermission):
		return chat.WrapError(chat.CodeInvalid, op, err, "You do not have permission to write to the folder %s; no backup was written.", dir).
			WithHint("choose another")
	}
	mapped := chat.AsError(sqlite.MapError(op, err))
	if mapped.Code != chat.CodeInternal {
		return mapped
	}
	return chat.WrapError(chat.CodeInvalid, op, err, "No backup can be written to %s: %s.", path, sqlite.Reason(err)).
		WithHint("choose another place")
}

// BeforeUpgrade makes a copy named after the data's version and the time. A failing upgrade is retried at each start;
// the copy from the first attempt is enough.
func (a *Archive) BeforeUpgrade(ctx context.Context, version int64) (string, error) {
	dir := filepath.Join(a.dir, sqlite.BackupDir)
	if err := sqlite.MakeDir(dir); err != nil {
		return "", sqlite.MapError("store.migrate", err)
	}
	label := fmt.Sprintf("v%d", version)
	if path, err := a.unchangedBackup(ctx, dir, label); err != nil || path != "" {
		return path, err
	}
	b, err := a.write(ctx, filepath.Join(dir, BackupName(label, a.clock.Now())), chat.BackupMigration)
	return b.Path, err
}
