package backup

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/internal/faults"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// A move of the data directory copies all of it to an empty folder, reads each copy back
// and compares it, and makes it durable; only then is the new place written down, by
// whoever asked. Until that the old place is in force, from then on the new one, and each
// is whole. The old folder stays as it is.
//
// A folder that is being filled has a mark, which says that nothing in it is in force, and
// that it may be emptied. The mark goes before the new place is written down: whatever may
// be in force is never emptied.

const (
	opMove = "store.move"
	// MovingFile is in a folder while it is being filled: what it is in is not data.
	MovingFile = ".moving"
	MovedFile  = "MOVED.txt"
	// moveSpare is what must be free beyond what is copied.
	moveSpare = 32 << 20
)

// MovePlan says what a move would do, and, in words, why it cannot be.
type MovePlan struct {
	From, To    string // absolute
	Bytes, Free int64  // Free -1: not known
	Reason      string // empty: it can
}

// PlanMove looks whether the data can be moved to a folder. It changes nothing.
func (a *Archive) PlanMove(to string) (MovePlan, error) {
	p := MovePlan{From: a.dir, To: to, Free: -1}
	if !filepath.IsAbs(to) {
		p.Reason = "The new place must be a full path."
		return p, nil
	}
	p.To = filepath.Clean(to)
	files, err := a.FilesToCopy()
	if errors.Is(err, errLink) {
		p.Reason = "In the current place " + err.Error() + " to another place, which would not be moved. Replace the link by what it points to."
		return p, nil
	}
	if err != nil {
		return p, sqlite.MapError(opMove, err)
	}
	for _, f := range files {
		p.Bytes += f.size
	}
	p.Reason, err = moveBlocker(a.dir, p.To)
	if err != nil || p.Reason != "" {
		return p, sqlite.MapError(opMove, err)
	}
	if p.Free, err = sqlite.FreeSpace(sqlite.Existing(p.To)); err != nil {
		p.Free = -1
		return p, nil
	}
	if p.Free < p.Bytes+moveSpare {
		p.Reason = fmt.Sprintf("There are %d MB free; %d MB are needed.", p.Free>>20, (p.Bytes+moveSpare)>>20)
	}
	return p, nil
}

// moveBlocker says why a folder cannot take the data; empty: it can.
func moveBlocker(from, to string) (string, error) {
	here, there := sqlite.Resolved(from), sqlite.Resolved(to)
	switch {
	case here == there:
		return "The data is already there.", nil
	case below(here, there):
		return "The new place is inside the current one.", nil
	case below(there, here):
		return "The current place is inside the new one.", nil
	}
	if info, err := os.Stat(sqlite.Existing(to)); err != nil || !info.IsDir() {
		return sqlite.Existing(to) + " is no folder.", err
	}
	entries, err := os.ReadDir(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	switch {
	case len(entries) == 0 || LeftByMove(to):
		return "", nil
	case sqlite.Exists(to, sqlite.DatabaseFile):
		return "That folder is not empty: it contains conversations. If an interrupted move copied them there, empty it first.", nil
	}
	return "That folder is not empty.", nil
}

// LeftByMove reports that a folder holds what a move that was cut short had copied, and
// nothing that was ever in force: whoever opens data to write to it makes a lock there.
func LeftByMove(dir string) bool {
	return sqlite.Exists(dir, MovingFile) && !sqlite.Exists(dir, MovedFile) && !sqlite.Exists(dir, sqlite.LockFile)
}

// below reports that inner is in outer, at any depth.
func below(outer, inner string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// FileToCopy is a file that goes along, by its path below the data directory.
type FileToCopy struct {
	Name string
	size int64
}

// errLink is a link in the data directory: what it leads to would stay behind.
var errLink = errors.New("a link")

// FilesToCopy are the files that go along: all but the lock, what is shared memory, and
// files that are not whole yet. errLink names a link among them.
func (a *Archive) FilesToCopy() ([]FileToCopy, error) {
	var out []FileToCopy
	root := sqlite.Resolved(a.dir) // a walk does not follow a link
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (strings.HasPrefix(d.Name(), StagingPrefix) || name == sqlite.DragDir):
			return filepath.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s is %w", name, errLink)
		case !d.Type().IsRegular(), name == sqlite.LockFile, name == sqlite.DatabaseFile+"-shm", name == MovedFile, name == MovingFile, name == pendingFile, IsTemp(d.Name()):
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		out = append(out, FileToCopy{name, info.Size()})
		return err
	})
	return out, err
}

// Move copies the data to a folder, and has adopt write down that it is there. Other
// programs must have it closed. adopt says whether the new place is, or may be, written
// down, also when it fails: of a file that was replaced it may be unknown whether that
// survives a power cut. If it is not, the old place stays in force and the new folder is
// as it was.
//
// Errors: CodeLocked, CodeInvalid (the place is unfit), CodeNoSpace, CodeCorrupt (a copy
// does not come out as it went in), and those of adopt.
func (a *Archive) Move(ctx context.Context, to string, adopt func() (written bool, err error)) error {
	lock, err := sqlite.LockWriter(a.dir, "")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }()
	if _, err := a.FinishRestore(); err != nil {
		return err
	}
	plan, err := a.PlanMove(to)
	if err == nil && plan.Reason != "" {
		err = chat.Errorf(chat.CodeInvalid, opMove, "The data cannot be moved to %s: %s", to, plan.Reason).WithHint("it is where it was; choose another folder")
	}
	if err != nil {
		return err
	}
	return sqlite.MapError(opMove, a.moveTo(ctx, plan.To, adopt))
}

func (a *Archive) moveTo(ctx context.Context, to string, adopt func() (bool, error)) error {
	made := sqlite.Existing(to) != to
	if err := a.fill(ctx, to); err != nil {
		return errors.Join(err, clearMove(to, made))
	}
	err := a.recordMove(to)
	if err == nil {
		err = faults.Point("move.copied")
	}
	if err == nil {
		err = unmark(to)
	}
	var written bool
	if err == nil {
		written, err = adopt()
	}
	switch {
	case err != nil && written:
		return chat.WrapError(chat.CodeOf(err), opMove, err, "The data was copied to "+to+", and the configuration names that folder, but this may not survive a power cut.").
			WithHint("nothing is lost: both folders are complete; keep the old one until the program has been started again")
	case err != nil:
		return errors.Join(err, mark(to), clearMove(to, made))
	}
	if err := faults.Point("move.adopted"); err != nil { // there is nothing to undo: it may end the process, and no more
		a.log.Warn("after a move", "err", err)
	}
	note := "The data of ContextInfinity was moved to\n" + to + "\n\nWhat is in this folder is no longer used, and stays as it was then. It may be deleted.\n"
	if err := writeFile(filepath.Join(a.dir, MovedFile), []byte(note)); err != nil {
		a.log.Warn("a note could not be written into the old folder", "err", err) // the data is at its new place
	}
	return nil
}

// mark says of a folder that what is in it is not data.
func mark(to string) error { return atomicfile.Write(filepath.Join(to, MovingFile), nil, 0o600) }

// unmark takes that back, durably.
func unmark(to string) error {
	if err := faultfs.Remove(faultfs.Backup, filepath.Join(to, MovingFile)); err != nil {
		return err
	}
	return syncDir(to)
}

// fill copies everything, compares it and makes it durable.
func (a *Archive) fill(ctx context.Context, to string) error {
	if err := sqlite.MakeDir(to); err != nil {
		return err
	}
	if err := clearMove(to, false); err != nil { // of an earlier move
		return err
	}
	if err := mark(to); err != nil {
		return err
	}
	files, err := a.FilesToCopy()
	if err != nil {
		return err
	}
	folders := map[string]bool{to: true}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		target := filepath.Join(to, f.Name)
		for dir := filepath.Dir(target); !folders[dir]; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
		if err := sqlite.MakeDir(filepath.Dir(target)); err != nil {
			return err
		}
		if err := copyChecked(filepath.Join(a.dir, f.Name), target); err != nil {
			return err
		}
		if err := faults.Point("move.file"); err != nil {
			return err
		}
	}
	for dir := range folders {
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// copyChecked copies a file, durably, and reads the copy back.
func copyChecked(from, to string) error {
	if err := sqlite.CopyFile(from, to); err != nil {
		return err
	}
	if err := syncFile(to); err != nil {
		return err
	}
	want, err := hashOf(from)
	if err != nil {
		return err
	}
	got, err := hashOf(to)
	if err == nil && got != want {
		err = chat.Errorf(chat.CodeCorrupt, opMove, "The copy of %s differs from the original.", filepath.Base(from)).
			WithHint("the data is where it was; check the new disk")
	}
	return err
}

func hashOf(path string) ([sha256.Size]byte, error) {
	var sum [sha256.Size]byte
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}

// clearMove empties a folder that was being filled; one without the mark is left alone.
func clearMove(to string, made bool) error {
	if !made && !LeftByMove(to) {
		return nil
	}
	entries, err := os.ReadDir(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() == MovingFile {
			continue // last: it says what the rest is
		}
		if err := os.RemoveAll(filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(filepath.Join(to, MovingFile)); err != nil || !made {
		return err
	}
	return os.Remove(to)
}

// PreviewRestore prepares a restore, tells what it would replace by what, and changes
// nothing. The data may be open.
func (a *Archive) PreviewRestore(ctx context.Context, path string) (chat.Restoration, error) {
	r := restoring{Archive: a, source: path}
	defer r.discard()
	err := r.prepare(ctx)
	return r.out, sqlite.MapError(opRestore, err)
}

// Part is a part of the data directory.
type Part struct {
	Name  string // database, journals, backups, aside, other
	Bytes int64
	Files int
}

// Parts are what the data directory holds, in this order.
func (a *Archive) Parts() ([]Part, error) {
	parts := []Part{{Name: "database"}, {Name: "journals"}, {Name: "backups"}, {Name: "aside"}, {Name: "other"}}
	root := sqlite.Resolved(a.dir)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			return nil // gone this moment, or no file
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		p := &parts[partOf(filepath.ToSlash(name))]
		p.Bytes += info.Size()
		p.Files++
		return nil
	})
	return parts, sqlite.MapError("store.parts", err)
}

func partOf(name string) int {
	folder, _, _ := strings.Cut(name, "/")
	switch {
	case strings.HasPrefix(name, sqlite.DatabaseFile):
		return 0
	case folder == sqlite.StreamDir:
		return 1
	case folder == sqlite.BackupDir:
		return 2
	case folder == core.ReplacedDir:
		return 3
	}
	return 4
}

// Free is how many bytes the data's file system has left; -1: not known.
func (a *Archive) Free() int64 {
	free, err := sqlite.FreeSpace(sqlite.Existing(a.dir))
	if err != nil {
		return -1
	}
	return free
}
