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

// lights is held for reading by whatever changes a file of SQLite's and taken for
// good when the power goes.
var lights sync.RWMutex

// unsynced is what a loss of power takes from one file, whichever connection wrote
// it: the newest changes, each with what stood there before.
type unsynced struct {
	path string

	mu      sync.Mutex
	serial  int
	changes []change
}

// change is a place that was written over, or cut off.
type change struct {
	serial int
	off    int64
	old    []byte // as far as the file reached
	size   int64  // of the file before
}

var accounts = struct {
	sync.Mutex
	of map[string]*unsynced
}{of: map[string]*unsynced{}}

// accountOf is nil for a file without a name: nothing of it survives anyway.
func accountOf(path string) *unsynced {
	if path == "" {
		return nil
	}
	accounts.Lock()
	defer accounts.Unlock()
	a := accounts.of[path]
	if a == nil {
		a = &unsynced{path: path}
		accounts.of[path] = a
	}
	return a
}

// forget ends the account of a file that is removed. SQLite removes its log when
// all of it is in the database, fsynced; its return would change nothing.
func forget(path string) {
	if a := accountOf(path); a != nil {
		a.flushed(a.newest())
	}
}

func (f *vfsFile) size(tls *libc.TLS, id uintptr) int64 {
	var size int64
	if rc := function[sizeCall](f.methods.system.FxFileSize)(tls, id, address(&size)); rc != sqlite3.SQLITE_OK {
		return 0
	}
	return size
}

// before notes what a write or a cut is going to take away. The caller holds lights.
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

// newest is the last change so far: what an fsync that begins now covers.
func (a *unsynced) newest() int {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.serial
}

// flushed notes that changes up to one are durable.
func (a *unsynced) flushed(covered int) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes = slices.DeleteFunc(a.changes, func(c change) bool { return c.serial <= covered })
}

// loseUnsynced puts every file back to what was fsynced of it.
func loseUnsynced() {
	lights.Lock()
	accounts.Lock()
	for _, a := range accounts.of {
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
		return // it was removed: there is nothing to take away
	}
	for _, c := range slices.Backward(a.changes) {
		if len(c.old) > 0 {
			_, _ = f.WriteAt(c.old, c.off)
		}
		_ = f.Truncate(c.size)
	}
	_ = f.Close()
}
