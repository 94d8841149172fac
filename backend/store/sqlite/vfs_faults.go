//go:build faults

package sqlite

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"contextinfinity/backend/internal/faults"
)

// vfs is the VFS through which SQLite accesses the disk in a build with fault points: the system's own, with I/O sites
// before the calls that change files: io.<class>.<op> for the classes db, wal, shm, backup (any other database file),
// rollback and temp.
type vfs struct {
	system *sqlite3.Tsqlite3_vfs // the VFS to which calls are forwarded
	at     uintptr               // its address
	ours   sqlite3.Tsqlite3_vfs
	name   [8]byte

	mu      sync.Mutex
	methods map[uintptr]*methods // our table for each of the system's tables
	files   map[uintptr]*vfsFile // open files, by SQLite's handle
}

// methods is a table of the system's with some entries replaced.
type methods struct {
	system sqlite3.Tsqlite3_io_methods
	ours   sqlite3.Tsqlite3_io_methods
}

// vfsFile is a file opened by SQLite.
type vfsFile struct {
	class   string
	methods *methods
	account *unsynced
	length  int64 // where the system's VFS writes the size
}

var faulty = &vfs{methods: map[uintptr]*methods{}, files: map[uintptr]*vfsFile{}}

func init() {
	tls := libc.NewTLS()
	defer tls.Close()
	faulty.at = sqlite3.Xsqlite3_vfs_find(tls, 0)
	faulty.system = at[sqlite3.Tsqlite3_vfs](faulty.at)
	faulty.ours = *faulty.system
	copy(faulty.name[:], "faults")
	faulty.ours.FpNext = 0
	faulty.ours.FzName = address(&faulty.name)
	faulty.ours.FxOpen = pointer(vfsOpen)
	faulty.ours.FxDelete = pointer(vfsDelete)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, address(&faulty.ours), 1); rc != sqlite3.SQLITE_OK {
		panic("the file system with fault points cannot be registered")
	}
	faults.OnPowerLoss(loseUnsynced)
}

// Signatures of entries that only this VFS replaces.
type (
	deleteCall = func(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32
	shmMapCall = func(tls *libc.TLS, file uintptr, region, size, extend int32, out uintptr) int32
)

func (v *vfs) file(id uintptr) *vfsFile {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.files[id]
}

func vfsOpen(tls *libc.TLS, _, name, id uintptr, flags int32, out uintptr) int32 {
	path := ""
	if name != 0 {
		path = libc.GoString(name)
	}
	class, op := classOf(path, flags), "open"
	if _, err := os.Stat(path); err != nil && flags&sqlite3.SQLITE_OPEN_CREATE != 0 {
		op = "create"
	}
	if v := faults.At(class, op); v.Errno != 0 {
		at[sqlite3.Tsqlite3_file](id).FpMethods = 0
		return sqlite3.SQLITE_CANTOPEN
	}
	power.RLock()
	defer power.RUnlock()
	rc := function[openCall](faulty.system.FxOpen)(tls, faulty.at, name, id, flags, out)
	if table := at[sqlite3.Tsqlite3_file](id).FpMethods; table != 0 {
		m := faulty.wrap(table)
		faulty.mu.Lock()
		faulty.files[id] = &vfsFile{class: class, methods: m, account: accountOf(path)}
		faulty.mu.Unlock()
		at[sqlite3.Tsqlite3_file](id).FpMethods = address(&m.ours)
	}
	return rc
}

// wrap creates our table for one of the system's, once.
func (v *vfs) wrap(table uintptr) *methods {
	v.mu.Lock()
	defer v.mu.Unlock()
	if m := v.methods[table]; m != nil {
		return m
	}
	m := &methods{system: *at[sqlite3.Tsqlite3_io_methods](table)}
	m.ours = m.system
	m.ours.FxClose = pointer(vfsClose)
	m.ours.FxWrite = pointer(vfsWrite)
	m.ours.FxTruncate = pointer(vfsTruncate)
	m.ours.FxSync = pointer(vfsSync)
	if m.ours.FxShmMap != 0 {
		m.ours.FxShmMap = pointer(vfsShmMap)
	}
	v.methods[table] = m
	return m
}

// classOf classifies a file by the flags with which SQLite opens it.
func classOf(path string, flags int32) string {
	switch {
	case flags&sqlite3.SQLITE_OPEN_WAL != 0:
		return "wal"
	case flags&sqlite3.SQLITE_OPEN_MAIN_DB != 0 && filepath.Base(path) == DatabaseFile:
		return "db"
	case flags&sqlite3.SQLITE_OPEN_MAIN_DB != 0:
		return "backup"
	case flags&(sqlite3.SQLITE_OPEN_MAIN_JOURNAL|sqlite3.SQLITE_OPEN_SUPER_JOURNAL) != 0:
		return "rollback"
	}
	return "temp"
}

func vfsDelete(tls *libc.TLS, _, name uintptr, syncDir int32) int32 {
	path := libc.GoString(name)
	class := "rollback"
	if filepath.Ext(path) == ".db-wal" {
		class = "wal"
	}
	if v := faults.At(class, "remove"); v.Skip || v.Errno != 0 {
		return result(v, sqlite3.SQLITE_IOERR_DELETE)
	}
	power.RLock()
	defer power.RUnlock()
	forget(path)
	return function[deleteCall](faulty.system.FxDelete)(tls, faulty.at, name, syncDir)
}

func vfsClose(tls *libc.TLS, id uintptr) int32 {
	f := faulty.file(id)
	faulty.mu.Lock()
	delete(faulty.files, id)
	faulty.mu.Unlock()
	return function[closeCall](f.methods.system.FxClose)(tls, id)
}

func vfsWrite(tls *libc.TLS, id, buf uintptr, n int32, off int64) int32 {
	f := faulty.file(id)
	v := faults.At(f.class, "write")
	if v.Skip || v.Errno != 0 && !v.Short {
		return result(v, sqlite3.SQLITE_IOERR_WRITE)
	}
	if v.Short {
		n /= 2
	}
	power.RLock()
	defer power.RUnlock()
	f.before(tls, id, off, int64(n))
	if rc := function[transferCall](f.methods.system.FxWrite)(tls, id, buf, n, off); rc != sqlite3.SQLITE_OK || !v.Short {
		return rc
	}
	return sqlite3.SQLITE_FULL
}

func vfsTruncate(tls *libc.TLS, id uintptr, size int64) int32 {
	f := faulty.file(id)
	if v := faults.At(f.class, "truncate"); v.Skip || v.Errno != 0 {
		return result(v, sqlite3.SQLITE_IOERR_TRUNCATE)
	}
	power.RLock()
	defer power.RUnlock()
	f.before(tls, id, size, f.size(tls, id)-size)
	return function[truncateCall](f.methods.system.FxTruncate)(tls, id, size)
}

// vfsSync fails with the same code for a full disk as for a broken one, as the system's VFS does.
func vfsSync(tls *libc.TLS, id uintptr, flags int32) int32 {
	f := faulty.file(id)
	if v := faults.At(f.class, "sync"); v.Skip || v.Errno != 0 {
		v.Errno = min(v.Errno, syscall.EIO)
		return result(v, sqlite3.SQLITE_IOERR_FSYNC)
	}
	power.RLock()
	defer power.RUnlock()
	covered := f.account.newest()
	rc := function[syncCall](f.methods.system.FxSync)(tls, id, flags)
	if rc == sqlite3.SQLITE_OK {
		f.account.flushed(covered)
	}
	return rc
}

// vfsShmMap is a site where the shared memory may grow. Its content need not be tracked: after a crash it is rebuilt
// from the log.
func vfsShmMap(tls *libc.TLS, id uintptr, region, size, extend int32, out uintptr) int32 {
	f := faulty.file(id)
	if extend != 0 {
		if v := faults.At("shm", "write"); v.Errno != 0 {
			return sqlite3.SQLITE_IOERR_SHMSIZE
		}
	}
	power.RLock()
	defer power.RUnlock()
	return function[shmMapCall](f.methods.system.FxShmMap)(tls, id, region, size, extend, out)
}

// result returns SQLite's code for a skipped or refused call.
func result(v faults.Verdict, broken int32) int32 {
	switch v.Errno {
	case 0:
		return sqlite3.SQLITE_OK
	case syscall.ENOSPC:
		return sqlite3.SQLITE_FULL
	}
	return broken
}
