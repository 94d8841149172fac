package records

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// QueuedRow is a message that waits to be sent. Positions are those within the branch's queue, from 1, with gaps where
// messages were removed.
type QueuedRow struct {
	ID          string
	BranchID    string
	Position    int
	CreatedAt   string
	MessageJSON string
}

func (QueuedRow) TableName() string { return "queued_messages" }

// Queued decodes the row.
func (r QueuedRow) Queued() (chat.QueuedMessage, error) {
	m, err := schema.DecodeMessage(chat.RoleUser, r.MessageJSON)
	if err != nil {
		return chat.QueuedMessage{}, sqlite.CorruptRecord("queued_messages", r.ID, err)
	}
	return chat.QueuedMessage{ID: chat.QueuedID(r.ID), BranchID: chat.BranchID(r.BranchID), Message: m, CreatedAt: schema.ParseTime(r.CreatedAt)}, nil
}

// Queue returns the messages that wait on a branch, in order. An unreadable one is skipped and logged, so that the
// others are still sent.
func (s *Records) Queue(ctx context.Context, branch chat.BranchID) ([]chat.QueuedMessage, error) {
	rows, err := core.Query(ctx, s, "queue.read", func(db *gorm.DB) ([]QueuedRow, error) { return queueOf(db, branch) })
	var out []chat.QueuedMessage
	for _, r := range rows {
		m, err := r.Queued()
		if err != nil {
			s.Log.Warn("a queued message cannot be read", "branch", r.BranchID, "id", r.ID)
			continue
		}
		out = append(out, m)
	}
	return out, err
}

func queueOf(db *gorm.DB, branch chat.BranchID) ([]QueuedRow, error) {
	return sqlite.All[QueuedRow](db, `SELECT * FROM queued_messages WHERE branch_id = ? ORDER BY position, id`, branch)
}

// Enqueue adds a message to the branch's queue, which has at most chat.QueueLimit messages: before the one at a
// position, counted from 0, or at the end if there is none. With clearDraft the branch's draft, from which the message
// comes, is removed in the same transaction.
func (s *Records) Enqueue(ctx context.Context, branch chat.BranchID, m chat.Message, position int, clearDraft bool) (added chat.QueuedMessage, err error) {
	err = s.Write(ctx, "queue.add", func(t *core.Tx) error {
		if len(m.Blocks) == 0 || m.IsEmpty() {
			return sqlite.Invalid("An empty message cannot be queued.")
		}
		if _, err := schema.BranchByID(t.DB, branch); err != nil {
			return err
		}
		rows, err := queueOf(t.DB, branch)
		if err != nil {
			return err
		}
		if len(rows) >= chat.QueueLimit {
			return sqlite.Conflict("%d messages are already queued on this branch. Nothing was queued.", len(rows)).
				WithHint("wait until one is sent, or delete one")
		}
		m.Role = chat.RoleUser
		message, _, err := schema.EncodeMessage(m)
		if err != nil {
			return err
		}
		row := QueuedRow{ID: t.NewID(), BranchID: string(branch), Position: len(rows) + 1, CreatedAt: t.Stamp(), MessageJSON: message}
		if err = t.Run(`INSERT INTO queued_messages (id, branch_id, position, created_at, message_json) VALUES (?, ?, ?, ?, ?)`,
			row.ID, row.BranchID, row.Position, row.CreatedAt, row.MessageJSON); err != nil {
			return err
		}
		if err := reposition(t, slices.Insert(rows, min(max(position, 0), len(rows)), row)); err != nil {
			return err
		}
		if added, err = row.Queued(); err != nil || !clearDraft {
			return err
		}
		return t.Run(`DELETE FROM drafts WHERE branch_id = ?`, branch)
	})
	return added, err
}

// MoveQueued moves a message to a position in its queue, counted from 0, and returns the branch.
func (s *Records) MoveQueued(ctx context.Context, id chat.QueuedID, position int) (branch chat.BranchID, err error) {
	err = s.Write(ctx, "queue.move", func(t *core.Tx) error {
		row, err := queuedRow(t, id)
		if err != nil {
			return err
		}
		branch = chat.BranchID(row.BranchID)
		rows, err := queueOf(t.DB, branch)
		if err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(r QueuedRow) bool { return r.ID == row.ID })
		return reposition(t, slices.Insert(rows, min(max(position, 0), len(rows)), row))
	})
	return branch, err
}

// RemoveQueued deletes a message from its queue and returns it.
func (s *Records) RemoveQueued(ctx context.Context, id chat.QueuedID) (removed chat.QueuedMessage, err error) {
	err = s.Write(ctx, "queue.remove", func(t *core.Tx) (err error) {
		removed, err = takeQueued(t, id)
		return err
	})
	return removed, err
}

// EditQueued moves a message from its queue into the branch's draft, above the text that is already there, and returns
// the message.
func (s *Records) EditQueued(ctx context.Context, id chat.QueuedID) (taken chat.QueuedMessage, err error) {
	err = s.Write(ctx, "queue.edit", func(t *core.Tx) (err error) {
		if taken, err = takeQueued(t, id); err != nil {
			return err
		}
		rows, err := sqlite.All[DraftRow](t.DB, `SELECT * FROM drafts WHERE branch_id = ?`, taken.BranchID)
		if err != nil {
			return err
		}
		message := taken.Message
		for _, r := range rows {
			d, err := r.Draft()
			if err != nil {
				return err
			}
			message = message.Joined(d.Message)
		}
		return saveDraft(t, chat.Draft{BranchID: taken.BranchID, Message: message})
	})
	return taken, err
}

func takeQueued(t *core.Tx, id chat.QueuedID) (chat.QueuedMessage, error) {
	row, err := queuedRow(t, id)
	if err != nil {
		return chat.QueuedMessage{}, err
	}
	m, err := row.Queued()
	if err != nil {
		return m, err
	}
	return m, dropQueued(t, id)
}

func queuedRow(t *core.Tx, id chat.QueuedID) (QueuedRow, error) {
	rows, err := sqlite.All[QueuedRow](t.DB, `SELECT * FROM queued_messages WHERE id = ?`, id)
	if err != nil {
		return QueuedRow{}, err
	}
	if len(rows) == 0 {
		return QueuedRow{}, notQueued()
	}
	return rows[0], nil
}

// dropQueued removes a message, which must still be queued, so that a message edited or deleted meanwhile is not sent.
func dropQueued(t *core.Tx, id chat.QueuedID) error {
	n, err := t.Exec(`DELETE FROM queued_messages WHERE id = ?`, id)
	if err == nil && n != 1 {
		return notQueued()
	}
	return err
}

func notQueued() *chat.Error {
	return chat.Errorf(chat.CodeNotFound, "", "This message is no longer queued: it was sent, edited or deleted.")
}

// reposition stores the order of a queue.
func reposition(t *core.Tx, rows []QueuedRow) error {
	for i, r := range rows {
		if err := t.Run(`UPDATE queued_messages SET position = ? WHERE id = ?`, i+1, r.ID); err != nil {
			return err
		}
	}
	return nil
}
