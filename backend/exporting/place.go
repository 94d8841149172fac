package exporting

import (
	"os"
	"path/filepath"
	"strings"

	"contextinfinity/backend/chat"
)

// refuseDataDir refuses a path in the data directory, where it could replace the database, a journal or a backup.
func (e *Exporter) refuseDataDir(path string) error {
	data, err := os.Stat(e.DataDir)
	if err != nil {
		return nil // there is nothing to replace
	}
	for _, p := range []string{path, resolveLinks(path)} {
		for dir := p; ; dir = filepath.Dir(dir) {
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

// resolveLinks resolves the links in the existing part of a path; a dangling link resolves to where the file would be
// created.
func resolveLinks(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(folder, filepath.Base(path))
	}
	return path
}

// isFolder reports whether a path ends like a folder or is one.
func isFolder(path, abs string) bool {
	if strings.HasSuffix(path, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(abs)
	return err == nil && info.IsDir()
}
