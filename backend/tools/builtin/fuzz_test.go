package builtin

import (
	"path/filepath"
	"strings"
	"testing"
)

// FuzzLocate: an accepted path is in the folder, before links are resolved.
func FuzzLocate(f *testing.F) {
	for _, path := range []string{"a/b", "../x", "/given/a", "/given/../x", "/real/./a", "", ".", "a/../../x", "/given", "//given//a", "a\x00", "..a"} {
		f.Add(path)
	}
	dir := folder{configured: filepath.FromSlash("/given"), real: filepath.FromSlash("/real")}
	f.Fuzz(func(t *testing.T, path string) {
		base, rel, err := locate([]folder{dir}, path)
		if err != nil {
			return
		}
		if base.real != dir.real || !filepath.IsLocal(rel) || !contains(dir.real, filepath.Join(dir.real, rel)) || strings.ContainsRune(rel, 0) {
			t.Errorf("%q leads to %q", path, rel)
		}
	})
}

// FuzzLineDiff: kept and added lines form the new text, kept and removed lines the old one.
func FuzzLineDiff(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc\n")
	f.Add("", "a")
	f.Add("a", "")
	f.Add("a\na\n", "a\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.Count(before, "\n") > 50 || strings.Count(after, "\n") > 50 {
			return
		}
		a, b := diffLines(before), diffLines(after)
		var oldLines, newLines []string
		for _, l := range compareLines(a, b) {
			if l[0] != '+' {
				oldLines = append(oldLines, l[1:])
			}
			if l[0] != '-' {
				newLines = append(newLines, l[1:])
			}
		}
		if strings.Join(oldLines, "\n") != strings.Join(a, "\n") || strings.Join(newLines, "\n") != strings.Join(b, "\n") {
			t.Errorf("%q to %q: %q, %q", before, after, oldLines, newLines)
		}
		if before == after && lineDiff(before, after) != "" {
			t.Errorf("%q is shown as changed", before)
		}
	})
}
