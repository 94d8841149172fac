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

// machine is read-locked during every change of a file, and write-locked permanently when the power fails, so that
// nothing is written afterwards.
var machine sync.RWMutex

// unsynced records the changes that are not durable yet.
var unsynced struct {
	sync.Mutex
	nodes   []*node  // files with bytes that may not be durable
	pending []*entry // changes of directories, oldest first
	serial  int
}

func init() { faults.OnPowerLoss(losePower) }

// node is a file that is being written, whatever its current name.
type node struct {
	info os.FileInfo // identifies the file
	// synced is the number of durable bytes from the start.
	synced int64
	// lost: an fsync failed. As on Linux, the pages then count as clean, and later fsyncs succeed without writing
	// them.
	lost bool
	open int // open handles of the program
	// handle is this package's own, and outlives the file's names. It is opened separately, because a duplicate would
	// keep the file's lock.
	handle *os.File
}

// nodeOf finds or creates the node of a file opened for writing. The content at that time counts as durable.
func nodeOf(f *os.File, isNew bool) *node {
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	unsynced.Lock()
	defer unsynced.Unlock()
	for _, n := range unsynced.nodes {
		if os.SameFile(n.info, info) {
			n.open++
			n.synced = min(n.synced, info.Size()) // opening may have truncated it
			return n
		}
	}
	handle, err := os.OpenFile(f.Name(), os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	n := &node{info: info, open: 1, handle: handle}
	if !isNew {
		n.synced = info.Size()
	}
	unsynced.nodes = append(unsynced.nodes, n)
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
	unsynced.Lock()
	defer unsynced.Unlock()
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
	unsynced.Lock()
	defer unsynced.Unlock()
	n.synced = min(n.synced, size)
}

// handleClosed stops tracking the file if it is durable and the program has no other handle.
func (n *node) handleClosed() {
	if n == nil {
		return
	}
	unsynced.Lock()
	defer unsynced.Unlock()
	if n.open--; n.open > 0 || sizeOf(n.handle) > n.synced {
		return
	}
	_ = n.handle.Close()
	unsynced.nodes = slices.DeleteFunc(unsynced.nodes, func(other *node) bool { return other == n })
}

// entry is a change of one or two directories that is not yet durable in all of them.
type entry struct {
	serial int
	dirs   []string
	undo   func()
	old    *os.File // the replaced or removed file
}

// created records a new directory entry.
func created(path string) {
	e := &entry{dirs: dirsOf(path), undo: func() { _ = os.Remove(path) }}
	e.finish(nil)
}

func beforeRename(from, to string) *entry {
	old, _ := os.Open(to)
	return &entry{dirs: dirsOf(from, to), old: old, undo: func() {
		_ = os.Rename(to, from)
		putBack(to, old)
	}}
}

func beforeRemove(path string) *entry {
	old, _ := os.Open(path)
	return &entry{dirs: dirsOf(path), old: old, undo: func() { putBack(path, old) }}
}

// dirsOf returns the directories of the paths, without duplicates.
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

// putBack restores the old file, or the empty directory, at path. Its bytes have been cut to the durable ones before.
func putBack(path string, old *os.File) {
	if old == nil {
		return
	}
	info, err := old.Stat()
	if err != nil {
		return
	}
	if info.IsDir() {
		_ = os.Mkdir(path, info.Mode().Perm())
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

// finish records a completed change, and drops a failed one.
func (e *entry) finish(err error) {
	if err != nil {
		e.forget()
		return
	}
	unsynced.Lock()
	defer unsynced.Unlock()
	unsynced.serial++
	e.serial = unsynced.serial
	unsynced.pending = append(unsynced.pending, e)
}

func (e *entry) forget() {
	if e.old != nil {
		_ = e.old.Close()
	}
}

// newestChange returns the serial of the newest change: an fsync that begins now covers it.
func newestChange() int {
	unsynced.Lock()
	defer unsynced.Unlock()
	return unsynced.serial
}

// entriesFlushed records that a directory's changes are durable up to the serial covered.
func entriesFlushed(dir string, covered int) {
	dir = clean(dir)
	unsynced.Lock()
	defer unsynced.Unlock()
	unsynced.pending = slices.DeleteFunc(unsynced.pending, func(e *entry) bool {
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
	unsynced.Lock()
	for _, n := range unsynced.nodes {
		if sizeOf(n.handle) > n.synced {
			_ = n.handle.Truncate(n.synced)
		}
	}
	for _, e := range slices.Backward(unsynced.pending) {
		e.undo()
	}
}
