package deletion

import (
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// ofProject are the sessions of a project's files, including earlier versions.
const ofProject = `IN (SELECT session_id FROM project_files WHERE project_id = ?)`

// project deletes a project with its files, and removes these from the contexts of its sessions. The sessions stay in
// a plain folder and keep their conversations.
func (e *Operation) project() error {
	id := e.subject.Subject
	others, err := sqlite.All[quotingTurn](e.DB, `SELECT DISTINCT t.id, t.n, t.session_id FROM chunks c JOIN retrieved r ON r.chunk_n = c.n
		JOIN turns t ON t.n = r.turn_n WHERE c.session_id `+ofProject+` ORDER BY t.n`, id)
	if err != nil {
		return err
	}
	turns, err := sqlite.All[string](e.DB, `SELECT id FROM turns WHERE session_id `+ofProject, id)
	if err != nil {
		return err
	}
	if err := e.dropAffected(others, affectedContexts{ids: schema.SetOf(turns), chunks: `c.session_id ` + ofProject, args: []any{id}}); err != nil {
		return err
	}
	sessions, err := sqlite.All[string](e.DB, `SELECT session_id FROM project_files WHERE project_id = ? ORDER BY session_id`, id)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		if err := e.lookedUp(session); err != nil {
			return err
		}
		if err := e.accesses(`session_id = ?`, session); err != nil {
			return err
		}
		if err := e.rowsOf(session); err != nil {
			return err
		}
	}
	if err := e.remove("project_facts", `DELETE FROM project_facts WHERE project_id = ?`, id); err != nil {
		return err
	}
	return e.remove("projects", `DELETE FROM projects WHERE id = ?`, id)
}
