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
	UpdatedAt   string
	MessageJSON string
}

func (DraftRow) TableName() string { return "drafts" }

func (r DraftRow) Draft() (chat.Draft, error) {
	m, err := schema.DecodeMessage(chat.RoleUser, r.MessageJSON)
	if err != nil {
		return chat.Draft{}, sqlite.CorruptRecord("drafts", r.BranchID, err)
	}
	return chat.Draft{BranchID: chat.BranchID(r.BranchID), Message: m, UpdatedAt: schema.ParseTime(r.UpdatedAt)}, nil
}

// Draft returns a branch's unsent text, if any.
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

// SaveDraft saves a branch's unsent text. An empty one is deleted.
func (s *Records) SaveDraft(ctx context.Context, d chat.Draft) error {
	return s.Write(ctx, "draft.save", func(t *core.Tx) error { return saveDraft(t, d) })
}

func saveDraft(t *core.Tx, d chat.Draft) error {
	empty := len(d.Message.Blocks) == 0 || d.Message.IsEmpty()
	if empty && len(d.Message.Blocks.Memories()) == 0 {
		return t.Run(`DELETE FROM drafts WHERE branch_id = ?`, d.BranchID)
	}
	if _, err := schema.BranchByID(t.DB, d.BranchID); err != nil {
		return err
	}
	d.Message.Role = chat.RoleUser
	message, _, err := schema.EncodeMessage(d.Message)
	if err != nil {
		return err
	}
	return t.Run(`INSERT INTO drafts (branch_id, updated_at, message_json) VALUES (?, ?, ?)
		ON CONFLICT (branch_id) DO UPDATE SET updated_at = excluded.updated_at, message_json = excluded.message_json`,
		d.BranchID, t.Stamp(), message)
}
