package store

import (
	"encoding/json"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

type receiptRow struct {
	ID          string
	Subject     string // kind and id
	CreatedAt   string
	CountsJSON  string
	BackupsJSON string
}

func (receiptRow) TableName() string { return "receipts" }

// receiptCounts is counts_json.
type receiptCounts struct {
	Erased  []chat.Erased  `json:"erased"`
	Pending *unfinishedEnd `json:"pending,omitempty"`
}

// unfinishedEnd is what a hard delete has still to do after its transaction.
type unfinishedEnd struct {
	Files   []string `json:"files"`   // below the data directory, to be removed
	Folders []string `json:"folders"` // likewise, with what is in them
}

func (r receiptRow) receipt() (chat.Receipt, error) {
	kind, id, _ := strings.Cut(r.Subject, " ")
	out := chat.Receipt{ID: r.ID, Kind: kind, Subject: id, At: moment(r.CreatedAt)}
	var counts receiptCounts
	if err := json.Unmarshal([]byte(r.CountsJSON), &counts); err != nil {
		return out, sqlite.CorruptRecord("receipts", r.ID, err)
	}
	out.Erased = counts.Erased
	if err := json.Unmarshal([]byte(r.BackupsJSON), &out.Backups); err != nil {
		return out, sqlite.CorruptRecord("receipts", r.ID, err)
	}
	return out, nil
}

// pending is what is still to be done; false: nothing.
func (r receiptRow) pending() (end unfinishedEnd, ok bool, err error) {
	var counts receiptCounts
	if err := json.Unmarshal([]byte(r.CountsJSON), &counts); err != nil {
		return end, false, sqlite.CorruptRecord("receipts", r.ID, err)
	}
	if counts.Pending == nil {
		return end, false, nil
	}
	return *counts.Pending, true, nil
}

func receiptsOf(db *gorm.DB) ([]chat.Receipt, error) {
	rows, err := sqlite.All[receiptRow](db, `SELECT * FROM receipts ORDER BY created_at DESC, id DESC`)
	out := []chat.Receipt{}
	for _, r := range rows {
		if receipt, err := r.receipt(); err == nil {
			out = append(out, receipt)
		}
	}
	return out, err
}
