package deletion

import (
	"context"
	"path/filepath"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// A receipt tells forever what a permanent deletion removed, by store and number. The text
// is not in it, nor a title.

// PutReceipt writes the receipt, with what is still to be done.
func (e *Erasing) PutReceipt(backups []string) (chat.Receipt, error) {
	counts, err := chat.MarshalJSON(schema.ReceiptCounts{Erased: e.erased(), Pending: &schema.UnfinishedEnd{Files: append([]string{}, e.files...), Folders: e.drags()}})
	if err != nil {
		return chat.Receipt{}, err
	}
	held, err := chat.MarshalJSON(append([]string{}, backups...))
	if err != nil {
		return chat.Receipt{}, err
	}
	row := schema.ReceiptRow{
		ID: e.receipt, Subject: e.subject.Kind + " " + e.subject.Subject, CreatedAt: e.Stamp(),
		CountsJSON: string(counts), BackupsJSON: string(held),
	}
	if err := e.DB.Create(&row).Error; err != nil {
		return chat.Receipt{}, err
	}
	return row.Receipt()
}

// Receipts are those of all permanent deletions, newest first. One that cannot be read is
// skipped: verify names it.
func (s *Deletion) Receipts(ctx context.Context) ([]chat.Receipt, error) {
	return core.Query(ctx, s, "receipt.list", func(db *gorm.DB) ([]chat.Receipt, error) { return schema.ReceiptsOf(db) })
}

// ErasedTurns says when what turns of a session say was erased, of those that it was
// erased of. The ledger knows: the words that mark it may be somebody's own.
func (s *Deletion) ErasedTurns(ctx context.Context, session chat.SessionID, ids []chat.TurnID) (map[chat.TurnID]time.Time, error) {
	out := map[chat.TurnID]time.Time{}
	if len(ids) == 0 {
		return out, nil
	}
	err := s.Read(ctx, "receipt.turns", func(db *gorm.DB) error {
		erased, err := core.ErasuresIn(db, string(session))
		if err != nil || len(erased) == 0 {
			return err
		}
		receipts, err := schema.ReceiptsOf(db)
		if err != nil {
			return err
		}
		at := map[string]time.Time{}
		for _, r := range receipts {
			at[r.ID] = r.At
		}
		told, err := sqlite.All[schema.EventRow](db, `SELECT event_seq, entity_id FROM events WHERE session_id = ? AND type = ? AND entity_id IN ?`,
			session, ledger.EventTurnAccepted, ids)
		for _, e := range told {
			if erasure, ok := erased[e.EventSeq]; ok {
				out[chat.TurnID(e.EntityID)] = at[erasure.Receipt]
			}
		}
		return err
	})
	return out, err
}

// holding names the copies of the data that hold what is to be erased, and continue
// doing so: backups of every kind, what restores set aside, and the folders that the data
// was moved from. One that cannot be read may hold it. Copies in other places are not
// known.
func (s *Deletion) holding(ctx context.Context, kind, id string) ([]string, error) {
	paths, err := s.Databases()
	if err != nil {
		return nil, err
	}
	out := []string{}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, sqlite.MapError(OpErase, err)
		}
		// A log beside a copy may be damaged, and hold what can no longer be read of it.
		if sqlite.SizeOf(path+"-wal") > 0 || CopyHolds(ctx, path, kind, id) {
			if rel, err := filepath.Rel(s.Dir, path); err == nil && filepath.IsLocal(rel) {
				path = filepath.ToSlash(rel)
			}
			out = append(out, path)
		}
	}
	return out, nil
}

func CopyHolds(ctx context.Context, path, kind, id string) bool {
	db, err := sqlite.ConnectAt(sqlite.Place{Path: path, Reading: true}, sqlite.ReadBackPragmas, 1)
	if err != nil {
		return true
	}
	defer func() { _ = sqlite.Disconnect(db) }()
	query, args := `SELECT id FROM sessions WHERE id = ?`, []any{id}
	if kind == chat.EraseProject {
		query = `SELECT id FROM projects WHERE id = ?`
	}
	if kind == chat.EraseTurn {
		shell, _, err := schema.EncodeMessage(chat.UserText(ErasedMark))
		if err != nil {
			return true
		}
		query, args = `SELECT id FROM turns WHERE id = ? AND user_message_json <> ?`, []any{id, shell}
	}
	there, err := sqlite.All[string](db.WithContext(ctx), query, args...)
	return err != nil || len(there) > 0
}
