package search

import (
	"context"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// LookedUp returns the turns that a turn's model looked up with tools, each once per tool, in the order in which they
// were shown.
func (s *Search) LookedUp(ctx context.Context, turn chat.TurnID) ([]chat.LookedUp, error) {
	var rows []struct {
		Call, Tool, Session, Turn string
		Title                     *string
		TurnSeq                   *int64
	}
	err := s.Read(ctx, "tool.looked_up", func(db *gorm.DB) error {
		return db.Raw(`SELECT c.id AS call, c.tool, r.session_id AS session, r.turn_id AS turn, s.title, t.turn_seq FROM tool_batches b
			JOIN steps p ON p.id = b.step_id JOIN tool_calls c ON c.batch_id = b.id JOIN tool_recalled r ON r.tool_call_id = c.id
			LEFT JOIN turns t ON t.id = r.turn_id LEFT JOIN sessions s ON s.id = t.session_id
			WHERE b.turn_id = ? AND r.turn_id <> '' ORDER BY p.step_index, p.attempt, c.ordinal, r.place`, turn).Scan(&rows).Error
	})
	type key struct{ tool, turn string }
	seen := map[key]bool{}
	out := []chat.LookedUp{}
	for _, r := range rows {
		if seen[key{r.Tool, r.Turn}] {
			continue
		}
		seen[key{r.Tool, r.Turn}] = true
		l := chat.LookedUp{Call: chat.ToolCallID(r.Call), Tool: r.Tool, Session: chat.SessionID(r.Session), Title: schema.Text(r.Title), Turn: chat.TurnID(r.Turn)}
		if r.TurnSeq != nil {
			l.TurnSeq = *r.TurnSeq
		}
		out = append(out, l)
	}
	return out, err
}

// lookedUpIn returns the turns whose models looked up the turn of a chunk.
func lookedUpIn(db *gorm.DB, chunk chat.ChunkID) ([]chat.ChunkUse, error) {
	rows, err := sqlite.All[struct {
		Tool, TurnID, SessionID, CreatedAt string
		TurnSeq                            int64
	}](db, `SELECT DISTINCT c.tool, t.id AS turn_id, t.session_id, t.created_at, t.turn_seq FROM chunks k
		JOIN tool_recalled r ON r.session_id = k.session_id AND r.turn_id = k.source_turn JOIN tool_calls c ON c.id = r.tool_call_id
		JOIN tool_batches b ON b.id = c.batch_id JOIN turns t ON t.id = b.turn_id WHERE k.id = ?`, chunk)
	out := make([]chat.ChunkUse, len(rows))
	for i, r := range rows {
		out[i] = chat.ChunkUse{Turn: chat.TurnID(r.TurnID), TurnSeq: r.TurnSeq, Session: chat.SessionID(r.SessionID), At: schema.ParseTime(r.CreatedAt), Tool: r.Tool}
	}
	return out, err
}
