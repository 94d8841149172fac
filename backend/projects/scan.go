package projects

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
)

// minFileAge is the age from which an unchanged modification time proves that a file has not changed since it was
// read. File systems store times in steps of up to two seconds.
const minFileAge = 2 * time.Second

// Scan scans the watched folder of a project, reads new and changed files, and removes deleted files from the index. If
// the folder cannot be read, nothing is changed and the result has the reason.
func (s *Service) Scan(ctx context.Context, id chat.ProjectID) (chat.ProjectScan, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.Project(ctx, id)
	if err != nil {
		return chat.ProjectScan{}, err
	}
	if p.Watch == "" {
		return chat.ProjectScan{}, chat.Errorf(chat.CodeInvalid, "project.scan", "The project %q has no watched folder.", p.Name).WithHint("contextinfinity projects watch sets one")
	}
	scan := chat.ProjectScan{At: s.d.Clock.Now().UTC(), New: []string{}, Changed: []string{}, Removed: []string{}, Skipped: []chat.SkippedFile{}, SkippedBy: map[string]int{}}
	err = s.scanFolder(ctx, p, &scan)
	if err != nil && ctx.Err() == nil && errors.As(err, new(*folderError)) {
		scan.Error, err = err.Error(), nil
	}
	if scan.Differs() {
		s.d.Changed()
	}
	if err != nil {
		return scan, err
	}
	if p.Scan == nil || scan.Differs() || scan.Error != p.Scan.Error || !maps.Equal(scan.SkippedBy, p.Scan.SkippedBy) {
		err = s.SetProjectScan(ctx, id, scan)
	}
	return scan, err
}

// folderError is the reason why a watched folder cannot be scanned.
type folderError struct{ err error }

func (e *folderError) Error() string {
	return "The folder cannot be read, so its index was not changed: " + e.err.Error()
}

func (s *Service) scanFolder(ctx context.Context, p chat.Project, scan *chat.ProjectScan) error {
	root, identity, err := open(p.Watch, p.WatchIdentity)
	if err != nil {
		return &folderError{err}
	}
	defer root.Close()
	if p.WatchIdentity == "" { // watched since before identities were stored
		if _, err := s.WatchProject(ctx, p.ID, p.Watch, identity); err != nil {
			return err
		}
	}
	w := walk{root: root, own: s.ownDirsIn(p.Watch), maxFiles: s.d.MaxFiles, scan: scan}
	if err := w.dir(".", 0); err != nil {
		return &folderError{err}
	}
	stored, err := s.ProjectFiles(ctx, p.ID)
	if err != nil {
		return err
	}
	before := map[string]chat.ProjectFile{}
	for _, f := range stored {
		if f.Kind == chat.ProjectWatched {
			before[f.Path] = f
		}
	}
	for _, f := range w.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.file(ctx, p.ID, &w, f, before); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) { // the files left in before were not found
		if !w.inUnread(name) {
			scan.Removed = append(scan.Removed, name)
		}
	}
	if len(scan.Removed) > 0 {
		return s.DeleteProjectFiles(ctx, p.ID, chat.ProjectWatched, scan.Removed)
	}
	return nil
}

// inUnread reports whether a file is in a directory that could not be read this time.
func (w *walk) inUnread(name string) bool {
	return slices.ContainsFunc(w.unread, func(dir string) bool { return dir == "." || name == dir || strings.HasPrefix(name, dir+"/") })
}

// ownDirsIn returns the program's own directories inside a folder, as relative paths.
func (s *Service) ownDirsIn(folder string) []string {
	var out []string
	for _, own := range s.protected() {
		if rel, err := filepath.Rel(resolved(folder), own); err == nil && filepath.IsLocal(rel) {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

// file reads a file if it has changed. A file that stays indexed is removed from before.
func (s *Service) file(ctx context.Context, id chat.ProjectID, w *walk, f foundFile, before map[string]chat.ProjectFile) error {
	old, indexed := before[f.path]
	if indexed && old.Size == f.size && old.ModifiedAt.Equal(f.modified) && old.ReadAt.Sub(f.modified) > minFileAge {
		delete(before, f.path)
		w.scan.Found++
		return nil
	}
	key := fileVersion{id, f}
	if reason, ok := s.rejected[key]; ok && s.d.Clock.Now().Sub(f.modified) > minFileAge {
		w.skip(f.path, reason)
		return nil
	}
	n, reason := s.read(ctx, w.root, f)
	if err := ctx.Err(); err != nil {
		return err
	}
	if reason != "" {
		w.skip(f.path, reason)
		if reason == reasonRead { // the indexed version stays until the file can be read again
			delete(before, f.path)
		} else if len(s.rejected) < maxEntries {
			s.rejected[key] = reason
		}
		return nil
	}
	n.Project, n.Kind, n.Path, n.ModifiedAt = id, chat.ProjectWatched, f.path, f.modified
	changed, err := s.PutProjectFile(ctx, n)
	if err != nil && chat.CodeOf(err) != chat.CodeInvalid {
		return err
	}
	if err != nil { // the text cannot be stored
		w.skip(f.path, reasonText)
		return nil
	}
	delete(before, f.path)
	w.scan.Found++
	switch {
	case changed && indexed:
		w.scan.Changed = append(w.scan.Changed, f.path)
	case changed:
		w.scan.New = append(w.scan.New, f.path)
	}
	return nil
}

// read returns a file's text, or the reason why it is skipped.
func (s *Service) read(ctx context.Context, root *os.Root, f foundFile) (chat.NewProjectFile, string) {
	file, err := root.Open(filepath.FromSlash(f.path))
	if err != nil {
		return chat.NewProjectFile{}, reasonRead
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return chat.NewProjectFile{}, reasonRead
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxFileBytes+1))
	switch {
	case err != nil:
		return chat.NewProjectFile{}, reasonRead
	case len(data) > MaxFileBytes:
		return chat.NewProjectFile{}, reasonLarge
	}
	d, err := s.d.Documents.Read(ctx, f.path, data)
	if err != nil {
		return chat.NewProjectFile{}, reasonText
	}
	return chat.NewProjectFile{NewFile: d.New("", data, s.d.Count(d.Text))}, ""
}
