package exporting

import (
	"os"
	"path/filepath"
	"strings"

	"contextinfinity/backend/chat"
)

// keepOut refuses a path in the data directory: what is there belongs to the database,
// its journals and its backups, and one of them would be replaced.
func (e *Exporter) keepOut(path string) error {
	data, err := os.Stat(e.DataDir)
	if err != nil {
		return nil // there is nothing to be replaced
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

// real is a path with what of it is there freed of links; a link that leads nowhere
// leads to where a file would be made.
func real(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	if to, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(to, filepath.Base(path))
	}
	return path
}

// isFolder reports a path that says, or is, a folder.
func isFolder(path, abs string) bool {
	if strings.HasSuffix(path, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(abs)
	return err == nil && info.IsDir()
}
