// Package journaltest provides a file system that simulates a power failure: it discards data that was written but not
// fsynced (SPEC 5).
package journaltest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"

	"contextinfinity/backend/journal"
)

// ErrCrashed is returned by a file that was open during a crash.
var ErrCrashed = errors.New("journaltest: the file was open during a crash")

// Op is a kind of call that can be made to fail or to stall.
type Op string

const (
	OpMkdir   Op = "mkdir"
	OpCreate  Op = "create"
	OpWrite   Op = "write"
	OpSync    Op = "sync"
	OpClose   Op = "close"
	OpRemove  Op = "remove"
	OpSyncDir Op = "syncdir"
	OpOpen    Op = "open"
	OpRead    Op = "read"
	OpReadDir Op = "readdir"
)

// CrashFS is an in-memory journal.FS. A file's bytes survive Crash if the file was synced after they were written; its
// creation or removal survives if its directory was synced afterwards. New directories are durable at once. It is safe
// for concurrent use.
type CrashFS struct {
	mu         sync.Mutex
	live       map[string]*inode
	stable     map[string]*inode // durable entries
	dirs       map[string]bool
	epoch      int // counts crashes: handles of an earlier epoch are invalid
	calls      map[Op]int
	faults     map[Op]map[int]fault
	gates      map[Op]chan struct{}
	ignoreSync bool
}

type inode struct {
	data   []byte
	synced int
	// lost: an fsync failed. As on Linux the pages then count as clean, and later fsyncs succeed without writing
	// them.
	lost bool
}

type fault struct {
	err   error
	short int // bytes written before the error, for OpWrite
}

// NewCrashFS returns an empty file system.
func NewCrashFS() *CrashFS {
	return &CrashFS{
		live: map[string]*inode{}, stable: map[string]*inode{}, dirs: map[string]bool{},
		calls: map[Op]int{}, faults: map[Op]map[int]fault{}, gates: map[Op]chan struct{}{},
	}
}

var _ journal.FS = (*CrashFS)(nil)

// FailNth makes the nth call of op from now on, counted from 1, fail with err.
func (c *CrashFS) FailNth(op Op, n int, err error) { c.plan(op, n, fault{err: err}) }

// ShortWrite makes the nth write from now on stop after some bytes. With a nil err the short write is not reported.
func (c *CrashFS) ShortWrite(n, written int, err error) {
	c.plan(OpWrite, n, fault{err: err, short: written})
}

func (c *CrashFS) plan(op Op, n int, f fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.faults[op] == nil {
		c.faults[op] = map[int]fault{}
	}
	c.faults[op][c.calls[op]+n] = f
}

// Stall blocks calls of op until release is called.
func (c *CrashFS) Stall(op Op) (release func()) {
	gate := make(chan struct{})
	c.mu.Lock()
	c.gates[op] = gate
	c.mu.Unlock()
	return sync.OnceFunc(func() {
		c.mu.Lock()
		delete(c.gates, op)
		c.mu.Unlock()
		close(gate)
	})
}

// IgnoreSync makes every Sync succeed without effect, as if the program's fsync were removed. A test of durability
// must fail with it.
func (c *CrashFS) IgnoreSync(on bool) {
	c.mu.Lock()
	c.ignoreSync = on
	c.mu.Unlock()
}

// Calls is the number of calls of op so far.
func (c *CrashFS) Calls(op Op) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[op]
}

// Crash simulates a power failure. Unsynced data is discarded; with a rng a random part of it survives, as on real
// disks: a prefix of the bytes, and any of the entries. Open files return ErrCrashed from then on; the file system
// itself works as after a restart.
func (c *CrashFS) Crash(rng *rand.Rand) {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := slices.Sorted(maps.Keys(c.live))
	for name := range c.stable {
		if _, ok := c.live[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	after := map[string]*inode{}
	for _, name := range names {
		node, onDisk := c.stable[name]
		if now, ok := c.live[name]; now != node && rng != nil && rng.IntN(2) == 0 {
			node, onDisk = now, ok
		}
		if onDisk && node != nil {
			after[name] = node.afterCrash(rng)
		}
	}
	c.live, c.stable = after, maps.Clone(after)
	c.epoch++
}

// afterCrash returns the file as it is on disk after a crash.
func (n *inode) afterCrash(rng *rand.Rand) *inode {
	keep := n.synced
	if rest := len(n.data) - n.synced; rng != nil && rest > 0 {
		keep += rng.IntN(rest + 1)
	}
	return &inode{data: bytes.Clone(n.data[:keep]), synced: keep}
}

// Bytes is a file's content as a reader sees it, nil if it does not exist.
func (c *CrashFS) Bytes(path string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.live[filepath.Clean(path)]; n != nil {
		return bytes.Clone(n.data)
	}
	return nil
}

// Put creates a durable file with the given content.
func (c *CrashFS) Put(path string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path = filepath.Clean(path)
	n := &inode{data: bytes.Clone(data), synced: len(data)}
	c.live[path], c.stable[path] = n, n
	c.dirs[filepath.Dir(path)] = true
}

// enter counts a call, waits at its gate and returns its planned fault.
func (c *CrashFS) enter(op Op) (fault, bool) {
	c.mu.Lock()
	c.calls[op]++
	f, failed := c.faults[op][c.calls[op]]
	gate := c.gates[op]
	c.mu.Unlock()
	if gate != nil {
		<-gate
	}
	return f, failed
}

// MkdirAll implements journal.FS.
func (c *CrashFS) MkdirAll(dir string) error {
	if f, bad := c.enter(OpMkdir); bad {
		return pathError(OpMkdir, dir, f.err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dirs[filepath.Clean(dir)] = true
	return nil
}

// Create implements journal.FS.
func (c *CrashFS) Create(path string) (journal.File, error) {
	if f, bad := c.enter(OpCreate); bad {
		return nil, pathError(OpCreate, path, f.err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	path = filepath.Clean(path)
	if !c.dirs[filepath.Dir(path)] {
		return nil, pathError(OpCreate, path, fs.ErrNotExist)
	}
	if c.live[path] != nil {
		return nil, pathError(OpCreate, path, fs.ErrExist)
	}
	n := &inode{}
	c.live[path] = n
	return &file{fs: c, node: n, path: path, epoch: c.epoch}, nil
}

// Open implements journal.FS. The reader sees the file's current content.
func (c *CrashFS) Open(path string) (io.ReadCloser, error) {
	if f, bad := c.enter(OpOpen); bad {
		return nil, pathError(OpOpen, path, f.err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.live[filepath.Clean(path)]
	if n == nil {
		return nil, pathError(OpOpen, path, fs.ErrNotExist)
	}
	return &reader{fs: c, path: path, in: bytes.NewReader(bytes.Clone(n.data))}, nil
}

// Remove implements journal.FS.
func (c *CrashFS) Remove(path string) error {
	if f, bad := c.enter(OpRemove); bad {
		return pathError(OpRemove, path, f.err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	path = filepath.Clean(path)
	if c.live[path] == nil {
		return pathError(OpRemove, path, fs.ErrNotExist)
	}
	delete(c.live, path)
	return nil
}

// SyncDir implements journal.FS.
func (c *CrashFS) SyncDir(dir string) error {
	if f, bad := c.enter(OpSyncDir); bad {
		return pathError(OpSyncDir, dir, f.err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ignoreSync {
		return nil
	}
	dir = filepath.Clean(dir)
	inDir := func(path string, _ *inode) bool { return filepath.Dir(path) == dir }
	maps.DeleteFunc(c.stable, inDir)
	for path, n := range c.live {
		if inDir(path, n) {
			c.stable[path] = n
		}
	}
	return nil
}

// ReadDir implements journal.FS.
func (c *CrashFS) ReadDir(dir string) ([]string, error) {
	if f, bad := c.enter(OpReadDir); bad {
		return nil, pathError(OpReadDir, dir, f.err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	dir = filepath.Clean(dir)
	if !c.dirs[dir] {
		return nil, pathError(OpReadDir, dir, fs.ErrNotExist)
	}
	var names []string
	for path := range c.live {
		if filepath.Dir(path) == dir {
			names = append(names, filepath.Base(path))
		}
	}
	slices.Sort(names)
	return names, nil
}

func pathError(op Op, path string, err error) error {
	return &fs.PathError{Op: string(op), Path: path, Err: err}
}
