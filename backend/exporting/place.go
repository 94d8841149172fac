package exporting

import (
	"os"
	"path/filepath"
	"strings"

	"contextinfinity/backend/chat"
)

// keepOut refuses a path in the data directory, where it could replace the database, a journal or a backup.
func (e *Exporter) keepOut(path string) error {
	data, err := os.Stat(e.DataDir)
	if err != nil {
		return nil // there is nothing to replace
	}
	for _, place := range []string{path, real(path)} {
		for dir := place; ; dir = filepath.Dir(dir) {
			if info, err := os.Stat(dir); err == nil && os.SameFile(info, data) {
				return chat.Errorf(chat.CodeInvalid, opWrite, "%s is in the folder in which ContextInfinity keeps its data; nothing was written.", path).
					WithHint("choose another folder")
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return nil
}

// real resolves the links in the existing part of a path; a dangling link resolves to where the file would be
// created.
func real(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	if to, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(to, filepath.Base(path))
	}
	return path
}

// isFolder reports a path that ends like a folder or is one.
func isFolder(path, abs string) bool {
	if strings.HasSuffix(path, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(abs)
	return err == nil && info.IsDir()
}
