//go:build !faults

package faultfs_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"contextinfinity/backend/internal/faultfs"
)

func TestANormalBuildDoesNotWrapFiles(t *testing.T) {
	if reflect.TypeFor[faultfs.File]() != reflect.TypeFor[os.File]() {
		t.Error("a normal build wraps files")
	}
}

func TestASmallFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := faultfs.MkdirAll(faultfs.Data, dir, 0o700); err != nil {
		t.Fatal(err)
	}
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	f, err := faultfs.OpenFile(faultfs.Backup, from, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("text")
	for _, step := range []error{err, faultfs.SyncData(f), f.Close(), faultfs.Rename(faultfs.Backup, from, to), faultfs.SyncDir(faultfs.Backup, dir)} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if got, err := os.ReadFile(to); err != nil || string(got) != "text" {
		t.Errorf("%q (%v)", got, err)
	}
	if err := faultfs.Remove(faultfs.Backup, to); err != nil {
		t.Error(err)
	}
}

// BenchmarkAppend measures the hot path of a stream, with faultfs and with package os.
func BenchmarkAppend(b *testing.B) {
	line := make([]byte, 200)
	b.Run("faultfs", func(b *testing.B) {
		f, err := faultfs.OpenFile(faultfs.Journal, filepath.Join(b.TempDir(), "f"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for b.Loop() {
			_, _ = f.Write(line)
		}
	})
	b.Run("os", func(b *testing.B) {
		f, err := os.OpenFile(filepath.Join(b.TempDir(), "f"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for b.Loop() {
			_, _ = f.Write(line)
		}
	})
}
