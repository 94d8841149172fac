package store

import (
	"slices"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/sqlite"
)

// Queued messages keep their order over a restart. Each is removed in the transaction that accepts it as a turn, and
// one that is gone cannot be accepted.
func TestQueue(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("t")
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: chat.UserText("first")}))
	add := func(text string, at int) chat.QueuedMessage {
		t.Helper()
		m, err := f.Enqueue(f.ctx, b.ID, chat.UserText(text), at, true)
		f.ok(err)
		return m
	}
	first := add("first", chat.QueueLimit)
	if _, found, err := f.Draft(f.ctx, b.ID); found || err != nil {
		t.Errorf("the draft that was queued is still there: %v", err)
	}
	third := add("third", chat.QueueLimit)
	add("second", 1)
	_, err := f.MoveQueued(f.ctx, third.ID, -1)
	f.ok(err)
	f.reopen()
	texts := func() (out []string) {
		t.Helper()
		queue, err := f.Queue(f.ctx, b.ID)
		f.ok(err)
		return lists.Map(queue, func(m chat.QueuedMessage) string { return m.Message.RenderedText() })
	}
	if got := texts(); !slices.Equal(got, []string{"third", "first", "second"}) {
		t.Errorf("after a restart %q", got)
	}
	accept := func(id chat.QueuedID) error {
		_, err := f.Accept(f.ctx, chat.Acceptance{BranchID: b.ID, User: chat.UserText("first"), Queued: id})
		return err
	}
	f.refused(accept("gone"), chat.CodeNotFound)
	if _, ok, err := f.LastTurn(f.ctx, b.ID); ok || err != nil {
		t.Errorf("a message that no longer waits became a turn: %v", err)
	}
	f.ok(accept(first.ID))
	if got := texts(); !slices.Equal(got, []string{"third", "second"}) {
		t.Errorf("after one was accepted %q", got)
	}
}

// A draft that an earlier version marked as queued waits in the queue after the migration; another one stays a draft.
func TestQueuedDraftsMigrate(t *testing.T) {
	f := newFixture(t)
	_, a := f.session("a")
	_, b := f.session("b")
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: a.ID, Message: chat.UserText("queued")}))
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: chat.UserText("draft")}))
	for _, statement := range []string{
		`DROP TABLE queued_messages`, `DROP INDEX idx_drafts_copy`, `ALTER TABLE drafts ADD COLUMN queued INTEGER NOT NULL DEFAULT 0`,
		`CREATE INDEX idx_drafts_copy ON drafts (branch_id, queued, updated_at, message_json)`,
		`UPDATE drafts SET queued = 1 WHERE branch_id = '` + string(a.ID) + `'`,
		`DROP INDEX idx_projects_copy`, `ALTER TABLE projects DROP COLUMN watch_identity`,
		`CREATE INDEX idx_projects_copy ON projects (id, name, created_at, updated_at, model, tools_mode, tools_json, watch, scan_json, instructions)`,
		`DROP INDEX idx_events_lane`, `ALTER TABLE events DROP COLUMN lane_seq`, `ALTER TABLE events DROP COLUMN lane`,
		`ALTER TABLE sessions DROP COLUMN begun_by`, `ALTER TABLE branches DROP COLUMN lane`,
		`ALTER TABLE branches DROP COLUMN machine`, `ALTER TABLE branches DROP COLUMN continues`,
		`DROP TABLE chunk_summaries`, `DELETE FROM goose_db_version WHERE version_id >= 18`,
	} {
		f.ok(f.core.DB.Writer.Exec(statement).Error)
	}
	f.reopen()
	queue, err := f.Queue(f.ctx, a.ID)
	f.ok(err)
	if len(queue) != 1 || queue[0].Message.RenderedText() != "queued" {
		t.Errorf("the queue is %+v", queue)
	}
	drafts, err := sqlite.All[string](f.core.DB.Reader, `SELECT branch_id FROM drafts`)
	f.ok(err)
	if !slices.Equal(drafts, []string{string(b.ID)}) {
		t.Errorf("drafts of %q", drafts)
	}
}
