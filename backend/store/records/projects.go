package records

import (
	"context"
	"encoding/json"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

type projectRow struct {
	ID        string
	Name      string
	CreatedAt string
	UpdatedAt string
	Model     string
	ToolsMode string
	ToolsJSON string
	Watch     string
	// WatchIdentity identifies the watched folder, whatever its path leads to later.
	WatchIdentity string
	ScanJSON      string
	Instructions  string
	Sessions      int
	Files         int
}

type factRow struct {
	ID        string
	ProjectID string
	Position  int
	Text      string
}

// projectColumns are a project's columns and counts.
const projectColumns = `p.*,
	(SELECT count(*) FROM sessions s WHERE s.folder = p.name AND s.folder <> '' AND s.archived_at IS NULL) AS sessions,
	(SELECT count(*) FROM project_files f WHERE f.project_id = p.id AND f.current = 1) AS files`

func (r projectRow) project() (chat.Project, error) {
	p := chat.Project{
		ID: chat.ProjectID(r.ID), Name: r.Name, Instructions: r.Instructions, Model: r.Model, ToolsMode: r.ToolsMode,
		Watch: r.Watch, WatchIdentity: r.WatchIdentity,
		Tools: []string{}, Facts: []chat.ProjectFact{}, Sessions: r.Sessions, Files: r.Files, CreatedAt: schema.ParseTime(r.CreatedAt), UpdatedAt: schema.ParseTime(r.UpdatedAt),
	}
	if err := json.Unmarshal([]byte(r.ToolsJSON), &p.Tools); err != nil {
		return p, sqlite.CorruptRecord("projects", r.ID, err)
	}
	if r.ScanJSON == "" {
		return p, nil
	}
	p.Scan = &chat.ProjectScan{}
	if err := json.Unmarshal([]byte(r.ScanJSON), p.Scan); err != nil {
		return p, sqlite.CorruptRecord("projects", r.ID, err)
	}
	return p, nil
}

// Projects returns all projects, by name.
func (s *Records) Projects(ctx context.Context) ([]chat.Project, error) {
	return core.Query(ctx, s, "project.list", func(db *gorm.DB) ([]chat.Project, error) { return projects(db, `1 = 1`) })
}

// Project returns one project.
func (s *Records) Project(ctx context.Context, id chat.ProjectID) (chat.Project, error) {
	return core.Query(ctx, s, "project.read", func(db *gorm.DB) (chat.Project, error) { return ProjectByID(db, id) })
}

// ProjectIn returns the project of the named folder; false: it is a plain folder.
func (s *Records) ProjectIn(ctx context.Context, folder string) (chat.Project, bool, error) {
	if folder == "" {
		return chat.Project{}, false, nil
	}
	found, err := core.Query(ctx, s, "project.read", func(db *gorm.DB) ([]chat.Project, error) { return projects(db, `p.name = ?`, folder) })
	if err != nil || len(found) == 0 {
		return chat.Project{}, false, err
	}
	return found[0], true, nil
}

func ProjectByID(db *gorm.DB, id chat.ProjectID) (chat.Project, error) {
	found, err := projects(db, `p.id = ?`, id)
	if err == nil && len(found) == 0 {
		err = chat.Errorf(chat.CodeNotFound, "", "There is no project %s.", id).WithHint("contextinfinity projects lists them")
	}
	if err != nil {
		return chat.Project{}, err
	}
	return found[0], nil
}

func projects(db *gorm.DB, where string, args ...any) ([]chat.Project, error) {
	rows, err := sqlite.All[projectRow](db, `SELECT `+projectColumns+` FROM projects p WHERE `+where+` ORDER BY p.name, p.id`, args...)
	if err != nil {
		return nil, err
	}
	out := make([]chat.Project, len(rows))
	for i, r := range rows {
		if out[i], err = r.project(); err != nil {
			return nil, err
		}
		facts, err := sqlite.All[factRow](db, `SELECT * FROM project_facts WHERE project_id = ? ORDER BY position, id`, r.ID)
		if err != nil {
			return nil, err
		}
		for _, f := range facts {
			out[i].Facts = append(out[i].Facts, chat.ProjectFact{ID: chat.PinID(f.ID), Text: f.Text})
		}
	}
	return out, nil
}

// CreateProject makes a folder a project. The folder need not exist.
func (s *Records) CreateProject(ctx context.Context, v chat.ProjectSettings) (chat.Project, error) {
	v, err := v.Checked()
	if err != nil {
		return chat.Project{}, err
	}
	return core.Change(ctx, s.Core, "project.create", func(t *core.Tx) (zero chat.Project, err error) {
		n, err := sqlite.One[int](t.DB, "projects", "", `SELECT count(*) FROM projects`)
		if err != nil {
			return zero, err
		}
		if n >= chat.MaxProjects {
			return zero, chat.Errorf(chat.CodeTooLarge, "", "There are %d projects, and no more can be created.", n).WithHint("delete one: contextinfinity projects delete")
		}
		if err := refuseProjectName(t, v.Name); err != nil {
			return zero, err
		}
		id := chat.ProjectID(t.NewID())
		if err := t.Run(`INSERT INTO projects (id, name, created_at, updated_at) VALUES (?, ?, ?, ?)`, id, v.Name, t.Stamp(), t.Stamp()); err != nil {
			return zero, err
		}
		if err := putProject(t, chat.Project{ID: id, Name: v.Name}, v); err != nil {
			return zero, err
		}
		return ProjectByID(t.DB, id)
	})
}

// SetProject replaces all settings of a project. A new name also renames its folder.
func (s *Records) SetProject(ctx context.Context, id chat.ProjectID, v chat.ProjectSettings) (chat.Project, error) {
	v, err := v.Checked()
	if err != nil {
		return chat.Project{}, err
	}
	var out chat.Project
	err = s.Write(ctx, "project.set", func(t *core.Tx) error {
		old, err := ProjectByID(t.DB, id)
		if err != nil {
			return err
		}
		if v.Name != old.Name {
			if err := renameFolder(t, old.Name, v.Name); err != nil {
				return err
			}
		}
		if err := putProject(t, old, v); err != nil {
			return err
		}
		out, err = ProjectByID(t.DB, id)
		return err
	})
	return out, err
}

// putProject writes the settings of an existing project. An existing fact keeps its id.
func putProject(t *core.Tx, old chat.Project, v chat.ProjectSettings) error {
	tools, err := chat.MarshalJSON(append([]string{}, v.Tools...))
	if err != nil {
		return err
	}
	if err := t.Run(`UPDATE projects SET name = ?, instructions = ?, model = ?, tools_mode = ?, tools_json = ?, updated_at = ? WHERE id = ?`,
		v.Name, schema.Clean(v.Instructions), schema.Clean(v.Model), v.ToolsMode, string(tools), t.Stamp(), old.ID); err != nil {
		return err
	}
	ids := map[string]chat.PinID{}
	for _, f := range old.Facts {
		ids[f.Text] = f.ID
	}
	if err := t.Run(`DELETE FROM project_facts WHERE project_id = ?`, old.ID); err != nil {
		return err
	}
	for i, text := range v.Facts {
		text = schema.Clean(text)
		id := ids[text]
		if id == "" {
			id = chat.PinID(t.NewID())
		}
		if err := t.Run(`INSERT INTO project_facts (id, project_id, position, text) VALUES (?, ?, ?, ?)`, id, old.ID, i, text); err != nil {
			return err
		}
	}
	return nil
}

// refuseProjectName refuses a name that another project has.
func refuseProjectName(t *core.Tx, name string) error {
	existing, err := sqlite.All[string](t.DB, `SELECT id FROM projects WHERE name = ?`, name)
	if err == nil && len(existing) > 0 {
		err = sqlite.Conflict("There is already a project %q; nothing was changed.", name).WithHint("choose another name")
	}
	return err
}

// placeInFolder puts a new session into a folder, with the model of its project unless it has its own.
func placeInFolder(t *core.Tx, session schema.SessionRow, folder string) error {
	id := chat.SessionID(session.ID)
	if err := SetSession(t, id, ledger.EventSessionFolder, ledger.TextChanged{Text: folder}); err != nil {
		return err
	}
	model, err := sqlite.All[string](t.DB, `SELECT model FROM projects WHERE name = ? AND model <> ''`, folder)
	if err != nil || len(model) == 0 || session.Model != "" {
		return err
	}
	return SetSession(t, id, ledger.EventSessionModel, ledger.TextChanged{Text: model[0]})
}

// RenameFolder renames a folder with its content, and its project if it has one.
func (s *Records) RenameFolder(ctx context.Context, from, to string) error {
	to, err := chat.FolderName(to)
	if err != nil {
		return err
	}
	return s.Write(ctx, "folder.rename", func(t *core.Tx) error { return renameFolder(t, from, to) })
}

func renameFolder(t *core.Tx, from, to string) error {
	if from == to || from == "" {
		return nil
	}
	if to == "" {
		return sqlite.Invalid("A folder must have a name; nothing was changed.")
	}
	if err := refuseProjectName(t, to); err != nil {
		return err
	}
	sessions, err := sqlite.All[chat.SessionID](t.DB, `SELECT id FROM sessions WHERE folder = ? ORDER BY id`, from)
	if err != nil {
		return err
	}
	for _, id := range sessions {
		if err := SetSession(t, id, ledger.EventSessionFolder, ledger.TextChanged{Text: to}); err != nil {
			return err
		}
	}
	if err := t.Run(`UPDATE OR REPLACE mcp_grants SET folder = ? WHERE folder = ?`, to, from); err != nil {
		return err
	}
	return t.Run(`UPDATE projects SET name = ?, updated_at = ? WHERE name = ?`, to, t.Stamp(), from)
}

// WatchProject sets the folder whose files belong to a project, and its identity; empty: none. Files of the previous
// folder are removed from the project.
func (s *Records) WatchProject(ctx context.Context, id chat.ProjectID, dir, identity string) (chat.Project, error) {
	var out chat.Project
	err := s.Write(ctx, "project.watch", func(t *core.Tx) error {
		old, err := ProjectByID(t.DB, id)
		if err != nil {
			return err
		}
		if old.Watch != dir {
			if err := dropProjectFiles(t, id, chat.ProjectWatched, nil); err != nil {
				return err
			}
			if err := t.Run(`UPDATE projects SET watch = ?, scan_json = '', updated_at = ? WHERE id = ?`, dir, t.Stamp(), id); err != nil {
				return err
			}
		}
		if err := t.Run(`UPDATE projects SET watch_identity = ? WHERE id = ?`, identity, id); err != nil {
			return err
		}
		out, err = ProjectByID(t.DB, id)
		return err
	})
	return out, err
}

// SetProjectScan stores the result of scanning the watched folder.
func (s *Records) SetProjectScan(ctx context.Context, id chat.ProjectID, scan chat.ProjectScan) error {
	raw, err := chat.MarshalJSON(scan)
	if err != nil {
		return err
	}
	return s.Write(ctx, "project.scan", func(t *core.Tx) error {
		return t.Run(`UPDATE projects SET scan_json = ? WHERE id = ?`, string(raw), id)
	})
}
