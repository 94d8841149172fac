package exporting

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
)

// Dir is the folder, in the data directory, for files dragged out of the window: a folder per session id, in it a
// folder for each dragged item, and in that the file.
const Dir = atrest.Drags

// A dragged file is copied or read later by the receiving program, so it is kept for this time or until the next
// start (atrest.SweepStart), as long as all such files together do not exceed this size.
const (
	dragAge   = 24 * time.Hour
	dragBytes = 1 << 30
)

// File is a file written for a drag.
type File struct {
	Path string `json:"path"`
	URI  string `json:"uri"` // file:///...
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// DragFile writes the dragged item to a file, or returns the file written before if nothing has changed: a drag must
// not wait.
func (e *Exporter) DragFile(ctx context.Context, r Request) (File, error) {
	if r.Scope == ScopeAll {
		return File{}, chat.Errorf(chat.CodeInvalid, "export.drag", "All sessions cannot be dragged at once; nothing was written.").WithHint("export them to a zip")
	}
	s, err := e.find(ctx, r)
	if err != nil {
		return File{}, err
	}
	last, err := e.Store.LastEvent(ctx, s.session.ID)
	if err != nil {
		return File{}, err
	}
	name := FileName(s.title()) + s.format.Extension()
	folder := filepath.Join(e.DataDir, Dir, string(s.session.ID), s.key(last))
	path := filepath.Join(folder, name)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && !s.running {
		return file(path, name, info.Size()), nil
	}
	if err := faultfs.MkdirAll(faultfs.Export, folder, 0o700); err != nil {
		return File{}, writeError(path, err)
	}
	size, err := save(ctx, e.DataDir, path, true, func(w io.Writer) error { return e.write(ctx, s, w, &counter{}) })
	if err != nil {
		return File{}, err
	}
	e.prune(folder)
	return file(path, name, size), nil
}

// key identifies a dragged item in its current state.
func (s selection) key(last int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s %s %t %d %s", s.scope, s.format, s.branch.ID, s.turn.ID, s.all, last, s.branch.UpdatedAt))
	return hex.EncodeToString(sum[:8])
}

func file(path, name string, size int64) File {
	slashed := filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	return File{Path: path, URI: (&url.URL{Scheme: "file", Path: slashed}).String(), Name: name, Size: size}
}

// dragged is the folder of one dragged item.
type dragged struct {
	folder string
	at     time.Time
	bytes  int64
}

// prune removes old files, and the oldest ones beyond the size limit, but never keep.
func (e *Exporter) prune(keep string) {
	all := drags(e.DataDir)
	slices.SortFunc(all, func(a, b dragged) int { return b.at.Compare(a.at) })
	var sum int64
	for _, d := range all {
		sum += d.bytes
		if d.folder != keep && (e.Now().Sub(d.at) > dragAge || sum > dragBytes) {
			atrest.RemoveTree(faultfs.Export, d.folder)
			_ = faultfs.Remove(faultfs.Export, filepath.Dir(d.folder)) // only if it is empty
		}
	}
}

// drags lists the dragged items.
func drags(dataDir string) []dragged {
	var out []dragged
	folders, _ := filepath.Glob(filepath.Join(dataDir, Dir, "*", "*"))
	for _, folder := range folders {
		d := dragged{folder: folder}
		files, _ := os.ReadDir(folder)
		for _, f := range files {
			if info, err := f.Info(); err == nil {
				d.bytes += info.Size()
				if info.ModTime().After(d.at) {
					d.at = info.ModTime()
				}
			}
		}
		out = append(out, d)
	}
	return out
}
