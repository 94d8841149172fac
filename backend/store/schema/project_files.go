package schema

import (
	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// A file of a project is stored in a separate session, which is not a conversation: it is not listed, and its ids are
// refused in calls from outside. Code that reads or writes conversations uses SessionByID, BranchByID or core.Segments,
// which refuse it. Indexing, verification and views of passages use the functions named OrFile.

// Conversations is the condition that sessions s are conversations.
const Conversations = `s.source <> '` + chat.SourceFiles + `'`

// RefuseFile returns CodeInvalid, naming file and project, if a session holds a file of a project.
func RefuseFile(db *gorm.DB, session string) error {
	held, err := sqlite.All[struct{ Title, Project string }](db, `SELECT s.title, coalesce(p.name, '') AS project FROM sessions s
		LEFT JOIN project_files f ON f.session_id = s.id LEFT JOIN projects p ON p.id = f.project_id WHERE s.id = ? AND s.source = 'files'`, session)
	if err != nil || len(held) == 0 {
		return err
	}
	return sqlite.Invalid("%s is %q, a file of the project %q, and not a session; nothing was changed.", session, held[0].Title, held[0].Project).
		WithHint("contextinfinity projects shows and changes projects and their files")
}
