//go:build unix

package builtin

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestAPipeIsNotRead: opening one would wait forever for a writer.
func TestAPipeIsNotRead(t *testing.T) {
	d := newFixture(t, nil)
	if err := syscall.Mkfifo(filepath.Join(d.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.refuses("read_file", map[string]any{"path": "pipe"}, "it is not a file")
	d.refuses("write_file", map[string]any{"path": "pipe", "content": "x"}, "it is not a file")
	d.refuses("list_directory", map[string]any{"path": "pipe"}, "it is not a folder")
	d.answers("search_files", map[string]any{"text": "x"}, "no file has this text")
}
