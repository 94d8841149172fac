package journaltest

import (
	"bytes"
	"io/fs"
)

// file is an open file of a CrashFS.
type file struct {
	fs     *CrashFS
	node   *inode
	path   string
	epoch  int
	closed bool
}

// usable returns an error if the handle is no longer valid. The caller holds fs.mu.
func (f *file) usable() error {
	if f.closed {
		return fs.ErrClosed
	}
	if f.epoch != f.fs.epoch {
		return ErrCrashed
	}
	return nil
}

func (f *file) Write(p []byte) (int, error) {
	plan, bad := f.fs.enter(OpWrite)
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable(); err != nil {
		return 0, pathError(OpWrite, f.path, err)
	}
	n := len(p)
	if bad {
		n = min(plan.short, n)
	}
	f.node.data = append(f.node.data, p[:n]...)
	if bad && plan.err != nil {
		return n, pathError(OpWrite, f.path, plan.err)
	}
	return n, nil
}

// Sync covers what was written before the call, not what was written during it.
func (f *file) Sync() error {
	f.fs.mu.Lock()
	covered := len(f.node.data)
	f.fs.mu.Unlock()
	plan, bad := f.fs.enter(OpSync)
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable(); err != nil {
		return pathError(OpSync, f.path, err)
	}
	if bad {
		f.node.lost = true
		return pathError(OpSync, f.path, plan.err)
	}
	if !f.fs.ignoreSync && !f.node.lost {
		f.node.synced = max(f.node.synced, covered)
	}
	return nil
}

func (f *file) Close() error {
	plan, bad := f.fs.enter(OpClose)
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable(); err != nil {
		return pathError(OpClose, f.path, err)
	}
	f.closed = true
	if bad {
		return pathError(OpClose, f.path, plan.err)
	}
	return nil
}

// reader is a file opened to read.
type reader struct {
	fs   *CrashFS
	path string
	in   *bytes.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if plan, bad := r.fs.enter(OpRead); bad {
		return 0, pathError(OpRead, r.path, plan.err)
	}
	return r.in.Read(p)
}

func (r *reader) Close() error { return nil }
