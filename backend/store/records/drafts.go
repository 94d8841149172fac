package records

import (
	"context"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

type DraftRow struct {
	BranchID    string
	Queued      bool
	UpdatedAt   string
	MessageJSON string
}

func (DraftRow) TableName() string { return "drafts" }

func (r DraftRow) Draft() (chat.Draft, error) {
	m, err := schema.DecodeMessage(chat.RoleUser, r.MessageJSON)
	if err != nil {
		return chat.Draft{}, sqlite.CorruptRecord("drafts", r.BranchID, err)
	}
	return chat.Draft{BranchID: chat.BranchID(r.BranchID), Message: m, Queued: r.Queued, UpdatedAt: schema.Moment(r.UpdatedAt)}, nil
}

// Draft is a branch's unsent text, if any.
func (s *Records) Draft(ctx context.Context, branch chat.BranchID) (chat.Draft, bool, error) {
	var d chat.Draft
	var found bool
	err := s.Read(ctx, "draft.read", func(db *gorm.DB) error {
		rows, err := sqlite.All[DraftRow](db, `SELECT * FROM drafts WHERE branch_id = ?`, branch)
		if err != nil || len(rows) == 0 {
			return err
		}
		found = true
		d, err = rows[0].Draft()
		return err
	})
	return d, found && err == nil, err
}

// SaveDraft saves a branch's unsent text. An empty one that is not queued is deleted.
func (s *Records) SaveDraft(ctx context.Context, d chat.Draft) error {
	return s.Write(ctx, "draft.save", func(t *core.Tx) error {
		empty := len(d.Message.Blocks) == 0 || d.Message.IsEmpty()
		if empty && d.Queued {
			return sqlite.Invalid("An empty message cannot be queued.")
		}
		if empty && len(d.Message.Blocks.Memories()) == 0 {
			_, err := t.Exec(`DELETE FROM drafts WHERE branch_id = ?`, d.BranchID)
			return err
		}
		if _, err := schema.BranchByID(t.DB, d.BranchID); err != nil {
			return err
		}
		d.Message.Role = chat.RoleUser
		message, _, err := schema.EncodeMessage(d.Message)
		if err != nil {
			return err
		}
		_, err = t.Exec(`INSERT INTO drafts (branch_id, queued, updated_at, message_json) VALUES (?, ?, ?, ?)
			ON CONFLICT (branch_id) DO UPDATE SET queued = excluded.queued, updated_at = excluded.updated_at,
			message_json = excluded.message_json`, d.BranchID, d.Queued, t.Stamp(), message)
		return err
	})
}

// ReleaseDraft takes a draft out of the send queue if it is still the one that was queued: text written since is not
// affected.
func (s *Records) ReleaseDraft(ctx context.Context, d chat.Draft) (released bool, err error) {
	err = s.Write(ctx, "draft.release", func(t *core.Tx) error {
		rows, err := sqlite.All[DraftRow](t.DB, `SELECT * FROM drafts WHERE branch_id = ? AND queued = 1`, d.BranchID)
		if err != nil || len(rows) == 0 {
			return err
		}
		waits, err := rows[0].Draft()
		if err != nil {
			return err
		}
		same, err := sameMessage(waits.Message, d.Message)
		if err != nil || !same || !waits.UpdatedAt.Equal(d.UpdatedAt) {
			return err
		}
		_, err = t.Exec(`UPDATE drafts SET queued = 0, updated_at = ? WHERE branch_id = ?`, t.Stamp(), d.BranchID)
		released = err == nil
		return err
	})
	return released && err == nil, err
}

func sameMessage(a, b chat.Message) (bool, error) {
	left, _, err := schema.EncodeMessage(a)
	if err != nil {
		return false, err
	}
	right, _, err := schema.EncodeMessage(b)
	return left == right, err
}

// QueuedDrafts are the drafts queued for sending, oldest first. An unreadable one is skipped and logged, so that the
// others are still sent.
func (s *Records) QueuedDrafts(ctx context.Context) ([]chat.Draft, error) {
	rows, err := core.All[DraftRow](ctx, s, "draft.list", `SELECT * FROM drafts WHERE queued = 1 ORDER BY updated_at, branch_id`)
	var out []chat.Draft
	for _, r := range rows {
		d, err := r.Draft()
		if err != nil {
			s.Log.Warn("a queued draft cannot be read", "branch", r.BranchID)
			continue
		}
		out = append(out, d)
	}
	return out, err
}
