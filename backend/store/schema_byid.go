package store

import (
	"encoding/hex"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/sqlite"
)

func branchByID(db *gorm.DB, id chat.BranchID) (branchRow, error) {
	return sqlite.One[branchRow](db, "branch", id, `SELECT * FROM branches WHERE id = ?`, id)
}

// sourceDuplicate is the source of a session that is a copy.
const sourceDuplicate = "duplicate"

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func set(ids []string) map[string]bool {
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out
}

func fileByID(db *gorm.DB, id chat.FileID) (fileRow, error) {
	return sqlite.One[fileRow](db, "document", id, `SELECT `+fileColumns+` FROM files WHERE id = ?`, id)
}

// fileText is a document's whole text: what chunks of it are bytes of.
func fileText(db *gorm.DB, id chat.FileID) (string, error) {
	return sqlite.One[string](db, "document", id, `SELECT coalesce(text, CAST(content AS TEXT), '') FROM files WHERE id = ?`, id)
}

func hexHash(b []byte) string { return hex.EncodeToString(codec.Hash(b)) }

// turnColumns is all of a turn but its manifest, which is read on demand.
const turnColumns = `t.id, t.session_id, t.branch_id, t.turn_seq, t.state_before, t.state_after, t.phase, t.outcome,
	t.index_status, t.primary_provider, t.primary_model, t.retry_of, t.created_at, t.updated_at, t.user_hash,
	t.assistant_hash, t.usage_json, t.error_json, t.user_message_json, t.final_assistant_message_json`

func sessionByID(db *gorm.DB, id chat.SessionID) (sessionRow, error) {
	return sqlite.One[sessionRow](db, "session", id, `SELECT * FROM sessions WHERE id = ?`, id)
}

func turnByID(db *gorm.DB, id chat.TurnID) (turnRow, error) {
	return sqlite.One[turnRow](db, "turn", id, `SELECT `+turnColumns+` FROM turns t WHERE t.id = ?`, id)
}

// turnHead reads a turn without its messages: enough to decide about it.
func turnHead(db *gorm.DB, id chat.TurnID) (turnRow, error) {
	return sqlite.One[turnRow](db, "turn", id, `
		SELECT id, coalesce(n, 0) AS n, session_id, branch_id, turn_seq, state_before, state_after, phase, outcome, index_status
		FROM turns WHERE id = ?`, id)
}
