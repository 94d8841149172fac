package records

import (
	"context"
	"encoding/hex"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/queue"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// A file of a project is the document of a single turn in a session of its own, so that chunks, the text index,
// vectors, the ledger, verification and permanent deletion work as for any document. These sessions are archived from
// the beginning and not listed.

type projectFileRow struct {
	ProjectID  string
	Kind       string
	Path       string
	SessionID  string
	ModifiedAt string
	ReadAt     string
	FileID     string
	MediaType  string
	Size       int64
	Tokens     int
	Hash       []byte
	Indexed    bool
}

func (r projectFileRow) file() chat.ProjectFile {
	return chat.ProjectFile{
		Path: r.Path, Kind: chat.ProjectFileKind(r.Kind), File: chat.FileID(r.FileID), Session: chat.SessionID(r.SessionID), MediaType: r.MediaType,
		Size: r.Size, Tokens: r.Tokens, Hash: hex.EncodeToString(r.Hash), ModifiedAt: schema.ParseTime(r.ModifiedAt), ReadAt: schema.ParseTime(r.ReadAt), Indexed: r.Indexed,
	}
}

// ProjectFiles returns the files of a project: its documents, then those of the watched folder, by path.
func (s *Records) ProjectFiles(ctx context.Context, id chat.ProjectID) ([]chat.ProjectFile, error) {
	return core.Query(ctx, s, "project.files", func(db *gorm.DB) ([]chat.ProjectFile, error) {
		if _, err := ProjectByID(db, id); err != nil {
			return nil, err
		}
		rows, err := sqlite.All[projectFileRow](db, `SELECT p.*, f.id AS file_id, f.media_type, f.size, f.tokens, f.content_hash AS hash,
			  EXISTS (SELECT 1 FROM turns t WHERE t.id = f.turn_id AND t.phase = 'Done') AS indexed
			FROM project_files p JOIN files f ON f.session_id = p.session_id WHERE p.project_id = ? AND p.current = 1 ORDER BY p.kind, p.path`, id)
		return lists.Map(rows, projectFileRow.file), err
	})
}

// PutProjectFile adds a file to a project, replacing the one with this kind and path. If the content is the same,
// only its time is updated, and changed is false.
func (s *Records) PutProjectFile(ctx context.Context, n chat.NewProjectFile) (changed bool, err error) {
	err = s.Write(ctx, "project.file", func(t *core.Tx) error {
		if err := checkFile(n.NewFile); err != nil {
			return err
		}
		if _, err := ProjectByID(t.DB, n.Project); err != nil {
			return err
		}
		sum := codec.Hash(n.Content)
		same, err := sqlite.All[string](t.DB, `SELECT p.session_id FROM project_files p JOIN files f ON f.session_id = p.session_id
			WHERE p.project_id = ? AND p.kind = ? AND p.path = ? AND p.current = 1 AND f.content_hash = ?`, n.Project, n.Kind, n.Path, sum)
		if err != nil {
			return err
		}
		if len(same) > 0 {
			return t.Run(`UPDATE project_files SET modified_at = ? WHERE project_id = ? AND kind = ? AND path = ? AND current = 1`,
				chat.FormatTime(n.ModifiedAt), n.Project, n.Kind, n.Path)
		}
		changed = true
		if err := dropProjectFiles(t, n.Project, n.Kind, []string{n.Path}); err != nil {
			return err
		}
		session, err := s.createFileSession(t, n, sum)
		if err != nil {
			return err
		}
		return t.Run(`INSERT INTO project_files (project_id, kind, path, session_id, current, modified_at, read_at) VALUES (?, ?, ?, ?, 1, ?, ?)`,
			n.Project, n.Kind, n.Path, session, chat.FormatTime(n.ModifiedAt), t.Stamp())
	})
	return changed, err
}

// fileAnswer is stored as the answer of a turn with a file, for which no model is called.
const fileAnswer = "Kept."

// createFileSession creates the session of a file, with its turn committed and queued for the index.
func (s *Records) createFileSession(t *core.Tx, n chat.NewProjectFile, sum []byte) (string, error) {
	t.Commits = true
	session, branch, err := CreateSession(t, chat.NewSession{Title: chat.BoundTitle(n.Path), Source: chat.SourceFiles})
	if err != nil {
		return "", err
	}
	id := chat.SessionID(session.ID)
	if err := events.Record(t, id, ledger.EventSessionArchived, session.ID, ledger.FlagChanged{On: true}); err != nil {
		return "", err
	}
	file := chat.FileID(t.NewID())
	if err := events.InsertFile(t, schema.FileRow{
		ID: string(file), SessionID: session.ID, Name: schema.Clean(n.Path), MediaType: schema.Clean(n.MediaType),
		Size: int64(len(n.Content)), CreatedAt: t.Stamp(), ContentHash: sum, Tokens: n.Tokens,
	}, n.Content, n.Text); err != nil {
		return "", err
	}
	message := chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{chat.Document{File: file, Name: schema.Clean(n.Path), MediaType: schema.Clean(n.MediaType), Tokens: n.Tokens}}}
	row, err := Accept(s.Core, t, chat.Acceptance{BranchID: chat.BranchID(branch.ID), User: message, Provider: chat.ProviderFiles})
	if err != nil {
		return "", err
	}
	turn := chat.TurnID(row.ID)
	if err := FinalizeUnsent(t, row, chat.Finalization{
		TurnID: turn, Message: chat.AssistantText(fileAnswer), Outcome: chat.OutcomeCompleted,
	}); err != nil {
		return "", err
	}
	_, err = Commit(t, chat.Commit{BranchID: chat.BranchID(branch.ID), Epoch: branch.Epoch, Turns: []chat.TurnID{turn}, Summary: "Artifacts: " + schema.Clean(n.Path), Origin: chat.StateFallback})
	if err != nil {
		return "", err
	}
	err = t.Run(`UPDATE jobs SET priority = ? WHERE job_key = ?`, queue.PriorityImported, queue.JobKey(chat.JobIndexTurn, row.ID))
	return session.ID, err
}

// DeleteProjectFiles removes files of a kind from a project; paths nil: all of the kind.
func (s *Records) DeleteProjectFiles(ctx context.Context, id chat.ProjectID, kind chat.ProjectFileKind, paths []string) error {
	return s.Write(ctx, "project.drop", func(t *core.Tx) error { return dropProjectFiles(t, id, kind, paths) })
}

// dropProjectFiles removes files from a project. A file that no context quotes is deleted; one that is quoted is kept
// for that context only, and search no longer finds it.
func dropProjectFiles(t *core.Tx, id chat.ProjectID, kind chat.ProjectFileKind, paths []string) error {
	list, err := chat.MarshalJSON(paths)
	if err != nil {
		return err
	}
	dropped, err := sqlite.All[string](t.DB, `SELECT session_id FROM project_files WHERE project_id = ? AND kind = ? AND current = 1
		AND (? OR path IN (SELECT value FROM json_each(?)))`, id, kind, paths == nil, string(list))
	if err != nil {
		return err
	}
	for _, session := range dropped {
		if err := t.Run(`UPDATE project_files SET current = 0 WHERE session_id = ?`, session); err != nil {
			return err
		}
	}
	if len(dropped) == 0 {
		return nil
	}
	return sweepProjectFiles(t, dropped)
}

// SweepProjectFiles deletes earlier versions of files that no context quotes any more.
func (s *Records) SweepProjectFiles(ctx context.Context) error {
	return s.Write(ctx, "project.sweep", func(t *core.Tx) error {
		all, err := sqlite.All[string](t.DB, `SELECT id FROM sessions WHERE source = 'files'`)
		if err != nil || len(all) == 0 {
			return err
		}
		return sweepProjectFiles(t, all)
	})
}

// sweepProjectFiles deletes sessions of files that are not current and that no context quotes. Files that are being
// indexed are left to a later call. A session with another turn than its file's is never deleted here; verify names it.
func sweepProjectFiles(t *core.Tx, sessions []string) error {
	list, err := chat.MarshalJSON(sessions)
	if err != nil {
		return err
	}
	unused, err := sqlite.All[string](t.DB, `SELECT s.id FROM json_each(?) x CROSS JOIN sessions s ON s.id = x.value WHERE s.source = 'files' AND NOT EXISTS (SELECT 1 FROM project_files p WHERE p.session_id = s.id AND p.current = 1)
		AND NOT EXISTS (SELECT 1 FROM chunks c JOIN retrieved r ON r.chunk_n = c.n WHERE c.session_id = s.id)
		AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.session_id = s.id AND t.primary_provider <> 'files')
		AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.session_id = s.id AND j.state = 'running') ORDER BY s.id`, string(list))
	if err != nil || len(unused) == 0 {
		return err
	}
	if err := t.Run(`PRAGMA defer_foreign_keys = ON`); err != nil {
		return err
	}
	for _, id := range unused {
		for _, table := range slices.Backward(schema.SessionTables) {
			if err := t.Run(`DELETE FROM `+table.Name+` WHERE `+table.Where, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// ProjectScope restricts memory to a session's project: the project's sessions, and the sessions of its files.
type ProjectScope struct {
	Sessions, Files []chat.SessionID
}

// ProjectSessions returns the unarchived sessions of a session's project, and those of its files; both empty: it has no
// project.
func (s *Records) ProjectSessions(ctx context.Context, session chat.SessionID) (sessions, files []chat.SessionID, err error) {
	err = s.Read(ctx, "project.reach", func(db *gorm.DB) error {
		p, err := ProjectScopeOf(db, session)
		sessions, files = p.Sessions, p.Files
		return err
	})
	return sessions, files, err
}

// ProjectScopeOf returns the scope of a session's project; without a project it is empty.
func ProjectScopeOf(db *gorm.DB, session chat.SessionID) (out ProjectScope, err error) {
	out.Sessions, err = sqlite.All[chat.SessionID](db, `SELECT s.id FROM sessions h JOIN projects p ON p.name = h.folder
		JOIN sessions s ON s.folder = p.name AND s.folder <> '' AND s.archived_at IS NULL WHERE h.id = ? ORDER BY s.id`, session)
	if err != nil {
		return out, err
	}
	out.Files, err = sqlite.All[chat.SessionID](db, `SELECT f.session_id FROM sessions h JOIN projects p ON p.name = h.folder
		JOIN project_files f ON f.project_id = p.id AND f.current = 1 WHERE h.id = ? ORDER BY f.session_id`, session)
	return out, err
}
