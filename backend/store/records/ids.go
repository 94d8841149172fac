package records

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
)

// idTables are the tables of what a person names by its id.
var idTables = map[string]string{
	"session":   "sessions",
	"branch":    "branches",
	"turn":      "turns",
	"state":     "states",
	"step":      "steps",
	"tool call": "tool_calls",
}

// IDs returns the ids of a kind (session, branch, turn, state, step or tool call) that begin or end with part, because
// nobody needs to type all of one; those of one session, unless it is empty.
func (s *Records) IDs(ctx context.Context, kind string, in chat.SessionID, part string) ([]string, error) {
	query := `SELECT id FROM ` + idTables[kind] + ` WHERE ? IN (substr(id, 1, ?), substr(id, ?))`
	args := []any{part, len(part), -len(part)}
	for _, t := range schema.SessionTables {
		if in != "" && t.Name == idTables[kind] {
			query += ` AND ` + t.Where
			args = append(args, in)
		}
	}
	return core.All[string](ctx, s, "id.find", query+` ORDER BY id`, args...)
}
