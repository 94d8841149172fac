package schema

import (
	"encoding/hex"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/sqlite"
)

// BranchByID returns a branch of a conversation; one of a project's file is refused (RefuseFile).
func BranchByID(db *gorm.DB, id chat.BranchID) (BranchRow, error) {
	row, err := BranchOrFile(db, id)
	if err == nil {
		err = RefuseFile(db, row.SessionID)
	}
	return row, err
}

// BranchOrFile returns a branch of a conversation, or that of a project's file.
func BranchOrFile(db *gorm.DB, id chat.BranchID) (BranchRow, error) {
	return sqlite.One[BranchRow](db, "branch", id, `SELECT * FROM branches WHERE id = ?`, id)
}

func Latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func SetOf(ids []string) map[string]bool {
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out
}

func FileByID(db *gorm.DB, id chat.FileID) (FileRow, error) {
	return sqlite.One[FileRow](db, "document", id, `SELECT `+FileColumns+` FROM files WHERE id = ?`, id)
}

// FileText returns a document's complete text: its chunks are byte ranges of it.
func FileText(db *gorm.DB, id chat.FileID) (string, error) {
	return sqlite.One[string](db, "document", id, `SELECT coalesce(text, CAST(content AS TEXT), '') FROM files WHERE id = ?`, id)
}

func HexHash(b []byte) string { return hex.EncodeToString(codec.Hash(b)) }

// TurnColumns are all columns of a turn except its manifest, which is read on demand.
const TurnColumns = `t.id, t.session_id, t.branch_id, t.turn_seq, t.state_before, t.state_after, t.phase, t.outcome,
	t.index_status, t.primary_provider, t.primary_model, t.retry_of, t.created_at, t.updated_at, t.user_hash,
	t.assistant_hash, t.usage_json, t.error_json, t.user_message_json, t.final_assistant_message_json`

// SessionByID returns a conversation; the session of a project's file is refused (RefuseFile).
func SessionByID(db *gorm.DB, id chat.SessionID) (SessionRow, error) {
	row, err := SessionOrFile(db, id)
	if err == nil {
		err = RefuseFile(db, row.ID)
	}
	return row, err
}

// SessionOrFile returns a conversation, or the session that holds a file of a project.
func SessionOrFile(db *gorm.DB, id chat.SessionID) (SessionRow, error) {
	return sqlite.One[SessionRow](db, "session", id, `SELECT * FROM sessions WHERE id = ?`, id)
}

func TurnByID(db *gorm.DB, id chat.TurnID) (TurnRow, error) {
	return sqlite.One[TurnRow](db, "turn", id, `SELECT `+TurnColumns+` FROM turns t WHERE t.id = ?`, id)
}

// TurnHead reads a turn without its messages.
func TurnHead(db *gorm.DB, id chat.TurnID) (TurnRow, error) {
	return sqlite.One[TurnRow](db, "turn", id, `
		SELECT id, coalesce(n, 0) AS n, session_id, branch_id, turn_seq, state_before, state_after, phase, outcome, index_status
		FROM turns WHERE id = ?`, id)
}
