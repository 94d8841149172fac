package schema

import "contextinfinity/backend/ledger"

func (r PinRow) ToLedgerRecord() *ledger.Pin {
	return &ledger.Pin{
		BranchID: r.BranchID, AfterTurn: r.AfterTurnSeq, Replaces: Text(r.Replaces), Removed: r.Removed,
		Tokens: r.Tokens, CreatedAt: r.CreatedAt, Text: ledger.SumOfText(r.Text),
	}
}

type PinRow struct {
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

func (PinRow) TableName() string { return "pins" }

type PinOrderRow struct {
	ID           string
	SessionID    string
	BranchID     string
	AfterTurnSeq int64
	CreatedAt    string
	PinsJSON     string
}

func (PinOrderRow) TableName() string { return "pin_orders" }
