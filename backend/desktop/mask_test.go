//go:build !windows

package desktop

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestFilesOfWebKitArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data [1]")
	for _, d := range []string{"storage/salt", "localstorage", "mine"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"storage/salt/origin", "hsts-storage.sqlite", "hsts-storage.sqlite-wal", "mine/notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "mine"), filepath.Join(dir, "storage", "link")); err != nil {
		t.Fatal(err)
	}
	NarrowWebFiles(dir)
	for f, want := range map[string]fs.FileMode{
		"storage": 0o700, "storage/salt": 0o700, "storage/salt/origin": 0o600, "localstorage": 0o700,
		"hsts-storage.sqlite": 0o600, "hsts-storage.sqlite-wal": 0o600, "mine": 0o755, "mine/notes.txt": 0o644,
	} {
		if info, err := os.Stat(filepath.Join(dir, f)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has %v, want %v, %v", f, info.Mode().Perm(), want, err)
		}
	}

	restore := privateFiles()
	name := filepath.Join(dir, "created")
	err := os.WriteFile(name, nil, 0o666)
	restore()
	restore()
	if info, statErr := os.Stat(name); err != nil || statErr != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("created with %v, %v", info.Mode().Perm(), err)
	}
}
