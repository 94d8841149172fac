package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	gosqlite "github.com/glebarez/go-sqlite"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
)

// place is where a database is read from. SQLite reads one that has a write-ahead log
// only with a file of shared memory beside it, which a disk that is full, or that can
// only be read, has no room for: what is kept there must be readable all the same.
type place struct {
	path string
	// frozen: nobody writes it meanwhile, so that nothing is needed beside it.
	frozen bool
	// reading: only readers open it. The log that a program left is let stand then: the
	// last one who may write would bring it into the database, and remove it.
	reading bool
	// note says why the data can only be read, and from where it is; empty: it is read as
	// always.
	note    string
	release func() // gives up what keeps it so; nil: nothing does
}

func (p place) leave() {
	if p.release != nil {
		p.release()
	}
}

// query are the parameters of its URI.
func (p place) query() url.Values {
	if p.frozen {
		return url.Values{"mode": {"ro"}, "immutable": {"1"}}
	}
	if p.reading && sizeOf(p.path+"-wal") > 0 && sizeOf(p.path+"-journal") == 0 {
		return url.Values{"mode": {"ro"}}
	}
	return url.Values{"mode": {"rw"}}
}

// companions are the files beside a database that belong to what it says.
var companions = []string{"-wal", "-journal"}

// locate finds out what the database of a data directory is, and from where it can be
// read. The place is to be left, whatever the error.
func locate(ctx context.Context, dir string, steps fs.FS) (found, place, error) {
	at := place{path: filepath.Join(dir, DatabaseFile)}
	have, err := probe(ctx, at, steps)
	if err == nil || !ofTheDisk(err) {
		return have, at, err
	}
	why := unwritable(dir)
	if why == "" {
		return have, at, err
	}
	lock, lockErr := shareDir(dir)
	if lockErr != nil { // somebody has it open for writing, and is to be asked
		return have, at, err
	}
	unlock := func() {
		if lock != nil {
			_ = lock.Close()
		}
	}
	at = place{path: at.path, frozen: true, note: why + ", so the data is open for reading only.", release: unlock}
	if beside(at.path) > 0 {
		copied, err := readableCopy(at.path, why)
		unlock()
		if at = copied; err != nil {
			return have, at, err
		}
	}
	have, err = probe(ctx, at, steps)
	return have, at, err
}

// importAsCopy is how many bytes of the data are in files beside the database.
func beside(path string) int64 {
	var n int64
	for _, c := range companions {
		n += sizeOf(path + c)
	}
	return n
}

// unwritable says, as the beginning of a sentence, why nothing can be written into a
// directory; empty: something can.
func unwritable(dir string) string {
	switch err := tryRoom(dir); {
	case err == nil:
		return ""
	case faultfs.Full(err):
		return "The disk is full"
	case errors.Is(err, syscall.EROFS):
		return "The disk can only be read"
	case errors.Is(err, fs.ErrPermission):
		return "Nothing may be written into " + dir
	}
	return ""
}

// readingPrefix is of folders that hold a copy of the data while it is read, and
// staleReading is from when on one was left by a program that was killed.
const (
	readingPrefix = "contextinfinity-reading-"
	staleReading  = 24 * time.Hour
)

// readableCopy copies a database and what belongs to it to the folder for temporary
// files, from where it can be read as always: what was written last stands in its log.
func readableCopy(path, why string) (place, error) {
	sweepReadings()
	need := sizeOf(path) + beside(path) + enough
	temp := os.TempDir()
	if free, err := freeSpace(temp); err == nil && free < need {
		return place{}, noCopy(why, need, nil)
	}
	dir, err := os.MkdirTemp(temp, readingPrefix+"*") // open to its owner alone
	if err != nil {
		return place{}, noCopy(why, need, err)
	}
	at := place{
		path: filepath.Join(dir, DatabaseFile), release: func() { _ = os.RemoveAll(dir) },
		note: why + ", so the data is open for reading only, from a copy in " + dir + " that is removed when this is done.",
	}
	err = copyFile(path, at.path)
	for _, c := range companions {
		if err == nil && sizeOf(path+c) > 0 {
			err = copyFile(path+c, at.path+c)
		}
	}
	if err != nil {
		at.leave()
		return place{}, noCopy(why, need, err)
	}
	return at, nil
}

func noCopy(why string, need int64, err error) error {
	return chat.WrapError(chat.CodeNoSpace, "store.open", err,
		fmt.Sprintf("%s, and what was written last is still in the database's log, so that it can be read from a copy only: %d MB in %s, where there is no room for it. The data is as it was.", why, need>>20+1, os.TempDir())).
		WithHint("free some space, or name a folder on another disk in TMPDIR")
}

func sweepReadings() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), readingPrefix+"*"))
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > staleReading {
			_ = os.RemoveAll(dir)
		}
	}
}

// ofTheDisk reports that SQLite could not open, read or write a file, which it says
// of a full disk too where that keeps it from making one.
func ofTheDisk(err error) bool {
	var e *gosqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == sqliteIOErr || code == sqliteCantOpen || code == sqliteReadOnly
}

// enough is what SQLite needs beside a database to open it, in bytes.
const enough = 64 << 10

// unopened is a failure to open the data, told as the full disk that it is.
func (s *Store) unopened(err error) error {
	switch {
	case !s.readOnly && chat.CodeOf(err) == chat.CodeNoSpace, ofTheDisk(err) && faultfs.Full(tryRoom(s.dir)):
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

// roomPrefix is of files that are made to see whether there is room for one.
const roomPrefix = ".room-"

// tryRoom tries whether a file can be made.
func tryRoom(dir string) error {
	f, err := faultfs.CreateTemp(faultfs.Data, dir, roomPrefix+"*")
	if err == nil {
		_, err = f.Write(make([]byte, enough))
		_ = f.Close()
		_ = faultfs.Remove(faultfs.Data, f.Name())
	}
	return err
}
