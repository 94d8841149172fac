package backup

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/search"
	"contextinfinity/backend/store/sqlite"
)

// LockFile holds the locked key of a sealed data directory. Each sealed file has a copy of the lock that was in force
// when it was made.
const LockFile = "lock.json"

const opSeal = "store.seal"

// sealedLock is the content of LockFile.
type sealedLock struct {
	seal.Lock
	// Unfinished: backups may still be plain, or sealed with the previous key.
	Unfinished bool `json:"unfinished,omitempty"`
	// Previous is the previous key, sealed with this one, until all backups are sealed with this one. It opens those that
	// could not be converted.
	Previous []byte `json:"previous,omitempty"`
}

func writeLock(path string, l sealedLock) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, text, 0o600)
}

// readLock returns the lock of a data directory; false: it is not sealed. If LockFile is lost, the database has its lock.
func readLock(dir string) (l sealedLock, sealed bool, err error) {
	var w Swap // an interrupted one may be about to bring a lock, or to remove it
	if text, err := os.ReadFile(filepath.Join(dir, SwapFile)); err == nil && json.Unmarshal(text, &w) == nil && w.Lock == LockRemove {
		return l, false, nil
	}
	paths := []string{filepath.Join(dir, LockFile)}
	if w.Lock == LockSet && filepath.IsLocal(w.Staging) {
		paths = []string{filepath.Join(dir, w.Staging, LockFile), paths[0]}
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(text, &l)
		}
		if err == nil && !l.Valid() {
			err = seal.ErrDamaged
		}
		if err != nil {
			break // the database has a lock too
		}
		return l, true, nil
	}
	l = sealedLock{}
	l.Lock, sealed, err = sqlite.LockAt(filepath.Join(dir, sqlite.DatabaseFile))
	return l, sealed, err
}

// Unlock opens a sealed data directory with what was offered, or with what keyring returns for the name of a key, so that
// its files can be read and new ones are sealed. It does nothing for a directory that is not sealed, and if its key
// is not found: opening the data then says that it is sealed.
//
// Errors: CodeSealed (what was offered does not open it), CodeNewer, CodeCorrupt.
func Unlock(dir string, keyring func(id string) (seal.Key, bool)) error {
	l, sealed, err := readLock(dir)
	if err != nil || !sealed {
		return err
	}
	k, err := seal.Unlock(l.Lock)
	if errors.Is(err, seal.ErrSignIn) {
		if k, ok := keyring(l.Key); ok {
			seal.Know(k)
		}
		k, err = seal.Unlock(l.Lock)
	}
	switch {
	case errors.Is(err, seal.ErrNoKey):
		return nil
	case err != nil:
		return sqlite.HeaderError(filepath.Join(dir, LockFile), err)
	}
	seal.Use(l.Lock, k)
	if previous, ok := k.Unwrap(l.Previous); ok {
		seal.Know(previous)
	}
	return nil
}

// Sealing is what Reseal did.
type Sealing struct {
	Backups int      `json:"backups"` // converted
	Left    []string `json:"left"`    // could not be converted, and are as before
	Outside []string `json:"outside"` // copies outside of the data directory, which are never converted
}

// Reseal seals the data with a new key, or with another one than before, or unseals it: the key and the lock are those
// that seal.Use has made current, or there is none. Without a passphrase in the lock, the keyring gets the key first. The database and the journals are copied, compared, and exchanged as
// in a restore: a crash at any moment leaves the old or the new, complete. Then the backups are converted one by one;
// what a crash leaves of that is done at the next start. When it returns, the old files are removed.
//
// Errors: CodeLocked (a program has the data open), CodeNotFound (no data), CodeConflict, CodeBusy, CodeNoSpace,
// CodeCorrupt, CodeSealed (the key until now is not known), CodeUnavailable (the keyring does not store the key). The data
// is then as before.
func (a *Archive) Reseal(ctx context.Context) (s Sealing, err error) {
	err = a.whileHeld(func() error {
		s, err = a.reseal(ctx)
		a.tidyKeyring()
		return err
	})
	return s, err
}

func (a *Archive) reseal(ctx context.Context) (s Sealing, err error) {
	if err := a.settle(ctx); err != nil {
		return s, err
	}
	was, from, err := a.Lock()
	wasSealed := err == nil
	if !wasSealed && chat.CodeOf(err) != chat.CodeNotFound { // not found: it is plain
		return s, err
	}
	current, key, sealed := seal.Current()
	next := sealedLock{Lock: current, Unfinished: true}
	if wasSealed && sealed {
		next.Previous = key.Wrap(from)
	}
	if wasSealed && was.SignIn() {
		if err := a.noteKey(was.Key); err != nil {
			return s, err
		}
	}
	if sealed && current.SignIn() {
		if err := a.keepKey(key); err != nil {
			return s, err
		}
	}
	if !sealed { // while the key is still in force: what a crash leaves can still be opened
		if err := a.resealCopies(ctx, &s); err != nil {
			return s, err
		}
	}
	if err = a.exchangeSealed(next, sealed); err == nil && sealed {
		s, err = a.FinishSealing(ctx)
	}
	a.At("done")
	s.Outside = a.Outside()
	return s, err
}

// whileHeld does something with closed data under the writer's lock.
func (a *Archive) whileHeld(do func() error) error {
	release, err := a.hold()
	if err != nil {
		return err
	}
	defer release()
	return sqlite.MapError(opSeal, do())
}

// hold takes the writer's lock of closed data, and completes what a crash has left.
func (a *Archive) hold() (release func(), err error) {
	lock, err := sqlite.LockWriter(a.dir, "")
	if err != nil {
		return nil, err
	}
	release = func() { _ = lock.Release() }
	if _, err := a.FinishRestore(); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// settle brings all of the data into the database file, and refuses what cannot be copied.
func (a *Archive) settle(ctx context.Context) error {
	if sqlite.SizeOf(a.database()) == 0 {
		return chat.Errorf(chat.CodeNotFound, opSeal, "There is no data in %s yet.", a.dir).WithHint("send a first message")
	}
	if err := RefuseDamagedLog(a.dir); err != nil {
		return err
	}
	if _, err := schema.Probe(ctx, sqlite.Place{Path: a.database()}, a.steps); err != nil {
		return err
	}
	logs, err := filepath.Glob(filepath.Join(sqlite.GlobEscape(a.dir), core.ReplacedDir, "*", sqlite.DatabaseFile+"-wal"))
	if err != nil {
		return err
	}
	for _, log := range logs {
		if sqlite.SizeOf(log) > 0 {
			return chat.Errorf(chat.CodeConflict, opSeal, "The folder %s contains quarantined data with a log, which cannot be converted; nothing was changed.", filepath.Dir(log)).
				WithHint("move that folder to another disk, or delete it, and try again")
		}
	}
	free, err := sqlite.FreeSpace(a.dir)
	if need := sqlite.SizeOf(a.database())*5/4 + moveSpare; err == nil && free < need {
		return chat.Errorf(chat.CodeNoSpace, opSeal, "The disk has %d MB free; %d MB are needed for a copy. Nothing was changed.", free>>20, need>>20+1).
			WithHint("free some space and try again")
	}
	db, err := sqlite.Connect(a.database(), sqlite.WriterPragmas, 1)
	if err != nil {
		return err
	}
	err = db.WithContext(ctx).Exec(`PRAGMA wal_checkpoint(TRUNCATE)`).Error
	if err = errors.Join(err, sqlite.Disconnect(db)); err == nil && sqlite.BytesBeside(a.database()) > 0 {
		err = chat.Errorf(chat.CodeBusy, opSeal, "Another program is reading the data; nothing was changed.").WithHint("close it and try again")
	}
	return err
}

// exchangeSealed copies the database and the journals as new ones are, and puts them in the place of the old ones.
func (a *Archive) exchangeSealed(l sealedLock, sealed bool) error {
	stamp := a.clock.Now().Format(backupStamp)
	staging := filepath.Join(a.dir, StagingPrefix+stamp)
	folder, err := atrest.MakeNamed(faultfs.Backup, staging)
	if err != nil {
		return err
	}
	defer folder.Release()
	swap := Swap{Staging: StagingPrefix + stamp, Aside: filepath.Join(core.ReplacedDir, stamp), Discard: true, Lock: LockRemove}
	err = sqlite.Recode(a.database(), filepath.Join(staging, sqlite.DatabaseFile))
	if err == nil {
		err = a.restreamed(filepath.Join(staging, sqlite.StreamDir))
	}
	if err == nil && sealed {
		swap.Lock = LockSet
		err = writeLock(filepath.Join(staging, LockFile), l)
	}
	a.At("copied")
	if err == nil { // derived, or plain by intent
		err = errors.Join(removeFolder(filepath.Join(a.dir, search.VectorCacheFile)), removeFolder(filepath.Join(a.dir, sqlite.DragDir)))
	}
	if err == nil {
		err = errors.Join(syncDir(staging), syncDir(a.dir))
	}
	if err == nil {
		err = WriteSwap(a.dir, swap)
	}
	if err != nil {
		return errors.Join(err, folder.Remove())
	}
	a.At("written down")
	folder.Release() // the folder is emptied and removed now
	_, err = a.FinishRestore()
	return err
}

// restreamed writes the journals into a folder as new ones are.
func (a *Archive) restreamed(to string) error {
	if err := faultfs.Mkdir(faultfs.Backup, to, 0o700); err != nil {
		return err
	}
	journals, err := a.Journals()
	if err != nil {
		return err
	}
	for name, text := range journals {
		stored, err := journal.Stored(name, text)
		if err == nil {
			err = writeFile(filepath.Join(to, name), stored)
		}
		if err != nil {
			return err
		}
	}
	return syncDir(to)
}

// FinishSealing converts the backups that are not sealed with the current key yet. The caller holds the writer's lock.
func (a *Archive) FinishSealing(ctx context.Context) (s Sealing, err error) {
	if _, _, sealed := seal.Current(); !sealed {
		return s, nil
	}
	l, sealed, err := readLock(a.dir)
	if err != nil || !sealed || !l.Unfinished {
		return s, err
	}
	return a.finishSealing(ctx)
}

func (a *Archive) finishSealing(ctx context.Context) (s Sealing, err error) {
	if err := a.resealCopies(ctx, &s); err != nil {
		return s, err
	}
	a.locks.Lock()
	defer a.locks.Unlock()
	l, _, err := readLock(a.dir) // the user may have replaced the passphrase or the code meanwhile
	if err != nil {
		return s, err
	}
	if l.Unfinished = false; len(s.Left) == 0 {
		l.Previous = nil
	}
	return s, writeLock(filepath.Join(a.dir, LockFile), l)
}

// SealLeft converts what Reseal has left, where that is possible now. Errors are those of SetPassphrase.
func (a *Archive) SealLeft(ctx context.Context) (s Sealing, err error) {
	err = a.whileHeld(func() error {
		s, err = a.sealLeft(ctx)
		return err
	})
	return s, err
}

// sealLeft is SealLeft of a caller who holds the writer's lock.
func (a *Archive) sealLeft(ctx context.Context) (s Sealing, err error) {
	if _, _, err = a.Lock(); err == nil {
		s, err = a.finishSealing(ctx)
	}
	s.Outside = a.Outside()
	return s, sqlite.MapError(opSeal, err)
}

// SealLeft is Archive.SealLeft while the data is open for writing. When the context ends, what was converted stays so.
func (b *Backups) SealLeft(ctx context.Context) (Sealing, error) {
	if err := b.writing(); err != nil {
		return Sealing{}, err
	}
	return b.Archive.sealLeft(ctx)
}

// resealCopies converts the backups and what restores quarantined. What cannot be read stays as it is, and is named.
func (a *Archive) resealCopies(ctx context.Context, s *Sealing) error {
	list, err := a.copies()
	if err != nil {
		return err
	}
	for _, path := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		changed, err := a.resealCopy(ctx, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case ctx.Err() != nil:
			return ctx.Err()
		case faultfs.Full(err):
			return err
		case err != nil:
			a.log.Warn("a copy of the data cannot be converted", "file", path, "err", err)
			s.Left = append(s.Left, path)
		case changed:
			s.Backups++
		}
		a.At("copy converted")
	}
	return nil
}

// copies returns the paths of the backups, and of what restores quarantined. An empty file reserves the name of a backup that
// is being made.
func (a *Archive) copies() (list []string, err error) {
	for _, pattern := range []string{
		filepath.Join(sqlite.BackupDir, "*.db"),
		filepath.Join(core.ReplacedDir, "*", sqlite.DatabaseFile),
		filepath.Join(core.ReplacedDir, "*", sqlite.BackupDir, "*.db"),
		filepath.Join(core.ReplacedDir, "*", sqlite.StreamDir, "*"),
	} {
		found, err := filepath.Glob(filepath.Join(sqlite.GlobEscape(a.dir), pattern))
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return slices.DeleteFunc(list, func(path string) bool {
		info, err := os.Lstat(path)
		return err != nil || !info.Mode().IsRegular() || info.Size() == 0
	}), nil
}

// LeftCopies returns the paths of what SealLeft converts: copies in the data directory that are plain, or sealed with
// another key than the data.
func (a *Archive) LeftCopies() ([]string, error) {
	l, _, err := readLock(a.dir)
	if err != nil {
		return nil, err
	}
	list, err := a.copies()
	return slices.DeleteFunc(append([]string{}, list...), func(path string) bool {
		of, _, err := sqlite.LockAt(path)
		return err == nil && of.Key == l.Key
	}), err
}

// resealCopy replaces a copy of the data, or a journal, by one that is as new ones are.
func (a *Archive) resealCopy(ctx context.Context, path string) (changed bool, err error) {
	was, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	if err := sqlite.Prepare(path); err != nil || sqlite.AsNew(path) {
		return false, err
	}
	folder, err := atrest.MakeFolder(filepath.Dir(path), atrest.BackupPrefix)
	if err != nil {
		return false, err
	}
	defer func() { _ = folder.Remove() }()
	temp := folder.File(sqlite.DatabaseFile)
	if sqlite.IsJournal(filepath.Base(path)) {
		err = resealJournal(path, temp)
	} else {
		err = sqlite.Recode(path, temp)
	}
	a.At("copy ready")
	if now, gone := os.Lstat(path); gone != nil || !os.SameFile(was, now) { // it was removed, or replaced: it must not come back
		return false, nil
	}
	if err = errors.Join(err, ctx.Err()); err == nil {
		err = move(temp, path)
	}
	return err == nil, err
}

func resealJournal(from, to string) error {
	text, err := os.ReadFile(from)
	if err == nil {
		text, err = journal.Plain(from, text)
	}
	if err == nil {
		text, err = journal.Stored(from, text)
	}
	if err == nil {
		err = writeFile(to, text)
	}
	return err
}

// Outside returns the existing copies of the data that are not in the data directory.
func (a *Archive) Outside() []string {
	var out []string
	dirs, _ := core.PreviousDirs(a.dir)
	for _, dir := range dirs {
		out = append(out, filepath.Join(dir, sqlite.DatabaseFile))
	}
	for _, r := range atrest.Recall(a.dir) {
		out = append(out, r.Copy)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(path string) bool {
		info, err := os.Lstat(path)
		return path == "" || err != nil || !info.Mode().IsRegular()
	})
}

// SetPassphrase replaces the passphrase of sealed data, which does not open with the sign-in then. Without a passphrase
// the keyring keeps the key instead. Nothing else changes: backups keep the passphrase of their time.
//
// Errors: CodeLocked, CodeNotFound (the data is not sealed), CodeSealed (its key is not known), CodeUnavailable (the
// keyring does not store the key, or still has it).
func (a *Archive) SetPassphrase(passphrase string) error {
	return a.whileHeld(func() error { return a.setPassphrase(passphrase) })
}

// SetPassphrase is Archive.SetPassphrase while the data is open for writing.
func (b *Backups) SetPassphrase(passphrase string) error {
	return b.whileOpen(func() error { return b.Archive.setPassphrase(passphrase) })
}

func (a *Archive) setPassphrase(passphrase string) error {
	var id string
	err := a.changeLock(func(l *seal.Lock, k seal.Key) (err error) {
		switch id = l.Key; {
		case passphrase == "":
			err = a.keepKey(k)
		case l.SignIn():
			err = a.noteKey(id)
		}
		if err == nil {
			err = l.SetPassphrase(k, passphrase)
		}
		return err
	})
	if err != nil {
		return err
	}
	kept, err := a.forgetKeys()
	if slices.Contains(kept, id) {
		return chat.WrapError(chat.CodeUnavailable, "keys.forget", err,
			"The passphrase is in force, but the system keyring still has the key: whoever signs in can open the data with it.").
			WithHint("unlock the keyring and set the passphrase again")
	}
	return nil
}

// SetCode replaces the recovery code of sealed data. Errors are those of SetPassphrase.
func (a *Archive) SetCode(code string) error {
	return a.whileHeld(func() error { return a.setCode(code) })
}

// SetCode is Archive.SetCode while the data is open for writing.
func (b *Backups) SetCode(code string) error {
	return b.whileOpen(func() error { return b.Archive.setCode(code) })
}

func (a *Archive) setCode(code string) error {
	return a.changeLock(func(l *seal.Lock, k seal.Key) error { return l.SetRecovery(k, code) })
}

func (a *Archive) changeLock(change func(*seal.Lock, seal.Key) error) error {
	l, k, err := a.Lock()
	if err != nil {
		return err
	}
	whole, _, err := readLock(a.dir)
	if err == nil {
		err = change(&l, k)
	}
	if err == nil {
		whole.Lock = l
		err = writeLock(filepath.Join(a.dir, LockFile), whole)
	}
	if err == nil {
		seal.Use(l, k) // new files have it too
	}
	return sqlite.MapError(opSeal, err)
}

// Lock returns the lock of the data and its key. Errors are those of SetPassphrase.
func (a *Archive) Lock() (seal.Lock, seal.Key, error) {
	l, sealed, err := readLock(a.dir)
	if err != nil {
		return seal.Lock{}, seal.Key{}, err
	}
	if !sealed {
		return seal.Lock{}, seal.Key{}, chat.Errorf(chat.CodeNotFound, opSeal, "The data in %s is not sealed.", a.dir).
			WithHint("contextinfinity encrypt seals it")
	}
	k, err := seal.Unlock(l.Lock)
	return l.Lock, k, sqlite.HeaderError(filepath.Join(a.dir, LockFile), err)
}

// SealedWith returns the lock of the data without opening it; false: it is not sealed.
func (a *Archive) SealedWith() (seal.Lock, bool, error) {
	l, sealed, err := readLock(a.dir)
	return l.Lock, sealed, err
}
