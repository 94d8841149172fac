package schema

import (
	"encoding/json"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

type ReceiptRow struct {
	ID          string
	Subject     string // kind and id
	CreatedAt   string
	CountsJSON  string
	BackupsJSON string
}

func (ReceiptRow) TableName() string { return "receipts" }

// ReceiptCounts is counts_json.
type ReceiptCounts struct {
	Deleted []chat.DeletedCount `json:"erased"`
	Pending *PendingRemoval     `json:"pending,omitempty"`
	Copies  []CopyRef           `json:"copies,omitempty"` // sessions with the same messages, which stayed
}

// CopyRef names a copy by its ids.
type CopyRef struct {
	Session chat.SessionID `json:"session_id"`
	Turn    chat.TurnID    `json:"turn_id"`
}

// PendingRemoval lists what a permanent deletion still has to remove after its transaction.
type PendingRemoval struct {
	Files   []string `json:"files"`   // to be removed, relative to the data directory
	Folders []string `json:"folders"` // folders that were removed with their content
}

func (r ReceiptRow) Receipt() (chat.Receipt, error) {
	kind, id, _ := strings.Cut(r.Subject, " ")
	out := chat.Receipt{ID: r.ID, Kind: kind, Subject: id, At: ParseTime(r.CreatedAt)}
	var counts ReceiptCounts
	if err := json.Unmarshal([]byte(r.CountsJSON), &counts); err != nil {
		return out, sqlite.CorruptRecord("receipts", r.ID, err)
	}
	out.Deleted = counts.Deleted
	for _, c := range counts.Copies {
		out.Copies = append(out.Copies, chat.Copy{Session: c.Session, Turn: c.Turn})
	}
	if err := json.Unmarshal([]byte(r.BackupsJSON), &out.Backups); err != nil {
		return out, sqlite.CorruptRecord("receipts", r.ID, err)
	}
	return out, nil
}

// Pending returns what is still to be done; false: nothing.
func (r ReceiptRow) Pending() (end PendingRemoval, ok bool, err error) {
	var counts ReceiptCounts
	if err := json.Unmarshal([]byte(r.CountsJSON), &counts); err != nil {
		return end, false, sqlite.CorruptRecord("receipts", r.ID, err)
	}
	if counts.Pending == nil {
		return end, false, nil
	}
	return *counts.Pending, true, nil
}

func ReceiptsOf(db *gorm.DB) ([]chat.Receipt, error) {
	rows, err := sqlite.All[ReceiptRow](db, `SELECT * FROM receipts ORDER BY created_at DESC, id DESC`)
	if err != nil {
		return nil, err
	}
	out := []chat.Receipt{}
	for _, r := range rows {
		if receipt, err := r.Receipt(); err == nil {
			out = append(out, receipt)
		}
	}
	return out, nameCopies(db, out)
}

// nameCopies adds the current titles of copies.
func nameCopies(db *gorm.DB, list []chat.Receipt) error {
	var ids []chat.SessionID
	for _, r := range list {
		for _, c := range r.Copies {
			ids = append(ids, c.Session)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	raw, err := chat.MarshalJSON(ids)
	if err != nil {
		return err
	}
	rows, err := sqlite.All[struct {
		ID    chat.SessionID
		Title string
	}](db, `SELECT s.id, s.title FROM json_each(?) j CROSS JOIN sessions s ON s.id = j.value`, string(raw))
	titles := map[chat.SessionID]string{}
	for _, r := range rows {
		titles[r.ID] = r.Title
	}
	for _, r := range list {
		for i := range r.Copies {
			title, exists := titles[r.Copies[i].Session]
			r.Copies[i].Title, r.Copies[i].Gone = title, !exists
		}
	}
	return err
}
