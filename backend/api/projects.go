package api

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// Projects manages projects: folders of sessions with instructions, defaults, pinned facts and files.
type Projects struct {
	c       *Core
	uploads uploads
}

// NewProjects returns the service.
func NewProjects(c *Core) *Projects { return &Projects{c: c} }

// Panel returns all projects.
func (s *Projects) Panel() (ProjectsPanel, error) {
	v := ProjectsPanel{Rev: s.c.Hub.Rev()}
	all, err := s.c.Projects.Projects(s.c.ctx())
	v.Projects = lists.Map(all, func(p chat.Project) ProjectRow {
		return ProjectRow{ID: string(p.ID), Name: p.Name, Sessions: p.Sessions, Files: p.Files}
	})
	return v, err
}

// Project returns one project.
func (s *Projects) Project(id string) (ProjectView, error) {
	return s.view(func(ctx context.Context) (chat.Project, error) { return s.c.Projects.Project(ctx, chat.ProjectID(id)) })
}

func (s *Projects) view(do func(context.Context) (chat.Project, error)) (ProjectView, error) {
	p, err := do(s.c.ctx())
	return projectView(p), err
}

func projectView(p chat.Project) ProjectView {
	v := ProjectView{
		ID: string(p.ID), Name: p.Name, Instructions: p.Instructions, Model: p.Model, ToolsMode: p.ToolsMode, Tools: append([]string{}, p.Tools...),
		Facts: append([]string{}, p.Settings().Facts...), Watch: p.Watch, Sessions: p.Sessions, Files: p.Files,
	}
	if p.Scan != nil {
		scan := scanView(*p.Scan)
		v.Scan = &scan
	}
	return v
}

// maxScanned limits the file names of each kind in the result of a scan.
const maxScanned = 100

func scanView(s chat.ProjectScan) ProjectScanView {
	first := func(names []string) []string { return append([]string{}, names[:min(len(names), maxScanned)]...) }
	v := ProjectScanView{
		At: ms(s.At), Found: s.Found, New: first(s.New), Changed: first(s.Changed), Removed: first(s.Removed),
		NewCount: len(s.New), ChangedCount: len(s.Changed), RemovedCount: len(s.Removed),
		Error: s.Error,
	}
	v.Skipped = lists.Map(slices.Sorted(maps.Keys(s.SkippedBy)), func(reason string) SkippedCount { return SkippedCount{Reason: reason, Count: s.SkippedBy[reason]} })
	v.SkippedFiles = lists.Map(s.Skipped[:min(len(s.Skipped), maxScanned)], func(f chat.SkippedFile) SkippedFileView { return SkippedFileView(f) })
	return v
}

// Create turns the folder with this name into a project; the folder need not exist.
func (s *Projects) Create(name string) (ProjectView, error) {
	return s.view(func(ctx context.Context) (chat.Project, error) {
		return s.c.Projects.CreateProject(ctx, chat.ProjectSettings{Name: name})
	})
}

// Save replaces all settings of a project. A new name renames its folder.
func (s *Projects) Save(v ProjectView) (ProjectView, error) {
	return s.view(func(ctx context.Context) (chat.Project, error) {
		return s.c.Projects.SetProject(ctx, chat.ProjectID(v.ID), chat.ProjectSettings{
			Name: v.Name, Instructions: v.Instructions, Model: v.Model, ToolsMode: v.ToolsMode, Tools: v.Tools, Facts: v.Facts,
		})
	})
}

// maxFiles limits a page of files.
const maxFiles = 500

// Files returns a page of a project's files of one kind (document or watched), by path.
func (s *Projects) Files(id, kind string, offset, limit int) (ProjectFilesPage, error) {
	v := ProjectFilesPage{Files: []ProjectFileView{}}
	all, err := s.c.Projects.ProjectFiles(s.c.ctx(), chat.ProjectID(id))
	if err != nil {
		return v, err
	}
	all = slices.DeleteFunc(all, func(f chat.ProjectFile) bool { return string(f.Kind) != kind })
	v.Total = len(all)
	from := min(max(offset, 0), len(all))
	for _, f := range all[from:min(len(all), from+min(max(limit, 0), maxFiles))] {
		v.Files = append(v.Files, ProjectFileView{
			Path: f.Path, ID: string(f.File), MediaType: f.MediaType, Size: f.Size, Tokens: f.Tokens, Indexed: f.Indexed,
		})
	}
	return v, nil
}

// AddDocument receives a piece of a document; after the last one the document is read and stored, replacing one with
// the same name.
func (s *Projects) AddDocument(id string, part AttachPart) (AttachResult, error) {
	data, err := base64.StdEncoding.DecodeString(part.Data)
	if err != nil {
		s.uploads.drop(part.Upload)
		return AttachResult{}, chat.Errorf(chat.CodeInvalid, "project.add", "%s did not arrive completely; nothing was added.", part.Name).WithHint("add it again")
	}
	upload, complete, err := s.uploads.add(part, data, s.c.newID)
	if err == nil && complete != nil {
		err = s.c.Projects.Add(s.c.ctx(), chat.ProjectID(id), complete.name, complete.data)
	}
	return AttachResult{Upload: upload}, err
}

// CancelDocument discards the received part of a document.
func (s *Projects) CancelDocument(upload string) error {
	s.uploads.drop(upload)
	return nil
}

// RemoveDocuments removes documents from a project, by name: all of them or none.
func (s *Projects) RemoveDocuments(id string, names []string) error {
	return s.c.Projects.Remove(s.c.ctx(), chat.ProjectID(id), names)
}

// Watch sets the watched folder of a project and scans it; an empty folder ends watching.
func (s *Projects) Watch(id, dir string) (ProjectView, error) {
	return s.view(func(ctx context.Context) (chat.Project, error) {
		return s.c.Projects.Watch(ctx, chat.ProjectID(id), dir)
	})
}

// Rescan scans the watched folder now.
func (s *Projects) Rescan(id string) (ProjectScanView, error) {
	scan, err := s.c.Projects.Scan(s.c.ctx(), chat.ProjectID(id))
	return scanView(scan), err
}

// StartSession creates an empty session in a folder, with the defaults of its project if it has one.
func (s *Projects) StartSession(folder string) (SessionRow, error) {
	ctx := s.c.ctx()
	sess, _, err := s.c.Sessions.CreateSession(ctx, chat.NewSession{Folder: folder})
	if err != nil {
		return SessionRow{}, err
	}
	return s.c.row(ctx, sess.ID)
}

// SetScope sets the scope of a session's memory: lineage, session, project or all; empty: determined by its project,
// otherwise the configuration.
func (s *Projects) SetScope(sessionID, scope string) error {
	return s.c.Sessions.ChangeSettings(s.c.ctx(), chat.SessionID(sessionID), func(v *chat.SessionSettings) { v.MemoryScope = chat.Scope(scope) })
}
