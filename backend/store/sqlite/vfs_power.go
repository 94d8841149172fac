//go:build faults

package sqlite

import (
	"os"
	"runtime"
	"slices"
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// power is read-locked by every change to one of SQLite's files, and stays write-locked once the power fails.
var power sync.RWMutex

// unsynced lists what a power failure undoes in one file, whichever connection wrote it: the newest changes, each with
// the previous content.
type unsynced struct {
	path string

	mu      sync.Mutex
	serial  int
	changes []change
}

// change is a range that was overwritten or truncated.
type change struct {
	serial int
	off    int64
	old    []byte // limited to the file's length
	size   int64  // of the file before the change
}

var accounts = struct {
	sync.Mutex
	byPath map[string]*unsynced
}{byPath: map[string]*unsynced{}}

// accountOf returns nil for a file without a name, which a power failure deletes anyway.
func accountOf(path string) *unsynced {
	if path == "" {
		return nil
	}
	accounts.Lock()
	defer accounts.Unlock()
	a := accounts.byPath[path]
	if a == nil {
		a = &unsynced{path: path}
		accounts.byPath[path] = a
	}
	return a
}

// forget ends the account of a deleted file. SQLite deletes its log when all of it is in the database, fsynced;
// losing the deletion would change nothing.
func forget(path string) {
	if a := accountOf(path); a != nil {
		a.flushed(a.newest())
	}
}

func (f *vfsFile) size(tls *libc.TLS, id uintptr) int64 {
	if rc := function[sizeCall](f.methods.system.FxFileSize)(tls, id, address(&f.length)); rc != sqlite3.SQLITE_OK {
		return 0
	}
	return f.length
}

// before records what a write or truncation is about to replace. The caller holds power.
func (f *vfsFile) before(tls *libc.TLS, id uintptr, off, n int64) {
	if f.account == nil {
		return
	}
	c := change{off: off, size: f.size(tls, id)}
	if n = min(n, c.size-off); n > 0 {
		c.old = make([]byte, n)
		function[transferCall](f.methods.system.FxRead)(tls, id, address(&c.old[0]), int32(n), off)
		runtime.KeepAlive(c.old)
	}
	f.account.mu.Lock()
	defer f.account.mu.Unlock()
	f.account.serial++
	c.serial = f.account.serial
	f.account.changes = append(f.account.changes, c)
}

// newest returns the last change so far: an fsync that begins now covers it.
func (a *unsynced) newest() int {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.serial
}

// flushed records that the changes up to one are durable.
func (a *unsynced) flushed(covered int) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes = slices.DeleteFunc(a.changes, func(c change) bool { return c.serial <= covered })
}

// loseUnsynced resets every file to its last fsynced content.
func loseUnsynced() {
	power.Lock()
	accounts.Lock()
	for _, a := range accounts.byPath {
		a.mu.Lock()
		a.undo()
	}
}

func (a *unsynced) undo() {
	if len(a.changes) == 0 {
		return
	}
	f, err := os.OpenFile(a.path, os.O_RDWR, 0)
	if err != nil {
		return // it was deleted: there is nothing to reset
	}
	for _, c := range slices.Backward(a.changes) {
		if len(c.old) > 0 {
			_, _ = f.WriteAt(c.old, c.off)
		}
		_ = f.Truncate(c.size)
	}
	_ = f.Close()
}
