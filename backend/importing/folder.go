package importing

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/transfer"
)

// Limits for a folder.
const (
	MaxFiles   = 50_000  // exports, by name
	maxEntries = 500_000 // all entries
	maxDepth   = 16
)

// endings are the extensions of files that may be exports.
var endings = []string{".json", ".jsonl", ".ndjson", ".zip", ".cinf"}

// found is a file of a folder.
type found struct {
	path, name string // name: relative to the folder
	size       int64
}

// noticeNoExport is for a file that is named like an export but is not one.
const noticeNoExport = "A file in the folder is not an export that can be read; it was skipped."

// folder imports the exports below a folder, in the order of their names. Links are not followed, hidden folders are
// skipped.
func (r *run) folder(root string) error {
	files, err := r.walk(resolved(root))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return chat.Errorf(chat.CodeInvalid, op, "There is no export in the folder %s; nothing was imported.", filepath.Base(root)).
			WithHint("only files that end in %s are read", strings.Join(endings, ", "))
	}
	for _, f := range files {
		r.total += f.size
	}
	for _, f := range files {
		r.name = f.name
		if err := r.one(f); err != nil {
			return err
		}
		r.before += f.size
	}
	r.report.Format = ""
	if r.name = ""; r.report.Files == 0 && r.report.SkippedCount == 0 {
		return chat.Errorf(chat.CodeInvalid, op, "None of the %s in the folder %s is an export that can be read; nothing was imported.",
			display.Count(len(files), "file", "files"), filepath.Base(root))
	}
	return nil
}

// resolved is the target of a linked folder: WalkDir does not follow a link.
func resolved(root string) string {
	if to, err := filepath.EvalSymlinks(root); err == nil {
		return to
	}
	return root
}

// one imports a file of a folder. An error of the file is reported, and the next file is read.
func (r *run) one(f found) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	err := r.file(f.path)
	var known *chat.Error
	switch {
	case err == nil:
		r.report.Files++
	case r.ctx.Err() != nil || r.fault != nil || !itsOwn(err):
		return err
	case errors.As(err, &known) && known.Op == "import.detect":
		r.notice(transfer.Notice{Text: noticeNoExport, Count: 1})
	default:
		r.skip(transfer.SkippedRow{Reason: chat.AsError(err).Message})
	}
	return nil
}

// walk finds the files that may be exports.
func (r *run) walk(root string) ([]found, error) {
	if filepath.Dir(root) == root {
		return nil, chat.Errorf(chat.CodeInvalid, op, "%s is a whole file system; nothing was imported.", root).
			WithHint("choose the folder that contains the exports")
	}
	var files []found
	entries := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		name, relErr := filepath.Rel(root, path)
		if err != nil || relErr != nil {
			if path == root {
				return err
			}
			r.name = filepath.ToSlash(name)
			r.skip(transfer.SkippedRow{Reason: "It cannot be read."})
			return nil
		}
		if entries++; entries > maxEntries {
			return tooMany(root)
		}
		switch {
		case d.IsDir():
			if path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || strings.Count(name, string(filepath.Separator)) >= maxDepth) {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && slices.Contains(endings, strings.ToLower(filepath.Ext(path))):
			if len(files) == MaxFiles {
				return tooMany(root)
			}
			info, err := d.Info()
			if err != nil { // deleted in the meantime
				return nil
			}
			files = append(files, found{path, filepath.ToSlash(name), info.Size()})
		}
		return nil
	})
	r.name = ""
	if err != nil && chat.CodeOf(err) == chat.CodeInternal && r.ctx.Err() == nil {
		err = unreadable(root, err)
	}
	return files, err
}

func tooMany(root string) error {
	return chat.Errorf(chat.CodeInvalid, op, "The folder %s contains too many files; nothing was imported.", filepath.Base(root)).
		WithHint("choose the folder that contains the exports")
}
