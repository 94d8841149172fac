package store

import "contextinfinity/backend/ledger"

func (r pinRow) toLedgerRecord() *ledger.Pin {
	return &ledger.Pin{BranchID: r.BranchID, AfterTurn: r.AfterTurnSeq, Replaces: text(r.Replaces), Removed: r.Removed,
		Tokens: r.Tokens, CreatedAt: r.CreatedAt, Text: ledger.SumOfText(r.Text)}
}

type pinRow struct {
	ID           string
	SessionID    string
	BranchID     string
	AfterTurnSeq int64
	Replaces     *string
	Removed      bool
	Tokens       int
	CreatedAt    string
	ContentHash  []byte
	Text         string
}

func (pinRow) TableName() string { return "pins" }

type pinOrderRow struct {
	ID           string
	SessionID    string
	BranchID     string
	AfterTurnSeq int64
	CreatedAt    string
	PinsJSON     string
}

func (pinOrderRow) TableName() string { return "pin_orders" }
