package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"contextinfinity/backend/atrest"
)

// A file that a killed program left while it checked for free space is removed at the next start.
func TestLeftoversOfTheSpaceCheckAreRemoved(t *testing.T) {
	dir := t.TempDir()
	left, other := filepath.Join(dir, atrest.RoomPrefix+"123"), filepath.Join(dir, "room.txt")
	for _, path := range []string{left, other} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("the user's file is gone: %v", err)
	}
}
