package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"

	gosqlite "github.com/glebarez/go-sqlite"
)

// Place is where a database is read from. SQLite reads one that has a write-ahead log
// only with a file of shared memory beside it, which a disk that is full, or that can
// only be read, has no room for: what is kept there must be readable anyway.
type Place struct {
	Path string
	// frozen: nobody writes it meanwhile, so that nothing is needed beside it.
	Frozen bool
	// reading: only readers open it. The log that a program left is let stand then: the
	// last one who may write would bring it into the database, and remove it.
	Reading bool
	// Note says why the data can only be read, and from where it is; empty: it is read as
	// always.
	Note    string
	Release func() // gives up what keeps it so; nil: nothing does
}

// Leave gives up what keeps the place as it is.
func (p Place) Leave() {
	if p.Release != nil {
		p.Release()
	}
}

// Query are the parameters of its URI.
func (p Place) Query() url.Values {
	if p.Frozen {
		return url.Values{"mode": {"ro"}, "immutable": {"1"}}
	}
	if p.Reading && SizeOf(p.Path+"-wal") > 0 && SizeOf(p.Path+"-journal") == 0 {
		return url.Values{"mode": {"ro"}}
	}
	return url.Values{"mode": {"rw"}}
}

// companions are the files beside a database that belong to what it says.
var companions = []string{"-wal", "-journal"}

// BytesBeside is how many bytes of the data are in files beside the database.
func BytesBeside(path string) int64 {
	var n int64
	for _, c := range companions {
		n += SizeOf(path + c)
	}
	return n
}

// Unwritable says, as the beginning of a sentence, why nothing can be written into a
// directory; empty: something can.
func Unwritable(dir string) string {
	switch err := TryRoom(dir); {
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

// ReadingPrefix is of folders that hold a copy of the data while it is read, and
// staleReading is from when on one was left by a program that was killed.
const (
	ReadingPrefix = "contextinfinity-reading-"
	staleReading  = 24 * time.Hour
)

// ReadableCopy copies a database and what belongs to it to the folder for temporary
// files, from where it can be read as always: what was written last is in its log.
func ReadableCopy(path, why string) (Place, error) {
	SweepReadings()
	need := SizeOf(path) + BytesBeside(path) + MinToOpen
	temp := os.TempDir()
	if free, err := FreeSpace(temp); err == nil && free < need {
		return Place{}, noCopy(why, need, nil)
	}
	dir, err := os.MkdirTemp(temp, ReadingPrefix+"*") // open to its owner alone
	if err != nil {
		return Place{}, noCopy(why, need, err)
	}
	at := Place{
		Path: filepath.Join(dir, DatabaseFile), Release: func() { _ = os.RemoveAll(dir) },
		Note: why + ", so the data is open for reading only, from a copy in " + dir + " that is removed when this is done.",
	}
	err = CopyFile(path, at.Path)
	for _, c := range companions {
		if err == nil && SizeOf(path+c) > 0 {
			err = CopyFile(path+c, at.Path+c)
		}
	}
	if err != nil {
		at.Leave()
		return Place{}, noCopy(why, need, err)
	}
	return at, nil
}

func noCopy(why string, need int64, err error) error {
	return chat.WrapError(chat.CodeNoSpace, "store.open", err,
		fmt.Sprintf("%s, and the last changes are still in the database's log, so the data can only be read from a copy, which needs %d MB in %s. There is not enough room. The data was not changed.", why, need>>20+1, os.TempDir())).
		WithHint("free some space, or name a folder on another disk in TMPDIR")
}

// SweepReadings removes copies that programs which were killed left.
func SweepReadings() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), ReadingPrefix+"*"))
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > staleReading {
			_ = os.RemoveAll(dir)
		}
	}
}

// IsDiskError reports that SQLite could not open, read or write a file, which it says
// of a full disk too where that keeps it from making one.
func IsDiskError(err error) bool {
	var e *gosqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == ResultIOErr || code == sqliteCantOpen || code == sqliteReadOnly
}

// MinToOpen is what SQLite needs beside a database to open it, in bytes.
const MinToOpen = 64 << 10

// RoomPrefix is of files that are made to see whether there is room for one.
const RoomPrefix = ".room-"

// TryRoom tries whether a file can be made.
func TryRoom(dir string) error {
	f, err := faultfs.CreateTemp(faultfs.Data, dir, RoomPrefix+"*")
	if err == nil {
		_, err = f.Write(make([]byte, MinToOpen))
		_ = f.Close()
		_ = faultfs.Remove(faultfs.Data, f.Name())
	}
	return err
}
