package projects

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/documents"
	"contextinfinity/backend/internal/clock"
)

// Store is the part of the database that stores projects.
type Store interface {
	Projects(context.Context) ([]chat.Project, error)
	Project(context.Context, chat.ProjectID) (chat.Project, error)
	CreateProject(context.Context, chat.ProjectSettings) (chat.Project, error)
	SetProject(context.Context, chat.ProjectID, chat.ProjectSettings) (chat.Project, error)
	WatchProject(ctx context.Context, id chat.ProjectID, dir, identity string) (chat.Project, error)
	SetProjectScan(context.Context, chat.ProjectID, chat.ProjectScan) error
	ProjectFiles(context.Context, chat.ProjectID) ([]chat.ProjectFile, error)
	PutProjectFile(context.Context, chat.NewProjectFile) (changed bool, err error)
	DeleteProjectFiles(ctx context.Context, id chat.ProjectID, kind chat.ProjectFileKind, paths []string) error
	SweepProjectFiles(context.Context) error
}

// Deps are the dependencies of a Service.
type Deps struct {
	Store     Store
	Documents documents.Reader
	Count     func(text string) int
	// Protected returns the program's own directories, which are never scanned.
	Protected func() []string
	// Changed is called after a project or its files have changed: background work may be due.
	Changed  func()
	MaxFiles int         // in a watched folder; 0: MaxFiles
	Clock    clock.Clock // nil: the system's
	Log      *slog.Logger
}

// Service manages projects and their files. It is safe for concurrent use.
type Service struct {
	Store
	d  Deps
	mu sync.Mutex // held during a scan
	// rejected has the reasons why files that were read are not indexed.
	rejected map[fileVersion]string
}

// fileVersion identifies a version of a file.
type fileVersion struct {
	project chat.ProjectID
	file    foundFile
}

// New returns a service.
func New(d Deps) *Service {
	d.MaxFiles = cmp.Or(d.MaxFiles, MaxFiles)
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{Store: d.Store, d: d, rejected: map[fileVersion]string{}}
}

// Every is the usual interval between scans of the watched folders.
const Every = time.Minute

// Run scans all watched folders, immediately and then at the interval, until ctx ends.
func (s *Service) Run(ctx context.Context, every time.Duration) {
	if err := s.SweepProjectFiles(ctx); err != nil && ctx.Err() == nil {
		s.d.Log.Warn("earlier versions of files could not be removed", "err", err)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		s.scanAll(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Service) scanAll(ctx context.Context) {
	all, err := s.Projects(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.d.Log.Warn("projects could not be read", "err", err)
		}
		return
	}
	for _, p := range all {
		if p.Watch == "" {
			continue
		}
		if _, err := s.Scan(ctx, p.ID); err != nil && ctx.Err() == nil {
			s.d.Log.Warn("a watched folder could not be scanned", "project", p.ID, "err", err)
		}
	}
}

// CreateProject turns a folder of sessions into a project.
func (s *Service) CreateProject(ctx context.Context, v chat.ProjectSettings) (chat.Project, error) {
	p, err := s.Store.CreateProject(ctx, v)
	if err == nil {
		s.d.Changed()
	}
	return p, err
}

// SetProject replaces all settings of a project.
func (s *Service) SetProject(ctx context.Context, id chat.ProjectID, v chat.ProjectSettings) (chat.Project, error) {
	p, err := s.Store.SetProject(ctx, id, v)
	if err == nil {
		s.d.Changed()
	}
	return p, err
}

// Watch sets the watched folder of a project and scans it. With an empty dir, watching ends.
func (s *Service) Watch(ctx context.Context, id chat.ProjectID, dir string) (chat.Project, error) {
	const op = "project.watch"
	var identity string
	if dir != "" {
		if !filepath.IsAbs(dir) {
			return chat.Project{}, chat.Errorf(chat.CodeInvalid, op, "%q is not a full path; nothing was changed.", dir).WithHint("give the path from the root of the file system")
		}
		dir = filepath.Clean(dir)
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return chat.Project{}, chat.Errorf(chat.CodeInvalid, op, "%s is not a folder; nothing was changed.", dir)
		}
		var root *os.Root
		if err == nil {
			root, identity, err = open(dir, "")
		}
		if err != nil {
			return chat.Project{}, chat.WrapError(chat.CodeInvalid, op, err, "%s cannot be read; nothing was changed.", dir).
				WithHint("choose a folder that exists")
		}
		defer root.Close() // only its identity was read
		for _, own := range s.protected() {
			if rel, err := filepath.Rel(own, resolved(dir)); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				return chat.Project{}, chat.Errorf(chat.CodeInvalid, op, "%s contains this program's own data; nothing was changed.", dir).WithHint("choose another folder")
			}
		}
	}
	s.mu.Lock()
	p, err := s.WatchProject(ctx, id, dir, identity)
	s.mu.Unlock()
	if err != nil {
		return p, err
	}
	s.d.Changed()
	if dir == "" {
		return p, nil
	}
	if _, err := s.Scan(ctx, id); err != nil {
		return p, err
	}
	return s.Project(ctx, id)
}

// Add adds a document to a project, or replaces the document with the same name.
func (s *Service) Add(ctx context.Context, id chat.ProjectID, name string, data []byte) error {
	d, err := s.d.Documents.Read(ctx, name, data)
	if err != nil {
		return err
	}
	n := chat.NewProjectFile{Project: id, Path: d.Name, Kind: chat.ProjectDocument, ModifiedAt: s.d.Clock.Now(), NewFile: d.New("", data, s.d.Count(d.Text))}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, err := s.ProjectFiles(ctx, id)
	if err != nil {
		return err
	}
	if len(stored) >= 2*MaxFiles {
		return chat.Errorf(chat.CodeTooLarge, "project.add", "The project has %d files, the most it can have; %s was not added.", len(stored), d.Name).WithHint("remove some, or make another project")
	}
	if _, err := s.PutProjectFile(ctx, n); err != nil {
		return err
	}
	s.d.Changed()
	return nil
}

// Remove removes documents from a project, by name. If one of them does not exist, none is removed.
func (s *Service) Remove(ctx context.Context, id chat.ProjectID, names []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, err := s.ProjectFiles(ctx, id)
	if err != nil {
		return err
	}
	documents := map[string]bool{}
	for _, f := range stored {
		if f.Kind == chat.ProjectDocument {
			documents[f.Path] = true
		}
	}
	for _, name := range names {
		if !documents[name] {
			return chat.Errorf(chat.CodeNotFound, "project.remove", "The project has no document %q; nothing was removed.", name)
		}
	}
	if err := s.DeleteProjectFiles(ctx, id, chat.ProjectDocument, append([]string{}, names...)); err != nil {
		return err
	}
	s.d.Changed()
	return nil
}

func (s *Service) protected() []string {
	var out []string
	if s.d.Protected != nil {
		for _, dir := range s.d.Protected() {
			if dir != "" {
				out = append(out, resolved(dir))
			}
		}
	}
	return out
}

// resolved returns a path with its links resolved, if it exists.
func resolved(dir string) string {
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		return target
	}
	return filepath.Clean(dir)
}
