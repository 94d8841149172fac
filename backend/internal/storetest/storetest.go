// Package storetest gives tests a data directory with an empty database: creating one takes some 60 ms of processor
// time, copying one file is faster.
package storetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"contextinfinity/backend/store"
)

// Fill creates a data directory with an empty database of the newest schema. An existing database is left unchanged.
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

// empty returns the database of a store that was opened once and closed; closing checkpoints its log.
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
