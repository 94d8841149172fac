package sqlite

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"syscall"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"

	gosqlite "github.com/glebarez/go-sqlite"
)

// Place is how a database can be read. SQLite reads a database with a write-ahead log only if it can create shared
// memory beside it, which is not possible on a full or read-only disk. The data must still be readable then.
type Place struct {
	Path string
	// Frozen: no process writes to it meanwhile, so no shared memory is needed.
	Frozen bool
	// Reading: only readers open it. The log is then left alone; otherwise the last connection to close would
	// checkpoint and delete it.
	Reading bool
	// Note says why the data can only be read, and how; empty: it is read normally.
	Note    string
	Release func() // ends the protection of the place; nil: nothing to end
}

// Leave releases the place.
func (p Place) Leave() {
	if p.Release != nil {
		p.Release()
	}
}

// Query returns the parameters of the database's URI.
func (p Place) Query() url.Values {
	if p.Frozen {
		return url.Values{"mode": {"ro"}, "immutable": {"1"}}
	}
	if p.Reading && SizeOf(p.Path+"-wal") > 0 && SizeOf(p.Path+"-journal") == 0 {
		return url.Values{"mode": {"ro"}}
	}
	return url.Values{"mode": {"rw"}}
}

// companions are the files beside a database that belong to its content.
var companions = []string{"-wal", "-journal"}

// BytesBeside returns the total size of the data in files beside the database.
func BytesBeside(path string) int64 {
	var n int64
	for _, c := range companions {
		n += SizeOf(path + c)
	}
	return n
}

// Unwritable says, as the beginning of a sentence, why a directory is not writable; empty: it is.
func Unwritable(dir string) string {
	switch err := ProbeSpace(dir); {
	case err == nil:
		return ""
	case faultfs.Full(err):
		return "The disk is full"
	case errors.Is(err, syscall.EROFS):
		return "The disk is read-only"
	case errors.Is(err, fs.ErrPermission):
		return "The folder " + dir + " is not writable"
	}
	return ""
}

// ReadableCopy copies a database and its companion files to the temporary folder, where it can be read normally: the
// newest changes are in its log.
func ReadableCopy(path, why string) (Place, error) {
	atrest.Sweep("")
	need := SizeOf(path) + BytesBeside(path) + MinToOpen
	temp := os.TempDir()
	if free, err := FreeSpace(temp); err == nil && free < need {
		return Place{}, noSpaceForCopy(why, need, nil)
	}
	folder, err := atrest.MakeCopy(temp, atrest.ReadingPrefix, path)
	if err != nil {
		return Place{}, noSpaceForCopy(why, need, err)
	}
	place := Place{
		Path: folder.File(DatabaseFile), Release: func() { _ = folder.Remove() },
		Note: why + ", so the data is open read-only, from a copy in " + folder.Path + " that is removed when this is done.",
	}
	err = CopyFile(path, place.Path)
	for _, c := range companions {
		if err == nil && SizeOf(path+c) > 0 {
			err = CopyFile(path+c, place.Path+c)
		}
	}
	if err != nil {
		place.Leave()
		return Place{}, noSpaceForCopy(why, need, err)
	}
	return place, nil
}

func noSpaceForCopy(why string, need int64, err error) error {
	return chat.WrapError(chat.CodeNoSpace, "store.open", err,
		"%s, and the last changes are still in the database's log, so the data can only be read from a copy, which needs %d MB in %s. There is not enough room. The data was not changed.", why, need>>20+1, os.TempDir()).
		WithHint("free some space, or name a folder on another disk in TMPDIR")
}

// IsDiskError reports whether SQLite could not open, read or write a file; a full disk, on which it cannot create one,
// gives the same error.
func IsDiskError(err error) bool {
	var e *gosqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == ResultIOErr || code == sqliteCantOpen || code == sqliteReadOnly
}

// MinToOpen is the free space in bytes that SQLite needs beside a database to open it.
const MinToOpen = 64 << 10

// ProbeSpace tests whether a file can be created.
func ProbeSpace(dir string) error {
	f, err := faultfs.CreateTemp(faultfs.Data, dir, atrest.RoomPrefix+"*")
	if err == nil {
		_, err = f.Write(make([]byte, MinToOpen))
		_ = f.Close()
		_ = faultfs.Remove(faultfs.Data, f.Name())
	}
	return err
}
