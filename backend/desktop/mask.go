package desktop

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// webFiles are WebKit's files in a directory with the program's name, which is the default data directory.
var webFiles = []string{
	"localstorage", "databases", "storage", "serviceworkers", "mediakeys", "deviceidhashsalts", "itp", "indexeddb", "CacheStorage", "hsts-storage.sqlite*",
}

// NarrowWebFiles removes other users' permissions from WebKit's files in a directory: earlier versions created files
// that others could read if they had access to the directory. Files that cannot be changed are skipped.
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

// narrow does not follow links.
func narrow(path string, d fs.DirEntry, err error) error {
	if err != nil || d.Type()&^fs.ModeDir != 0 {
		return nil //nolint:nilerr // unreadable files are skipped
	}
	info, err := d.Info()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(path, info.Mode().Perm()&0o700) //nolint:gosec // the directory is the user's own
	}
	return nil
}
