//go:build faults

package faultfs

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"contextinfinity/backend/internal/faults"
)

// machine is read-locked by every change of a file, and write-locked for ever when the power fails, so that nothing
// is written afterwards.
var machine sync.RWMutex

// account is what is not durable yet.
var account struct {
	sync.Mutex
	nodes   []*node  // files with bytes that may not be durable
	pending []*entry // changes of directories, oldest first
	serial  int
}

func init() { faults.OnPowerLoss(losePower) }

// node is a file that is being written, under whatever name.
type node struct {
	info os.FileInfo // identifies the file
	// synced is the number of durable bytes from the start.
	synced int64
	// lost: an fsync failed. As on Linux, the pages then count as clean, and later fsyncs succeed without writing
	// them.
	lost bool
	open int // open handles of the program
	// own is a handle that outlives the file's names. It is opened separately: a duplicate would hold the file's
	// lock.
	own *os.File
}

// nodeOf finds or creates the account of a file opened for writing. Its content at that time is durable.
func nodeOf(f *os.File, made bool) *node {
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	account.Lock()
	defer account.Unlock()
	for _, n := range account.nodes {
		if os.SameFile(n.info, info) {
			n.open++
			n.synced = min(n.synced, info.Size()) // opening may have truncated it
			return n
		}
	}
	own, err := os.OpenFile(f.Name(), os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	n := &node{info: info, open: 1, own: own}
	if !made {
		n.synced = info.Size()
	}
	account.nodes = append(account.nodes, n)
	return n
}

func sizeOf(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// flushed records the result of an fsync that covered the first bytes of the file.
func (n *node) flushed(covered int64, err error) {
	if n == nil {
		return
	}
	account.Lock()
	defer account.Unlock()
	switch {
	case err != nil:
		n.lost = true
	case !n.lost:
		n.synced = max(n.synced, covered)
	}
}

func (n *node) cut(size int64) {
	if n == nil {
		return
	}
	account.Lock()
	defer account.Unlock()
	n.synced = min(n.synced, size)
}

// left is called when a handle is closed. A durable file is no longer tracked.
func (n *node) left() {
	if n == nil {
		return
	}
	account.Lock()
	defer account.Unlock()
	if n.open--; n.open > 0 || sizeOf(n.own) > n.synced {
		return
	}
	_ = n.own.Close()
	account.nodes = slices.DeleteFunc(account.nodes, func(other *node) bool { return other == n })
}

// entry is a change of one or two directories that is not yet durable in all of them.
type entry struct {
	serial int
	dirs   []string
	undo   func()
	kept   *os.File // of a replaced or removed file
}

// created records a new directory entry.
func created(path string) {
	e := &entry{dirs: dirsOf(path), undo: func() { _ = os.Remove(path) }}
	e.settle(nil)
}

func beforeRename(from, to string) *entry {
	old, _ := os.Open(to)
	return &entry{dirs: dirsOf(from, to), kept: old, undo: func() {
		_ = os.Rename(to, from)
		putBack(to, old)
	}}
}

func beforeRemove(path string) *entry {
	old, _ := os.Open(path)
	return &entry{dirs: dirsOf(path), kept: old, undo: func() { putBack(path, old) }}
}

// dirsOf is the directories of the paths, without duplicates.
func dirsOf(paths ...string) []string {
	var dirs []string
	for _, p := range paths {
		if dir := clean(filepath.Dir(p)); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func clean(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// putBack restores the old file at path: its bytes were cut to the durable ones.
func putBack(path string, old *os.File) {
	if old == nil {
		return
	}
	info, err := old.Stat()
	if err != nil || info.IsDir() {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return
	}
	_, _ = old.Seek(0, io.SeekStart)
	_, _ = io.Copy(f, old)
	_ = f.Close()
}

// settle records a completed change, and drops a failed one.
func (e *entry) settle(err error) {
	if err != nil {
		e.forget()
		return
	}
	account.Lock()
	defer account.Unlock()
	account.serial++
	e.serial = account.serial
	account.pending = append(account.pending, e)
}

func (e *entry) forget() {
	if e.kept != nil {
		_ = e.kept.Close()
	}
}

// pendingNow is the newest change so far: an fsync that begins now covers it.
func pendingNow() int {
	account.Lock()
	defer account.Unlock()
	return account.serial
}

// entriesFlushed records that a directory's changes are durable up to one.
func entriesFlushed(dir string, covered int) {
	dir = clean(dir)
	account.Lock()
	defer account.Unlock()
	account.pending = slices.DeleteFunc(account.pending, func(e *entry) bool {
		if e.serial <= covered {
			e.dirs = slices.DeleteFunc(e.dirs, func(d string) bool { return d == dir })
		}
		if len(e.dirs) > 0 {
			return false
		}
		e.forget()
		return true
	})
}

// losePower discards what is not durable: first bytes, then directory entries, newest first. It never releases its
// locks.
func losePower() {
	machine.Lock()
	account.Lock()
	for _, n := range account.nodes {
		if sizeOf(n.own) > n.synced {
			_ = n.own.Truncate(n.synced)
		}
	}
	for _, e := range slices.Backward(account.pending) {
		e.undo()
	}
}
