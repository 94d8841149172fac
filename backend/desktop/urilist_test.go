package desktop

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func TestFilesOfAURIList(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix systems")
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string][]string{
		"": nil,
		"file:///a/b.md\r\nfile:///c%20d/100%25.png\r\n": {"/a/b.md", "/c d/100%.png"},
		"file:///gr%C3%B6%C3%9Fe.md":                     {"/größe.md"},
		"# from a file manager\nfile:///a\n\x00":         {"/a"},
		"file://localhost/a\nfile://" + host + "/b\n":    {"/a", "/b"},
		"file://elsewhere.example/a\nhttps://example.com/\nsmb://server/share/a\n/a\nfile:a\nfile:///%zz\n": nil,
		"file:///a/../etc/b#c": {"/etc/b"},
	} {
		if got := filesOf(list); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
		for _, path := range filesOf(list) {
			if !filepath.IsAbs(path) {
				t.Errorf("%q is not absolute", path)
			}
		}
	}
}
