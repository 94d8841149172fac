//go:build unix

package builtin

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
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

// TestNestedFolders: a command in a folder replaces a part of another folder's path by a link; the tools still work only
// inside the folders.
func TestNestedFolders(t *testing.T) {
	for name, path := range map[string]func(d *fixture) string{
		"a folder in another one": func(d *fixture) string { return filepath.Join(d.dir, "docs", "b") },
		"a link to a folder in another one": func(d *fixture) string {
			link := filepath.Join(d.TempDir(), "link")
			if err := os.Symlink(filepath.Join(d.dir, "docs", "b"), link); err != nil {
				d.Fatal(err)
			}
			return link
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t, nil)
			d.put("docs/b/a.txt", "inside")
			nested := path(d)
			d.Source = New(nil, &Folders{
				Settings:  func() ([]string, bool) { return []string{nested, d.dir, nested}, false },
				Protected: func() []string { return nil },
			})
			inside := filepath.Join(d.dir, "docs", "b", "a.txt")
			d.answers("read_file", map[string]any{"path": inside}, "inside")
			if problems := d.Problems(); (len(problems) > 0) != strings.Contains(name, "link") {
				t.Errorf("problems: %+v", problems)
			}
			if err := os.WriteFile(filepath.Join(d.outside, "a.txt"), []byte("hidden treasure"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, replaced := range []string{"docs/b", "docs"} { // what a command could do
				target := filepath.Join(d.dir, replaced)
				if err := errors.Join(os.RemoveAll(target), os.Symlink(d.outside, target)); err != nil {
					t.Fatal(err)
				}
				for _, path := range []string{inside, filepath.Join(nested, "a.txt"), filepath.Join(d.dir, "docs", "a.txt")} {
					if got, isError := d.call("read_file", map[string]any{"path": path}); !isError || strings.Contains(got, "treasure") {
						t.Errorf("%s after %s became a link: %s", path, replaced, got)
					}
				}
			}
		})
	}
}
