package importing

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/transfer"
)

// Limits for a folder.
const (
	MaxFiles   = 50_000  // exports, by name
	maxEntries = 500_000 // all entries
	maxDepth   = 16
)

// extensions lists the extensions of files that may be exports.
var extensions = []string{".json", ".jsonl", ".ndjson", ".zip", ".cinf", ".zst", seal.Extension}

// foundFile is a file of a folder.
type foundFile struct {
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
			WithHint("only files that end in %s are read", strings.Join(extensions, ", "))
	}
	for _, f := range files {
		r.total += f.size
	}
	for _, f := range afterTheirParents(files) {
		r.name = f.name
		if err := r.folderFile(f); err != nil {
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

// resolved returns the target if the folder is a link, which WalkDir does not follow.
func resolved(root string) string {
	if target, err := filepath.EvalSymlinks(root); err == nil {
		return target
	}
	return root
}

// folderFile imports a file of a folder. An error of the file is reported, and the next file is read.
func (r *run) folderFile(f foundFile) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	err := r.file(f.path)
	var coded *chat.Error
	switch {
	case err == nil:
		r.report.Files++
	case r.ctx.Err() != nil || r.fault != nil || !concernsOne(err):
		return err
	case errors.As(err, &coded) && coded.Op == "import.detect":
		r.notice(transfer.Notice{Text: noticeNoExport, Count: 1})
	default:
		r.skip(transfer.SkippedRow{Reason: chat.AsError(err).Said().Packed()})
	}
	return nil
}

// walk finds the files that may be exports.
func (r *run) walk(root string) ([]foundFile, error) {
	if filepath.Dir(root) == root {
		return nil, chat.Errorf(chat.CodeInvalid, op, "%s is a whole file system; nothing was imported.", root).
			WithHint("choose the folder that contains the exports")
	}
	var files []foundFile
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
		case d.Type().IsRegular() && slices.Contains(extensions, strings.ToLower(filepath.Ext(path))):
			if len(files) == MaxFiles {
				return tooMany(root)
			}
			info, err := d.Info()
			if err != nil { // deleted in the meantime
				return nil
			}
			files = append(files, foundFile{path, filepath.ToSlash(name), info.Size()})
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

// afterTheirParents sorts the sessions of Codex that continue another one after it, so that what they repeat is known.
func afterTheirParents(files []foundFile) []foundFile {
	sorted := make([]foundFile, 0, len(files))
	for _, i := range transfer.ForkOrder(len(files), func(i int) (id, parent string) { return forkOf(files[i]) }) {
		sorted = append(sorted, files[i])
	}
	return sorted
}

func forkOf(file foundFile) (id, parent string) {
	if !strings.HasPrefix(filepath.Base(file.path), "rollout-") {
		return "", ""
	}
	f, size, err := open(file.path)
	if err != nil {
		return "", "" // reported when it is read
	}
	defer func() { _ = f.Close() }()
	return transfer.ForkOf(transfer.Input{Name: file.path, Size: size, Data: f})
}
