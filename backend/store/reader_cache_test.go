package store

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"contextinfinity/backend/store/sqlite"
)

// TestReadersCacheFitsTheDatabase: a reader's cache grows with the database, within limits.
func TestReadersCacheFitsTheDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "any.db")
	for size, want := range map[int64]string{
		-1: "cache_size(-24000)", 8192: "cache_size(-24000)", 2_000_000_000: "cache_size(-40000)", 1 << 40: "cache_size(-64000)",
	} {
		if size >= 0 {
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			err = f.Truncate(size) // a sparse file takes no space
			if _ = f.Close(); err != nil {
				t.Skip("the file system has no files of this size:", err)
			}
		}
		if got := sqlite.ReaderPragmas(path); !slices.Contains(got, want) {
			t.Errorf("%d bytes: %q, want %s", size, got, want)
		}
		_ = os.Remove(path)
	}
}
