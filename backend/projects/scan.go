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

// settled is how long before reading a file must have been modified for its time to prove that it has not changed
// since. File systems store times in steps of up to two seconds.
const settled = 2 * time.Second

// Scan scans the watched folder of a project, reads new and changed files, and removes files that are gone. If the
// folder cannot be read, nothing is changed and the result has the reason.
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
	err = s.look(ctx, p, &scan)
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

func (s *Service) look(ctx context.Context, p chat.Project, scan *chat.ProjectScan) error {
	root, err := os.OpenRoot(p.Watch)
	if err != nil {
		return &folderError{err}
	}
	defer root.Close()
	w := walk{root: root, own: s.ownBelow(p.Watch), most: s.d.MaxFiles, scan: scan}
	if err := w.dir(".", 0); err != nil {
		return &folderError{err}
	}
	held, err := s.ProjectFiles(ctx, p.ID)
	if err != nil {
		return err
	}
	before := map[string]chat.ProjectFile{}
	for _, f := range held {
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
		if !w.unknown(name) {
			scan.Removed = append(scan.Removed, name)
		}
	}
	if len(scan.Removed) > 0 {
		return s.DropProjectFiles(ctx, p.ID, chat.ProjectWatched, scan.Removed)
	}
	return nil
}

// unknown reports whether a file is in a directory that could not be read this time.
func (w *walk) unknown(name string) bool {
	return slices.ContainsFunc(w.unread, func(dir string) bool { return dir == "." || name == dir || strings.HasPrefix(name, dir+"/") })
}

// ownBelow returns the program's own directories inside a folder, as relative paths.
func (s *Service) ownBelow(folder string) []string {
	var out []string
	for _, own := range s.protected() {
		if rel, err := filepath.Rel(resolved(folder), own); err == nil && filepath.IsLocal(rel) {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

// file reads a file if it has changed. It removes the file from before unless the file must not stay indexed.
func (s *Service) file(ctx context.Context, id chat.ProjectID, w *walk, f found, before map[string]chat.ProjectFile) error {
	old, known := before[f.path]
	if known && old.Size == f.size && old.ModifiedAt.Equal(f.modified) && old.ReadAt.Sub(f.modified) > settled {
		delete(before, f.path)
		w.scan.Found++
		return nil
	}
	key := refusedFile{id, f}
	if why, ok := s.refused[key]; ok && s.d.Clock.Now().Sub(f.modified) > settled {
		w.skip(f.path, why)
		return nil
	}
	n, why := s.read(ctx, w.root, f)
	if err := ctx.Err(); err != nil {
		return err
	}
	if why != "" {
		w.skip(f.path, why)
		if why == whyRead { // keeps the indexed version until it can be read again
			delete(before, f.path)
		} else if len(s.refused) < maxEntries {
			s.refused[key] = why
		}
		return nil
	}
	n.Project, n.Kind, n.Path, n.ModifiedAt = id, chat.ProjectWatched, f.path, f.modified
	made, err := s.PutProjectFile(ctx, n)
	if err != nil && chat.CodeOf(err) != chat.CodeInvalid {
		return err
	}
	if err != nil { // a text that cannot be stored
		w.skip(f.path, whyText)
		return nil
	}
	delete(before, f.path)
	w.scan.Found++
	switch {
	case made && known:
		w.scan.Changed = append(w.scan.Changed, f.path)
	case made:
		w.scan.New = append(w.scan.New, f.path)
	}
	return nil
}

// read returns a file's text, or the reason why it is skipped.
func (s *Service) read(ctx context.Context, root *os.Root, f found) (chat.NewProjectFile, string) {
	file, err := root.Open(filepath.FromSlash(f.path))
	if err != nil {
		return chat.NewProjectFile{}, whyRead
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return chat.NewProjectFile{}, whyRead
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxFileBytes+1))
	switch {
	case err != nil:
		return chat.NewProjectFile{}, whyRead
	case len(data) > MaxFileBytes:
		return chat.NewProjectFile{}, whyLarge
	}
	d, err := s.d.Documents.Read(ctx, f.path, data)
	if err != nil {
		return chat.NewProjectFile{}, whyText
	}
	return chat.NewProjectFile{NewFile: d.New("", data, s.d.Count(d.Text))}, ""
}
