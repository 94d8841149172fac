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
	"slices"
	"strings"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/internal/faults"
	"contextinfinity/backend/store/sqlite"
)

// A move of the data directory copies everything to an empty folder, makes it durable, reads each copy back and
// compares it. Only then does the caller record the new location. Until then the old location is in effect, afterwards
// the new one, and each is complete. The old folder is left unchanged.
//
// A marker file in a folder that is being filled says that its content is not in use and may be deleted. The marker
// is removed before the new location is recorded, so data that may be in use is never deleted.

const (
	opMove = "store.move"
	// MovingFile marks a folder that is being filled: its content is not data yet.
	MovingFile = ".moving"
	MovedFile  = "MOVED.txt"
	// moveSpare is the free space required beyond the size of the copied files.
	moveSpare = 32 << 20
)

// MovePlan says what a move would do, or why it is not possible.
type MovePlan struct {
	From   string `json:"from"`   // absolute
	To     string `json:"to"`     // absolute
	Bytes  int64  `json:"bytes"`  // Free -1: not known
	Free   int64  `json:"free"`   // Free -1: not known
	Reason string `json:"reason"` // why the move is not possible; empty: it is
}

// PlanMove checks whether the data can be moved to a folder. It changes nothing.
func (a *Archive) PlanMove(to string) (MovePlan, error) {
	p := MovePlan{From: a.dir, To: to, Free: -1}
	if !filepath.IsAbs(to) {
		p.Reason = "The new location must be a full path."
		return p, nil
	}
	p.To = filepath.Clean(to)
	files, err := a.FilesToCopy()
	if errors.Is(err, errLink) {
		p.Reason = "In the current location " + err.Error() + " to another location, which would not be moved. Replace the link with what it points to."
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
		return "The new location is inside the current one.", nil
	case below(there, here):
		return "The current location is inside the new one.", nil
	}
	if info, err := os.Stat(sqlite.Existing(to)); err != nil || !info.IsDir() {
		return sqlite.Existing(to) + " is not a folder.", err
	}
	entries, err := os.ReadDir(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	switch {
	case len(entries) == 0 || LeftByMove(to):
		return "", nil
	case sqlite.Exists(to, sqlite.DatabaseFile):
		return "That folder is not empty: it contains sessions. If an interrupted move copied them there, empty it first.", nil
	}
	return "That folder is not empty.", nil
}

// LeftByMove reports whether a folder holds only what an interrupted move had copied, never data in use: opening data
// for writing would have created a lock there.
func LeftByMove(dir string) bool {
	return sqlite.Exists(dir, MovingFile) && !sqlite.Exists(dir, MovedFile) && !sqlite.Exists(dir, sqlite.LockFile)
}

// below reports whether inner is inside outer, at any depth.
func below(outer, inner string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// FileToCopy is a file that the move copies, by its path below the data directory.
type FileToCopy struct {
	Name string
	size int64
}

// errLink is a symbolic link in the data directory: its target would not be copied.
var errLink = errors.New("a link")

// FilesToCopy lists the files to copy: all except the lock, shared memory and unfinished files. errLink names a link
// among them.
func (a *Archive) FilesToCopy() ([]FileToCopy, error) {
	var out []FileToCopy
	root := sqlite.Resolved(a.dir) // WalkDir does not follow a link at the root
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case atrest.Temporary(name) && d.IsDir():
			return filepath.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s is %w", name, errLink)
		case !d.Type().IsRegular(), name == sqlite.LockFile, name == sqlite.DatabaseFile+"-shm", name == MovedFile, name == MovingFile, name == pendingFile, atrest.Temporary(name):
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

// Move copies the data to a folder and calls adopt to record the new location. Other programs must have closed the
// data. adopt also reports, even when it fails, whether the new location is or may be recorded: after a file was
// replaced it can be unknown whether that survives a power failure. If it is not recorded, the old location stays in
// force and the new folder is emptied again.
//
// Errors: CodeLocked, CodeInvalid (unsuitable folder), CodeNoSpace, CodeCorrupt (a copy differs from the original),
// and those of adopt.
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
		err = chat.Errorf(chat.CodeInvalid, opMove, "The data cannot be moved to %s: %s", to, plan.Reason).WithHint("the data was not moved; choose another folder")
	}
	if err != nil {
		return err
	}
	return sqlite.MapError(opMove, a.moveTo(ctx, plan.To, adopt))
}

func (a *Archive) moveTo(ctx context.Context, to string, adopt func() (bool, error)) error {
	isNew := sqlite.Existing(to) != to
	if err := a.fill(ctx, to); err != nil {
		return errors.Join(err, clearMove(to, isNew))
	}
	err := a.recordMove(to)
	if err == nil {
		err = faults.Point("move.copied")
	}
	if err == nil {
		err = unmarkMoving(to)
	}
	var written bool
	if err == nil {
		written, err = adopt()
	}
	switch {
	case err != nil && written:
		return chat.WrapError(chat.CodeOf(err), opMove, err, "The data was copied to %s, and the configuration names that folder, but this may not survive a power cut.", to).
			WithHint("nothing is lost: both folders are complete; keep the old one until the program has been started again")
	case err != nil:
		return errors.Join(err, markMoving(to), clearMove(to, isNew))
	}
	if err := faults.Point("move.adopted"); err != nil { // nothing to undo here: the fault point may only end the process
		a.log.Warn("a fault point after a move", "err", err)
	}
	note := "The data of ContextInfinity was moved to\n" + to + "\n\nThe files in this folder are no longer used and do not change. You may delete them.\n"
	if err := writeFile(filepath.Join(a.dir, MovedFile), []byte(note)); err != nil {
		a.log.Warn("a note could not be written into the old folder", "err", err) // the data is at its new location
	}
	return nil
}

// markMoving marks a folder as not in use.
func markMoving(to string) error { return atomicfile.Write(filepath.Join(to, MovingFile), nil, 0o600) }

// unmarkMoving removes the marker, durably.
func unmarkMoving(to string) error {
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
	if err := atrest.Remember(a.dir, atrest.Remembered{Copy: filepath.Join(to, sqlite.DatabaseFile)}); err != nil {
		return err
	}
	if err := markMoving(to); err != nil {
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

// copyChecked copies a file durably and reads the copy back.
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
			WithHint("the data was not moved; check the new disk")
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

// clearMove empties a partly filled folder; one without the marker is left alone.
func clearMove(to string, isNew bool) error {
	if !isNew && !LeftByMove(to) {
		return nil
	}
	entries, err := os.ReadDir(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() == MovingFile {
			continue // the marker goes last
		}
		if err := os.RemoveAll(filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(filepath.Join(to, MovingFile)); err != nil || !isNew {
		return err
	}
	return os.Remove(to)
}

// PreviewRestore prepares a restore, reports what it would replace, and changes nothing. The data may be open.
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

// Parts lists the parts of the data directory, in a fixed order.
func (a *Archive) Parts() ([]Part, error) {
	parts := []Part{{Name: atrest.PartDatabase}, {Name: atrest.PartJournals}, {Name: atrest.PartBackups}, {Name: atrest.PartAside}, {Name: atrest.PartOther}}
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
			return nil // deleted in the meantime, or not a file
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		p := &parts[len(parts)-1]
		if place, ok := atrest.Of(filepath.ToSlash(name)); ok {
			p = &parts[slices.IndexFunc(parts, func(p Part) bool { return p.Name == place.Part })]
		}
		p.Bytes += info.Size()
		p.Files++
		return nil
	})
	return parts, sqlite.MapError("store.parts", err)
}

// Free returns the free bytes on the data's file system; -1: unknown.
func (a *Archive) Free() int64 {
	free, err := sqlite.FreeSpace(sqlite.Existing(a.dir))
	if err != nil {
		return -1
	}
	return free
}
