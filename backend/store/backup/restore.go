package backup

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/search"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/store/verify"
)

const opRestore = "store.restore"

// maxReported is how many of verify's findings a restore reports.
const maxReported = 20

// Restore replaces the data with a backup. The backup is first copied into the data directory, then checked, upgraded
// and verified there, so that exactly the checked data is used. confirm is shown what would be replaced; if it returns
// an error, nothing is changed. The replaced data is backed up first, or quarantined if it cannot be read. A crash at
// any moment leaves either the old data or the new, complete (see FinishRestore).
//
// The path may be just the name of a file in the backup folder.
//
// Errors: CodeLocked (a program has the data open), CodeNotFound, CodeInvalid (not a backup of this program),
// CodeNewer, CodeCorrupt, CodeNoSpace. In all these cases the data is unchanged.
func (a *Archive) Restore(ctx context.Context, path string, confirm func(chat.Restoration) error) (chat.Restoration, error) {
	if err := sqlite.MakeDir(a.dir); err != nil {
		return chat.Restoration{}, sqlite.MapError(opRestore, err)
	}
	lock, err := sqlite.LockWriter(a.dir, "")
	if err != nil {
		if e := chat.AsError(err); e.Code == chat.CodeLocked {
			return chat.Restoration{}, e.WithHint("close that window, or exit the chat in the terminal, then restore")
		}
		return chat.Restoration{}, err
	}
	defer func() { _ = lock.Release() }()
	if _, err := a.FinishRestore(); err != nil {
		return chat.Restoration{}, err
	}
	r := restoring{Archive: a, source: path}
	defer r.discard()
	if err := r.prepare(ctx); err != nil {
		return r.out, sqlite.MapError(opRestore, err)
	}
	if err := confirm(r.out); err != nil {
		return r.out, err
	}
	err = r.replace(ctx)
	return r.out, sqlite.MapError(opRestore, err)
}

// restoring is one run of Restore.
type restoring struct {
	*Archive
	source  string
	folder  *atrest.Folder // of the staging directory
	staging string         // a data directory inside the real one
	begun   bool           // the swap is recorded: from here on it can only be completed
	adopted bool           // the lock of the backup becomes that of the data
	found   []chat.Finding // of the backup's own tables
	out     chat.Restoration
}

func (r *restoring) staged() string { return filepath.Join(r.staging, sqlite.DatabaseFile) }

// discard removes the prepared data, unless the swap has begun.
func (r *restoring) discard() {
	switch {
	case r.folder == nil:
	case r.begun:
		r.folder.Release()
	default:
		if r.adopted {
			seal.UseNone()
		}
		_ = r.folder.Remove()
	}
}

// prepare builds the replacement data in the staging directory.
func (r *restoring) prepare(ctx context.Context) error {
	if err := r.locate(); err != nil {
		return err
	}
	staging := filepath.Join(r.dir, StagingPrefix+r.clock.Now().Format(backupStamp))
	folder, err := atrest.MakeNamed(faultfs.Backup, staging)
	if err != nil {
		return err
	}
	r.folder, r.staging = folder, staging
	if err := r.copySource(); err != nil {
		return err
	}
	r.At("copied")
	if err := r.check(ctx); err != nil {
		return err
	}
	if err := r.upgrade(ctx); err != nil {
		return err
	}
	if err := r.recode(); err != nil {
		return err
	}
	r.At("checked")
	r.out.Present = r.summarize(ctx, r.database())
	return r.reportUndone(ctx)
}

// locate finds the backup file and refuses one that cannot be a backup.
func (r *restoring) locate() error {
	path := r.source
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		name := filepath.Base(r.source)
		path = filepath.Join(r.dir, sqlite.BackupDir, name)
		if info, err = os.Stat(path); err != nil {
			return chat.Errorf(chat.CodeNotFound, opRestore, "There is no file %s, and no backup %s; nothing was changed.", r.source, name).
				WithHint("contextinfinity backups lists them")
		}
	}
	if err != nil {
		return chat.WrapError(chat.CodeInvalid, opRestore, err, "The file %s cannot be read: %s; nothing was changed.", path, sqlite.Reason(err))
	}
	if !info.Mode().IsRegular() {
		return chat.Errorf(chat.CodeInvalid, opRestore, "%s is not a file; nothing was changed.", path).
			WithHint("name the backup in it")
	}
	if present, err := os.Stat(r.database()); err == nil && os.SameFile(info, present) {
		return chat.Errorf(chat.CodeInvalid, opRestore, "%s is the current data itself; nothing was changed.", path)
	}
	r.out.Source = path
	present := sqlite.SizeOf(r.database()) + sqlite.SizeOf(r.database()+"-wal")
	free, err := sqlite.FreeSpace(r.dir)
	if err != nil {
		return err
	}
	if need := info.Size() + present; free < need { // the copy, and a backup of the replaced data
		return chat.Errorf(chat.CodeNoSpace, opRestore, "The disk has %d MB free; a restore needs %d MB, for a copy of what it replaces too. Nothing was changed.",
			free>>20, need>>20+1).WithHint("free some space and try again")
	}
	return nil
}

// copySource copies the file, and the log beside it if it was copied from a running program's directory. The user's
// file is never opened by SQLite, which might write to it.
func (r *restoring) copySource() error {
	head, err := readHead(r.out.Source)
	if err != nil {
		return chat.WrapError(chat.CodeInvalid, opRestore, err, "The file %s cannot be read: %s; nothing was changed.", r.out.Source, sqlite.Reason(err))
	}
	if head != "SQLite format 3\x00" && !seal.IsHeader([]byte(head)) {
		return r.notABackup(nil)
	}
	if err := sqlite.Prepare(r.out.Source); err != nil {
		return err
	}
	if err := r.adoptLock(); err != nil {
		return err
	}
	log := r.out.Source + "-wal"
	if sqlite.SizeOf(log) == 0 && !sqlite.AsNew(r.out.Source) {
		return sqlite.Recode(r.out.Source, r.staged())
	}
	if err := sqlite.CopyFile(r.out.Source, r.staged()); err != nil || sqlite.SizeOf(log) == 0 {
		return err
	}
	return sqlite.CopyFile(log, r.staged()+"-wal")
}

// adoptLock seals data that is plain, or not there, from now on as the backup is sealed.
func (r *restoring) adoptLock() error {
	lock, key, sealed, err := sqlite.LockOf(r.out.Source)
	if _, _, has := seal.Current(); err != nil || !sealed || has {
		return err
	}
	seal.Use(lock, key)
	r.adopted = true
	return writeLock(filepath.Join(r.staging, LockFile), sealedLock{Lock: lock, Unfinished: true})
}

// recode seals the staged database as a new one would be, or unseals it. A backup with a log beside it is staged as it
// is, because the log belongs to its header.
func (r *restoring) recode() error {
	if sqlite.AsNew(r.staged()) {
		return nil
	}
	other := r.staged() + ".recoded"
	if err := sqlite.Recode(r.staged(), other); err != nil {
		return err
	}
	return faultfs.Rename(faultfs.Backup, other, r.staged())
}

func readHead(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return string(head[:n]), err
}

func (r *restoring) notABackup(err error) error {
	return chat.WrapError(chat.CodeInvalid, opRestore, err, "%s is not a backup of ContextInfinity; nothing was changed.", r.out.Source).
		WithHint("contextinfinity backups lists what there is")
}

// check checks the copy and extracts the files stored in it.
func (r *restoring) check(ctx context.Context) error {
	db, err := sqlite.Connect(r.staged(), append([]string{"journal_mode(DELETE)"}, sqlite.CommonPragmas...), 1)
	if err != nil {
		return r.damaged(err)
	}
	err = r.checkOpen(ctx, db.WithContext(ctx))
	return errors.Join(err, sqlite.Disconnect(db))
}

func (r *restoring) checkOpen(ctx context.Context, db *gorm.DB) error {
	lines, err := sqlite.All[string](db, `PRAGMA integrity_check(3)`) // also checkpoints a log beside it
	if err != nil || len(lines) != 1 || lines[0] != "ok" {
		return r.damaged(errors.Join(err, errors.New(strings.Join(lines, "; "))))
	}
	version, err := schema.ReadVersion(ctx, r.staged())
	switch newest := schema.NewestVersion(r.steps); {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil || version == 0:
		return r.notABackup(err)
	case version > newest:
		return chat.Errorf(chat.CodeNewer, opRestore,
			"The backup was written by a newer version of ContextInfinity (schema %d, this one knows %d). Nothing was changed.", version, newest).
			WithHint("install the newer version")
	}
	foreign, err := schema.ForeignCode(db, r.steps)
	if err != nil {
		return r.damaged(err)
	}
	if len(foreign) > 0 { // it would run with the first change, before anything could report it
		return chat.Errorf(chat.CodeInvalid, opRestore, "%s was changed by another program: it contains %s, which would run inside "+
			"this program. It was not restored; nothing was changed.", r.out.Source, strings.Join(foreign, ", ")).
			WithHint("choose another: contextinfinity backups --check")
	}
	broken, err := sqlite.All[string](db, `SELECT DISTINCT "table" FROM pragma_foreign_key_check`)
	if err != nil || len(broken) > 0 {
		return r.damaged(errors.Join(err, errors.New("references of "+strings.Join(broken, ", "))))
	}
	r.out.Backup = r.summarize(ctx, r.staged())
	if r.out.Backup.Problem != "" {
		return r.damaged(errors.New(r.out.Backup.Problem))
	}
	kind, _, ok := ParseName(filepath.Base(r.out.Source))
	if r.out.Kind = chat.BackupByHand; ok {
		r.out.Kind = kind
	}
	info := chat.Backup{Kind: r.out.Kind}
	if _, described, err := readInfo(db, &info); err != nil {
		return r.damaged(err)
	} else if described {
		r.out.Kind, r.out.TakenAt = info.Kind, &info.At
	}
	if ok, err := infoMatches(db, version); err != nil {
		return r.damaged(err)
	} else if !ok {
		r.found = append(r.found, chat.Finding{Kind: verify.FindIntegrity, Table: schema.InfoTable, Message: "The description of the backup was changed: its time, kind or number of records may be wrong. Its records are checked separately."})
	}
	return r.unpack(db)
}

func (r *restoring) damaged(err error) error {
	if e := chat.AsError(sqlite.MapError(opRestore, err)); e.Code == chat.CodeCancelled || e.Code == chat.CodeNoSpace {
		return e
	}
	return chat.WrapError(chat.CodeCorrupt, opRestore, err, "%s is damaged, so it was not restored; nothing was changed.", r.out.Source).
		WithHint("choose another: contextinfinity backups --check")
}

// unpack writes the backup's files into the staging directory and drops its extra tables from the copy.
func (r *restoring) unpack(db *gorm.DB) error {
	streams := filepath.Join(r.staging, sqlite.StreamDir)
	if err := faultfs.Mkdir(faultfs.Backup, streams, 0o700); err != nil {
		return err
	}
	files, err := FilesIn(db)
	if err != nil {
		return r.damaged(err)
	}
	for _, f := range files {
		name, isStream := strings.CutPrefix(f.Name, sqlite.StreamDir+"/")
		switch {
		case !f.isIntact():
			return r.damaged(errors.New(f.Name + " does not match its hash"))
		case f.Name == schema.ConfigName:
			err = writeFile(filepath.Join(r.staging, schema.ConfigName), f.Content)
		case isStream && sqlite.IsJournal(name):
			var stored []byte
			if stored, err = journal.Stored(name, f.Content); err == nil {
				err = writeFile(filepath.Join(streams, name), stored)
			}
			r.out.Journals++
		default:
			return r.damaged(errors.New("it contains a file that does not belong in a backup"))
		}
		if err != nil {
			return err
		}
	}
	for _, table := range []string{schema.InfoTable, schema.FilesTable} {
		if err := db.Exec(`DROP TABLE IF EXISTS ` + table).Error; err != nil {
			return err
		}
	}
	return syncDir(streams)
}

// upgrade opens the copy the way the program does, which migrates it to the current schema, and verifies it. A
// failing upgrade cannot affect the current data this way.
func (r *restoring) upgrade(ctx context.Context) error {
	c, open, err := r.open(ctx, ArchiveOptions{DataDir: r.staging, Clock: r.clock, Logger: r.log}, r.steps)
	if err != nil {
		return err
	}
	r.out.Schema = schema.NewestVersion(r.steps)
	if err := markRestored(ctx, c); err != nil {
		return errors.Join(err, open.Close())
	}
	found, err := verify.New(c, &search.Search{Core: c}).Verify(ctx)
	if err = errors.Join(err, open.Close()); err != nil {
		return err
	}
	found = append(r.found, found...)
	r.out.Problems = len(found)
	r.out.Findings = append([]chat.Finding{}, found[:min(len(found), maxReported)]...)
	if sqlite.SizeOf(r.staged()+"-wal") > 0 {
		return chat.Errorf(chat.CodeBusy, opRestore, "Another program is reading the copy of the backup; nothing was changed.").WithHint("try again")
	}
	return nil
}

// summarize describes a database's content, on a read-only connection.
func (r *restoring) summarize(ctx context.Context, path string) chat.DataSummary {
	d := chat.DataSummary{Exists: sqlite.SizeOf(path) > 0}
	if !d.Exists {
		return d
	}
	var err error
	if d.Schema, err = schema.ReadVersion(ctx, path); err == nil && d.Schema > 0 {
		err = summarizeInto(ctx, path, &d)
	}
	if err != nil {
		d.Problem = chat.AsError(schema.Unopenable(path, err)).Message
	}
	return d
}

func summarizeInto(ctx context.Context, path string, d *chat.DataSummary) error {
	db, err := sqlite.ConnectAt(sqlite.Place{Path: path, Reading: true}, sqlite.ReadBackPragmas, 1)
	if err != nil {
		return err
	}
	defer func() { _ = sqlite.Disconnect(db) }()
	row, err := sqlite.One[struct {
		Sessions, Turns int64
		Newest          *string
	}](db.WithContext(ctx), "summary", "", `SELECT (SELECT count(*) FROM sessions s WHERE `+schema.Conversations+`) AS sessions,
		(SELECT count(*) FROM turns) - (SELECT count(*) FROM sessions WHERE source = 'files') AS turns,
		(SELECT max(created_at) FROM turns) AS newest`)
	if err != nil {
		return err
	}
	d.Sessions, d.Turns = row.Sessions, row.Turns
	if row.Newest != nil {
		at, err := chat.ParseTime(*row.Newest)
		if err != nil {
			return err
		}
		d.NewestTurn = &at
	}
	return nil
}

// replace backs up the current data and puts the prepared data in its place.
func (r *restoring) replace(ctx context.Context) error {
	swap := Swap{Staging: filepath.Base(r.staging), Aside: filepath.Join(core.ReplacedDir, r.clock.Now().Format(backupStamp))}
	// A backup of data with a damaged log lacks the unreadable changes, so the files themselves are kept instead.
	if damage, err := sqlite.DamagedLog(r.dir); err == nil && damage == "" && sqlite.SizeOf(r.database()) > 0 {
		dir := filepath.Join(r.dir, sqlite.BackupDir)
		if err := sqlite.MakeDir(dir); err != nil {
			return err
		}
		kept, err := r.write(ctx, filepath.Join(dir, BackupName(labelRestore, r.clock.Now())), chat.BackupBeforeRestore)
		switch chat.CodeOf(err) {
		case "":
			r.out.Kept = &kept
		case chat.CodeCancelled, chat.CodeTimeout, chat.CodeNoSpace, chat.CodeLocked, chat.CodeBusy:
			return err
		}
	}
	if r.adopted {
		swap.Lock = LockSet
	}
	swap.Keep = r.out.Kept == nil // data that cannot be backed up is kept as files, even a log without its database
	r.At("backed up")
	if err := r.makeDurable(); err != nil {
		return err
	}
	if err := WriteSwap(r.dir, swap); err != nil {
		return err
	}
	r.begun = true
	r.folder.Release() // the folder is emptied and removed now
	r.At("written down")
	var err error
	if r.out.Config, err = r.FinishRestore(); err != nil {
		return err
	}
	r.out.Done = true
	if entries, err := os.ReadDir(filepath.Join(r.dir, swap.Aside)); err == nil && len(entries) > 0 {
		r.out.Aside = filepath.Join(r.dir, swap.Aside)
	}
	return nil
}

// makeDurable syncs all prepared files.
func (r *restoring) makeDurable() error {
	if err := syncFile(r.staged()); err != nil {
		return err
	}
	return errors.Join(syncDir(filepath.Join(r.staging, sqlite.StreamDir)), syncDir(r.staging), syncDir(r.dir))
}
