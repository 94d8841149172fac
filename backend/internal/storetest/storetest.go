// Package storetest gives tests a data directory with an empty database: to migrate a new one
// takes some 60 ms of a processor, to copy one is a matter of one file.
package storetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"contextinfinity/backend/store"
)

// Fill puts an empty database of the newest schema into a data directory, which it makes.
// A directory that has a database is left as it is.
func Fill(tb testing.TB, dir string) {
	tb.Helper()
	path := filepath.Join(dir, store.DatabaseFile)
	if _, err := os.Stat(path); err == nil {
		return
	}
	data, err := empty()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// empty is the database of a store that was opened for the first time and closed, which
// brings its log into the file.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "storetest")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := store.Open(context.Background(), store.Options{DataDir: dir, Scratch: true})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, store.DatabaseFile))
})
