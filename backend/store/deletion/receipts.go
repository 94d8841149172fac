package deletion

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// A receipt records permanently what a deletion removed, as counts per table. It contains neither text nor titles.

// PutReceipt writes the receipt, including the remaining work.
func (e *Operation) PutReceipt(backups []string) (chat.Receipt, error) {
	counts, err := chat.MarshalJSON(schema.ReceiptCounts{Deleted: deletedCounts([]*Operation{e}), Pending: &schema.PendingRemoval{Files: append([]string{}, e.files...), Folders: e.drags()}, Copies: e.copyRefs()})
	if err != nil {
		return chat.Receipt{}, err
	}
	encoded, err := chat.MarshalJSON(append([]string{}, backups...))
	if err != nil {
		return chat.Receipt{}, err
	}
	row := schema.ReceiptRow{
		ID: e.receipt, Subject: e.subject.Kind + " " + e.subject.Subject, CreatedAt: e.Stamp(),
		CountsJSON: string(counts), BackupsJSON: string(encoded),
	}
	if err := e.DB.Save(&row).Error; err != nil {
		return chat.Receipt{}, err
	}
	receipt, err := row.Receipt()
	for i := range receipt.Copies {
		receipt.Copies[i].Title = e.subject.Copies[i].Title
	}
	return receipt, err
}

// Receipts returns the receipts of all permanent deletions, newest first. It skips unreadable ones; verify reports
// them.
func (s *Deletion) Receipts(ctx context.Context) ([]chat.Receipt, error) {
	return core.Query(ctx, s, "receipt.list", func(db *gorm.DB) ([]chat.Receipt, error) { return schema.ReceiptsOf(db) })
}

// DeletedTurns returns when the deleted turns of a session were deleted. It reads the ledger: the text [erased] alone
// could be a user's own.
func (s *Deletion) DeletedTurns(ctx context.Context, session chat.SessionID, ids []chat.TurnID) (map[chat.TurnID]time.Time, error) {
	out := map[chat.TurnID]time.Time{}
	if len(ids) == 0 {
		return out, nil
	}
	err := s.Read(ctx, "receipt.turns", func(db *gorm.DB) error {
		deleted, err := core.DeletionsIn(db, string(session))
		if err != nil || len(deleted) == 0 {
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
		recorded, err := sqlite.All[schema.EventRow](db, `SELECT event_seq, lane, lane_seq, entity_id FROM events WHERE session_id = ? AND type = ? AND entity_id IN ?`,
			session, ledger.EventTurnAccepted, ids)
		for _, e := range recorded {
			for _, d := range deleted[e.Event(nil).Spot()] { // the last counts; the event of an early one is not here yet
				if when := at[d.Receipt]; !when.IsZero() {
					out[chat.TurnID(e.EntityID)] = when
				}
			}
		}
		return err
	})
	return out, err
}

// copiesContaining returns, for each target, the known copies of the data that still contain its content: all backups,
// what restores quarantined, other data folders, and copies that a living process is making. What cannot be read may
// contain it. What dead processes left is removed first. Copies elsewhere are unknown.
func (s *Deletion) copiesContaining(ctx context.Context, targets []target) ([][]string, error) {
	living := atrest.Sweep(s.Dir)
	paths, err := s.Databases()
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(targets))
	for _, path := range paths {
		for i, d := range targets {
			if err := ctx.Err(); err != nil {
				return nil, sqlite.MapError(OpDelete, err)
			}
			// The log beside a copy may be damaged and hold content that can no longer be read.
			if sqlite.SizeOf(path+"-wal") > 0 || CopyHolds(ctx, path, d.kind, d.id) {
				out[i] = append(out[i], s.nameOf(path))
			}
		}
	}
	for _, path := range s.OtherJournals() {
		for i, d := range targets {
			holds, err := s.journalHolds(ctx, path, d)
			if err != nil {
				return nil, sqlite.MapError(OpDelete, err)
			}
			if holds {
				out[i] = append(out[i], s.nameOf(path))
			}
		}
	}
	for _, path := range living {
		for i := range targets {
			out[i] = append(out[i], s.nameOf(path))
		}
	}
	return out, nil
}

// nameOf returns a path as receipts name it: below the data directory, or whole.
func (s *Deletion) nameOf(path string) string {
	if rel, err := filepath.Rel(s.Dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// journalHolds reports whether a journal contains the answer of a target, or may: its step is unknown here, or the target
// is a project.
func (s *Deletion) journalHolds(ctx context.Context, path string, d target) (bool, error) {
	step := strings.TrimSuffix(filepath.Base(path), sqlite.JournalExtension)
	return core.Query(ctx, s, "receipt.journal", func(db *gorm.DB) (bool, error) {
		rows, err := sqlite.All[struct{ Turn, Session string }](db, `SELECT t.id AS turn, t.session_id AS session
			FROM steps x JOIN turns t ON t.id = x.turn_id WHERE x.id = ?`, step)
		if err != nil || len(rows) == 0 {
			return true, err
		}
		return d.kind == chat.DeletionProject || rows[0].Turn == d.id || rows[0].Session == d.id, nil
	})
}

// CopyHolds reports whether a copy of the data still contains the content of a target, or may, because it is
// unreadable.
func CopyHolds(ctx context.Context, path, kind, id string) bool {
	db, err := sqlite.ConnectAt(sqlite.Place{Path: path, Reading: true}, sqlite.ReadBackPragmas, 1)
	if err != nil {
		return true
	}
	defer func() { _ = sqlite.Disconnect(db) }()
	query, args := `SELECT id FROM sessions WHERE id = ?`, []any{id}
	if kind == chat.DeletionProject {
		query = `SELECT id FROM projects WHERE id = ?`
	}
	if kind == chat.DeletionTurn {
		shell, _, err := schema.EncodeMessage(chat.UserText(DeletedMark))
		if err != nil {
			return true
		}
		query, args = `SELECT id FROM turns WHERE id = ? AND user_message_json <> ?`, []any{id, shell}
	}
	rows, err := sqlite.All[string](db.WithContext(ctx), query, args...)
	return err != nil || len(rows) > 0
}
