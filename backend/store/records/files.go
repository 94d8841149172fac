package records

import (
	"context"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Attached documents. A file belongs to a session and is stored once there, by its hash. Until a message that uses it
// is accepted it belongs to a draft: it is not in the ledger, and it is deleted once nothing refers to it.

// AddFile stores a document for a message that is being written. Identical bytes are stored once per session: an
// existing file is returned under the new name.
func (s *Records) AddFile(ctx context.Context, n chat.NewFile) (chat.File, error) {
	var row schema.FileRow
	err := s.Write(ctx, "file.add", func(t *core.Tx) error {
		if err := checkFile(n); err != nil {
			return err
		}
		if _, err := schema.SessionByID(t.DB, n.SessionID); err != nil {
			return err
		}
		sum := codec.Hash(n.Content)
		existing, err := sqlite.All[schema.FileRow](t.DB, `SELECT `+schema.FileColumns+` FROM files WHERE session_id = ? AND content_hash = ?`, n.SessionID, sum)
		if err != nil {
			return err
		}
		if len(existing) > 0 {
			row = existing[0]
			row.Name = schema.Clean(n.Name)
			return nil
		}
		row = schema.FileRow{
			ID: t.NewID(), SessionID: string(n.SessionID), Name: schema.Clean(n.Name), MediaType: schema.Clean(n.MediaType),
			Size: int64(len(n.Content)), CreatedAt: t.Stamp(), ContentHash: sum, Tokens: n.Tokens,
		}
		return events.InsertFile(t, row, n.Content, n.Text)
	})
	return row.File(), err
}

// checkFile refuses a document whose text cannot be stored unchanged.
func checkFile(n chat.NewFile) error {
	words := n.Text
	if words == "" {
		words = string(n.Content)
	}
	switch {
	case !utf8.ValidString(words) || strings.ContainsRune(words, 0):
		return sqlite.Invalid("The document %q has no readable text; nothing was stored.", n.Name)
	case strings.TrimSpace(words) == "":
		return sqlite.Invalid("The document %q contains no text; nothing was stored.", n.Name)
	}
	return nil
}

// File returns a document without its bytes.
func (s *Records) File(ctx context.Context, id chat.FileID) (chat.File, error) {
	row, err := core.Query(ctx, s, "file.read", func(db *gorm.DB) (schema.FileRow, error) { return schema.FileByID(db, id) })
	return row.File(), err
}

// FileText returns a document's complete text.
func (s *Records) FileText(ctx context.Context, id chat.FileID) (string, error) {
	return core.Query(ctx, s, "file.read", func(db *gorm.DB) (string, error) { return schema.FileText(db, id) })
}

// TurnFiles returns the documents of a turn's message that are indexed with it, without those that an earlier finalized
// turn of its lineage already had.
func (s *Records) TurnFiles(ctx context.Context, id chat.TurnID) ([]chat.FileText, error) {
	var out []chat.FileText
	err := s.Read(ctx, "file.turn", func(db *gorm.DB) error {
		row, err := schema.TurnByID(db, id)
		if err != nil {
			return err
		}
		for _, d := range row.Turn().User.Blocks.Documents() {
			f, err := schema.FileByID(db, d.File)
			if err != nil {
				return err
			}
			before, err := attachedBefore(db, row, f)
			if err != nil {
				return err
			}
			if before {
				continue
			}
			words, err := schema.FileText(db, d.File)
			if err != nil {
				return err
			}
			f.Name = d.Name
			out = append(out, chat.FileText{File: f.File(), Text: words})
		}
		return nil
	})
	return out, err
}

// attachedBefore reports whether an earlier turn of the lineage had the file. A file is bound to the turn that used it
// first; only for other turns the history is searched.
func attachedBefore(db *gorm.DB, turn schema.TurnRow, f schema.FileRow) (bool, error) {
	if schema.Text(f.TurnID) == turn.ID {
		return false, nil
	}
	segs, err := core.SegmentsOrFile(db, chat.BranchID(turn.BranchID))
	if err != nil {
		return false, err
	}
	for _, seg := range segs {
		existing, err := sqlite.All[string](db, `SELECT id FROM turns WHERE branch_id = ? AND turn_seq > ? AND turn_seq <= ?
			AND final_assistant_message_json IS NOT NULL AND instr(user_message_json, ?) > 0 LIMIT 1`,
			seg.Branch, seg.From, min(seg.To, turn.TurnSeq-1), `"file_id":"`+f.ID+`"`)
		if err != nil || len(existing) > 0 {
			return len(existing) > 0, err
		}
	}
	return false, nil
}

// BindFiles binds the documents of an accepted message to its turn and adds new ones to the ledger. Part of TX-0.
func BindFiles(t *core.Tx, turn schema.TurnRow, m chat.Message) error {
	for _, d := range m.Blocks.Documents() {
		f, err := schema.FileByID(t.DB, d.File)
		if chat.CodeOf(err) == chat.CodeNotFound || err == nil && f.SessionID != turn.SessionID {
			return sqlite.Invalid("The document %q is not stored in this session; nothing was sent.", d.Name).WithHint("attach it again")
		}
		if err != nil {
			return err
		}
		if f.TurnID != nil {
			continue
		}
		words, err := schema.FileText(t.DB, d.File)
		if err != nil {
			return err
		}
		if err := events.Record(t, chat.SessionID(turn.SessionID), ledger.EventFileAdded, f.ID, ledger.FileAdded{
			TurnID: chat.TurnID(turn.ID), Name: schema.Clean(d.Name), MediaType: f.MediaType, Size: f.Size, Tokens: f.Tokens,
			SHA256: hex.EncodeToString(f.ContentHash), TextSHA256: chat.HashText(words),
		}); err != nil {
			return err
		}
	}
	return nil
}

// draftFileAge is how long a document is kept that no message and no draft uses: its removal from a draft can be
// undone.
const draftFileAge = 24 * time.Hour

// SweepFiles deletes documents that were attached to a draft but never sent, once nothing has used them for a day,
// and returns how many.
func (s *Records) SweepFiles(ctx context.Context) (int, error) {
	var n int64
	err := s.Write(ctx, "file.sweep", func(t *core.Tx) (err error) {
		n, err = t.Exec(`DELETE FROM files WHERE turn_id IS NULL AND created_at < ?
			AND NOT EXISTS (SELECT 1 FROM drafts d WHERE instr(d.message_json, '"file_id":"' || files.id || '"') > 0)
			AND NOT EXISTS (SELECT 1 FROM queued_messages q WHERE instr(q.message_json, '"file_id":"' || files.id || '"') > 0)`,
			chat.FormatTime(t.Now.Add(-draftFileAge)))
		return err
	})
	return int(n), err
}
