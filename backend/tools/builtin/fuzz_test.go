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
	one := folder{given: filepath.FromSlash("/given"), real: filepath.FromSlash("/real")}
	f.Fuzz(func(t *testing.T, path string) {
		in, rel, err := locate([]folder{one}, path)
		if err != nil {
			return
		}
		if in != one || !filepath.IsLocal(rel) || !holds(one.real, filepath.Join(one.real, rel)) || strings.ContainsRune(rel, 0) {
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
		var old, fresh []string
		for _, l := range compared(a, b) {
			if l[0] != '+' {
				old = append(old, l[1:])
			}
			if l[0] != '-' {
				fresh = append(fresh, l[1:])
			}
		}
		if strings.Join(old, "\n") != strings.Join(a, "\n") || strings.Join(fresh, "\n") != strings.Join(b, "\n") {
			t.Errorf("%q to %q: %q, %q", before, after, old, fresh)
		}
		if before == after && lineDiff(before, after) != "" {
			t.Errorf("%q is shown as changed", before)
		}
	})
}
