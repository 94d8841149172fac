package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
)

func oldFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWriteReplacesWithTheRequestedPermissions(t *testing.T) {
	path := oldFile(t)
	if err := Write(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, path); got != "new" {
		t.Fatalf("content %q", got)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v", info.Mode())
	}
}

func TestWriteCreatesAMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.toml")
	if err := Write(path, []byte("x"), 0o600); err != nil || mustRead(t, path) != "x" {
		t.Fatalf("err %v", err)
	}
}

func TestWriteFollowsALink(t *testing.T) {
	path := oldFile(t)
	link := filepath.Join(t.TempDir(), "link.toml")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := Write(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if mustRead(t, path) != "new" {
		t.Fatal("the target was not replaced")
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Fatal("the link was replaced by a file")
	}
}

// Whatever step fails, the old content stays and no temporary file is left.
func TestAnyFailureLeavesTheOldFile(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	broken := errors.New("input/output error")
	cases := map[string]struct {
		w    Writer
		code chat.Code
	}{
		"create, disk full": {Writer{Create: func(string, string) (*faultfs.File, error) { return nil, full }}, chat.CodeNoSpace},
		"content, torn then disk full": {Writer{Content: func(w io.Writer, data []byte) error {
			_, _ = w.Write(data[:1])
			return full
		}}, chat.CodeNoSpace},
		"sync":   {Writer{Sync: func(*faultfs.File) error { return broken }}, chat.CodeInternal},
		"rename": {Writer{Rename: func(string, string) error { return broken }}, chat.CodeInternal},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := oldFile(t)
			err := c.w.Write(path, []byte("new"), 0o600)
			if chat.CodeOf(err) != c.code {
				t.Fatalf("code %q of %v", chat.CodeOf(err), err)
			}
			if mustRead(t, path) != "old" {
				t.Fatal("the old content is gone")
			}
			entries, _ := os.ReadDir(filepath.Dir(path))
			if len(entries) != 1 {
				t.Fatalf("left behind: %v", entries)
			}
		})
	}
}

func TestFolderFlushFailureIsReported(t *testing.T) {
	path := oldFile(t)
	w := Writer{SyncDir: func(string) error { return errors.New("input/output error") }}
	if err := w.Write(path, []byte("new"), 0o600); err == nil {
		t.Fatal("no error")
	}
	if mustRead(t, path) != "new" {
		t.Fatal("the new content is not in place")
	}
}

// The content is flushed before the rename, and the folder after it.
func TestOrderOfSteps(t *testing.T) {
	var steps []string
	w := Writer{
		Sync:    func(f *faultfs.File) error { steps = append(steps, "sync"); return f.Sync() },
		Rename:  func(a, b string) error { steps = append(steps, "rename"); return os.Rename(a, b) },
		SyncDir: func(d string) error { steps = append(steps, "sync folder"); return faultfs.SyncDir(faultfs.Config, d) },
	}
	if err := w.Write(oldFile(t), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"sync", "rename", "sync folder"}
	for i := range want {
		if len(steps) != len(want) || steps[i] != want[i] {
			t.Fatalf("steps %v", steps)
		}
	}
}
