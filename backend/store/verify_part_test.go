package store

import (
	"testing"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/verify"
)

// TestAPartIsCompared: of a session that grew, the records of what was added are compared with the ledger, and no others.
func TestAPartIsCompared(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("long")
	intact := f.full(b.ID, "the first question", "the first answer")
	for table, change := range map[string]string{
		"turns": `UPDATE turns SET primary_model = 'another' WHERE id = ?`, "steps": `UPDATE steps SET model_id = 'another' WHERE turn_id = ?`,
		"chunks": `UPDATE chunks SET content_hash = zeroblob(32) WHERE source_turn = ?`, "units": `UPDATE units SET tokens = tokens + 1 WHERE turn_id = ?`,
		"states": `UPDATE states SET model = 'another' WHERE id = (SELECT state_after FROM turns WHERE id = ?)`,
	} {
		turn := f.full(b.ID, "a question about "+table, "an answer about "+table)
		state, _, err := f.Replay(f.ctx, s.ID)
		f.ok(err)
		found := func(of chat.Turn) []chat.Finding {
			ids := []string{string(of.ID), string(of.StateAfter)}
			list, err := core.Query(f.ctx, f.core, "test", func(db *gorm.DB) ([]chat.Finding, error) { return verify.ComparePart(db, state, ids) })
			f.ok(err)
			return list
		}
		if list := found(turn); len(list) > 0 {
			t.Errorf("%s: before the change: %v", table, list)
		}
		f.ok(f.core.DB.Writer.Exec(change, turn.ID).Error)
		if list := found(turn); len(list) == 0 {
			t.Errorf("%s: the change is not noticed", table)
		}
		if list := found(intact); len(list) > 0 {
			t.Errorf("%s: of another turn: %v", table, list)
		}
	}
}
