package config

import (
	"context"
	"os"
	"reflect"
	"time"
)

// Watch reloads the file whenever another program has changed it, until ctx ends. It checks the file's time and size
// once per interval, and reads the file once both have been the same for an interval, because an editor may still be
// writing it. changed is called after the configuration in effect, or the error of the file, has changed.
func (s *Store) Watch(ctx context.Context, interval time.Duration, changed func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	seen, read := s.fileState(), false // the file may have changed since it was opened
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := s.fileState()
		if now != seen {
			seen, read = now, false
			continue
		}
		if !read && s.Refresh() {
			changed()
		}
		read = true
	}
}

// fileState identifies a version of the file without reading it.
type fileState struct {
	exists   bool
	size     int64
	modified time.Time
}

func (s *Store) fileState() fileState {
	info, err := os.Stat(s.opts.Path)
	if err != nil {
		return fileState{}
	}
	return fileState{exists: true, size: info.Size(), modified: info.ModTime()}
}

// Refresh applies what the file contains now, without waiting for Watch to see it, and reports whether that changed
// anything. If the file has an error, the
// configuration in effect is kept. The data directory is always kept, because it is open.
func (s *Store) Refresh() bool {
	s.edits.Lock()
	defer s.edits.Unlock()
	before, failed := s.Config(), s.Err()
	c, err := s.load()
	if err != nil {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
		return failed == nil || failed.Error() != err.Error()
	}
	c.DataDir = before.DataDir
	if failed == nil && reflect.DeepEqual(c, before) {
		return false
	}
	s.activate(c)
	return true
}
