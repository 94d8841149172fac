package sqlite

import (
	"errors"
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"contextinfinity/backend/internal/seal"
)

// sealedVFS is the VFS through which SQLite accesses the disk once a key is known: the system's, or the one with fault
// points, below it. A file that begins with the header of a sealed one is sealed, any other stays as it is, and a new one
// is sealed if there is a current key. Without a key this VFS does not exist.
type sealedVFS struct {
	once    sync.Once
	at      uintptr // the address of the VFS below
	below   *sqlite3.Tsqlite3_vfs
	ours    sqlite3.Tsqlite3_vfs
	name    [8]byte
	methods sync.Map // of the VFS below, by address: *sealedMethods
	files   sync.Map // by SQLite's handle: *sealedFile
}

var sealing sealedVFS

// sealedMethods is a table of the VFS below with some entries replaced.
type sealedMethods struct{ below, ours sqlite3.Tsqlite3_io_methods }

// sealedFile is a file that is sealed, or that is still empty and will be. One connection uses it, from one goroutine at
// a time.
type sealedFile struct {
	layout
	methods *sealedMethods
	bytes   []byte // on the heap, for the VFS below
	length  int64  // as above
}

// registerSealed makes the VFS the default one, once a key is known.
func registerSealed() {
	if !seal.Known() {
		return
	}
	sealing.once.Do(func() {
		tls := libc.NewTLS()
		defer tls.Close()
		v := &sealing
		v.at = sqlite3.Xsqlite3_vfs_find(tls, 0)
		v.below = at[sqlite3.Tsqlite3_vfs](v.at)
		v.ours = *v.below
		copy(v.name[:], "sealed")
		v.ours.FpNext = 0
		v.ours.FzName = address(&v.name)
		v.ours.FxOpen = pointer(sealedOpen)
		if rc := sqlite3.Xsqlite3_vfs_register(tls, address(&v.ours), 1); rc != sqlite3.SQLITE_OK {
			panic("the file system that seals cannot be registered")
		}
	})
}

// wrap creates our table for one of the VFS below, once.
func (v *sealedVFS) wrap(table uintptr) *sealedMethods {
	if m, ok := v.methods.Load(table); ok {
		return m.(*sealedMethods)
	}
	m := &sealedMethods{below: *at[sqlite3.Tsqlite3_io_methods](table)}
	m.ours = m.below
	m.ours.FxClose = pointer(sealedClose)
	m.ours.FxRead = pointer(sealedRead)
	m.ours.FxWrite = pointer(sealedWrite)
	m.ours.FxTruncate = pointer(sealedTruncate)
	m.ours.FxFileSize = pointer(sealedSize)
	m.ours.FxFileControl = pointer(sealedControl)
	m.ours.FxFetch = pointer(sealedFetch)
	m.ours.FxUnfetch = pointer(sealedUnfetch)
	stored, _ := v.methods.LoadOrStore(table, m)
	return stored.(*sealedMethods)
}

func sealedOpen(tls *libc.TLS, _, name, id uintptr, flags int32, out uintptr) int32 {
	rc := function[openCall](sealing.below.FxOpen)(tls, sealing.at, name, id, flags, out)
	table := at[sqlite3.Tsqlite3_file](id).FpMethods
	if rc != sqlite3.SQLITE_OK || table == 0 {
		return rc
	}
	path := ""
	if name != 0 {
		path = libc.GoString(name)
	}
	f := &sealedFile{layout: layout{kind: sealedOther, unit: otherBlock}, methods: sealing.wrap(table)}
	plain, rc := f.begin(tls, id, path, flags)
	if plain || rc != sqlite3.SQLITE_OK {
		return rc
	}
	sealing.files.Store(id, f)
	at[sqlite3.Tsqlite3_file](id).FpMethods = address(&f.methods.ours)
	return sqlite3.SQLITE_OK
}

// begin finds out how a file is sealed.
func (f *sealedFile) begin(tls *libc.TLS, id uintptr, path string, flags int32) (plain bool, rc int32) {
	switch {
	case flags&sqlite3.SQLITE_OPEN_WAL != 0:
		h, k, err := headerAt(databaseOf(path, "-wal"))
		if err != nil {
			return isPlain(err), codeOf(err)
		}
		f.layout = layoutOf(h, k, sealedLog)
		return false, sqlite3.SQLITE_OK
	case flags&sqlite3.SQLITE_OPEN_MAIN_JOURNAL != 0:
		// A journal is as its database is, and that of a new database as that will be.
		database := databaseOf(path, "-journal")
		if _, _, err := headerAt(database); isPlain(err) && SizeOf(database) > 0 {
			return true, sqlite3.SQLITE_OK
		}
	case flags&sqlite3.SQLITE_OPEN_MAIN_DB != 0:
		f.kind = sealedDB
	}
	return f.load(tls, id)
}

// codeOf is the code for a header that cannot be opened.
func codeOf(err error) int32 {
	switch {
	case err == nil || isPlain(err):
		return sqlite3.SQLITE_OK
	case errors.Is(err, seal.ErrNoKey), errors.Is(err, seal.ErrPassphrase), errors.Is(err, seal.ErrNewer):
		return sqlite3.SQLITE_AUTH
	case errors.Is(err, seal.ErrDamaged):
		return sqlite3.SQLITE_CORRUPT
	}
	return sqlite3.SQLITE_CANTOPEN
}

// load reads the header. An empty file has none yet, and is plain if there is no current key.
func (f *sealedFile) load(tls *libc.TLS, id uintptr) (plain bool, rc int32) {
	s := systemStream{f, tls, id}
	size, rc := s.size()
	if rc != sqlite3.SQLITE_OK {
		return false, rc
	}
	if size == 0 {
		_, _, sealed := seal.Current()
		return !sealed, sqlite3.SQLITE_OK
	}
	head := s.buffer(min(size, seal.HeaderSize))
	if rc := s.read(head, 0); rc != sqlite3.SQLITE_OK {
		return false, rc
	}
	h, k, err := seal.OpenHeader(head)
	if err == nil {
		f.layout = layoutOf(h, k, f.kind)
	}
	return isPlain(err), codeOf(err)
}

// ready loads the header if another connection has written it since the file was opened empty.
func (f *sealedFile) ready(tls *libc.TLS, id uintptr) int32 {
	if f.seal != nil {
		return sqlite3.SQLITE_OK
	}
	plain, rc := f.load(tls, id)
	if plain && rc == sqlite3.SQLITE_OK { // somebody wrote a plain file there
		rc = sqlite3.SQLITE_CANTOPEN
	}
	return rc
}

// create writes the header of a new file, durably: a loss of power must not leave pages without it, which would look
// like the file of another program.
func (f *sealedFile) create(s systemStream, written int64) int32 {
	if f.kind == sealedDB {
		f.unit = written // the first write is a page
	}
	l, k, ok := seal.Current()
	if !ok || f.unit < 512 || f.unit > 1<<16 || f.unit&(f.unit-1) != 0 {
		return sqlite3.SQLITE_IOERR_WRITE
	}
	h := seal.NewHeader(l, int(f.unit))
	b := s.buffer(seal.HeaderSize)
	copy(b, h.Bytes(k))
	rc := s.write(b, 0)
	if rc == sqlite3.SQLITE_OK && f.kind == sealedDB {
		rc = function[syncCall](f.methods.below.FxSync)(s.tls, s.id, sqlite3.SQLITE_SYNC_NORMAL)
	}
	if rc == sqlite3.SQLITE_OK {
		f.layout = layoutOf(h, k, f.kind)
	}
	return rc
}

// systemStream reads and writes units through the VFS below.
type systemStream struct {
	*sealedFile
	tls *libc.TLS
	id  uintptr
}

func (s systemStream) read(b []byte, off int64) int32 {
	return function[transferCall](s.methods.below.FxRead)(s.tls, s.id, address(&b[0]), int32(len(b)), off) // at most a unit
}

func (s systemStream) write(b []byte, off int64) int32 {
	return function[transferCall](s.methods.below.FxWrite)(s.tls, s.id, address(&b[0]), int32(len(b)), off) // at most a unit
}

func (s systemStream) buffer(n int64) []byte {
	if int64(cap(s.bytes)) < n {
		s.bytes = make([]byte, max(n, s.unit+seal.Overhead))
	}
	return s.bytes[:n]
}

func (s systemStream) size() (int64, int32) {
	rc := function[sizeCall](s.methods.below.FxFileSize)(s.tls, s.id, address(&s.length))
	return s.length, rc
}

func sealedFileOf(id uintptr) *sealedFile {
	f, _ := sealing.files.Load(id)
	return f.(*sealedFile)
}

func sealedClose(tls *libc.TLS, id uintptr) int32 {
	f := sealedFileOf(id)
	sealing.files.Delete(id)
	return function[closeCall](f.methods.below.FxClose)(tls, id)
}

func sealedRead(tls *libc.TLS, id, buf uintptr, n int32, off int64) int32 {
	f := sealedFileOf(id)
	if rc := f.ready(tls, id); rc != sqlite3.SQLITE_OK {
		return rc
	}
	out := bytesAt(buf, n)
	if f.seal == nil { // still empty
		clear(out)
		return sqlite3.SQLITE_IOERR_SHORT_READ
	}
	return f.layout.read(systemStream{f, tls, id}, out, off)
}

func sealedWrite(tls *libc.TLS, id, buf uintptr, n int32, off int64) int32 {
	f := sealedFileOf(id)
	rc := f.ready(tls, id)
	if rc == sqlite3.SQLITE_OK && f.seal == nil {
		rc = f.create(systemStream{f, tls, id}, int64(n))
	}
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	return f.layout.write(systemStream{f, tls, id}, bytesAt(buf, n), off)
}

// sealedTruncate keeps all of a unit in which the file ends: only journals end within one.
func sealedTruncate(tls *libc.TLS, id uintptr, size int64) int32 {
	f := sealedFileOf(id)
	if rc := f.ready(tls, id); rc != sqlite3.SQLITE_OK {
		return rc
	}
	if f.seal != nil {
		size = f.stored(size)
	}
	if size == 0 && f.kind != sealedLog {
		f.seal = nil // without its header the file begins again
	}
	return function[truncateCall](f.methods.below.FxTruncate)(tls, id, size)
}

func sealedSize(tls *libc.TLS, id, out uintptr) int32 {
	f := sealedFileOf(id)
	rc := f.ready(tls, id)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	size, rc := systemStream{f, tls, id}.size()
	if f.seal != nil {
		size = f.seen(size)
	}
	*at[int64](out) = size
	return rc
}

// sealedControl answers what concerns sizes and mapped memory; neither is passed on.
func sealedControl(tls *libc.TLS, id uintptr, op int32, arg uintptr) int32 {
	switch op {
	case sqlite3.SQLITE_FCNTL_SIZE_HINT, sqlite3.SQLITE_FCNTL_CHUNK_SIZE:
		return sqlite3.SQLITE_OK
	case sqlite3.SQLITE_FCNTL_MMAP_SIZE:
		*at[int64](arg) = 0
		return sqlite3.SQLITE_OK
	}
	type controlCall = func(tls *libc.TLS, file uintptr, op int32, arg uintptr) int32
	return function[controlCall](sealedFileOf(id).methods.below.FxFileControl)(tls, id, op, arg)
}

func sealedFetch(_ *libc.TLS, _ uintptr, _ int64, _ int32, out uintptr) int32 {
	*at[uintptr](out) = 0
	return sqlite3.SQLITE_OK
}

func sealedUnfetch(*libc.TLS, uintptr, int64, uintptr) int32 { return sqlite3.SQLITE_OK }
