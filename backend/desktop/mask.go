package desktop

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// webFiles are what WebKit keeps in a directory of the program's name, which is the data
// directory where nobody chose another.
var webFiles = []string{
	"localstorage", "databases", "storage", "serviceworkers", "mediakeys", "deviceidhashsalts", "itp", "indexeddb", "CacheStorage", "hsts-storage.sqlite*",
}

// NarrowWebFiles takes the rights of other users from what WebKit left in a directory:
// earlier versions let it make files that others could read if the directory were opened
// to them. Files that cannot be changed stay as they are.
func NarrowWebFiles(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		isWebFile := func(pattern string) bool { ok, _ := filepath.Match(pattern, e.Name()); return ok }
		if slices.ContainsFunc(webFiles, isWebFile) {
			_ = filepath.WalkDir(filepath.Join(dir, e.Name()), narrow)
		}
	}
}

// narrow follows no link.
func narrow(path string, d fs.DirEntry, err error) error {
	if err != nil || d.Type()&^fs.ModeDir != 0 {
		return nil //nolint:nilerr // what cannot be read is left
	}
	info, err := d.Info()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(path, info.Mode().Perm()&0o700)
	}
	return nil
}
