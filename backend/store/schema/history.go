package schema

import "contextinfinity/backend/ledger"

type CalibrationRow struct {
	Provider  string
	ModelID   string
	Factor    float64
	Samples   int
	UpdatedAt string
	Mean      float64
	Revision  int64
}

func (r RangeSummaryRow) ToLedgerRecord() *ledger.Summary {
	return &ledger.Summary{
		BranchID: r.BranchID, From: r.FromSeq, To: r.ToSeq, Tokens: r.TokenCount, OriginalTokens: r.OriginalTokens,
		GeneratedBy: r.GeneratedBy, SupersededBy: Text(r.SupersededBy), CreatedAt: r.CreatedAt, Content: ledger.SumOfText(r.Content),
		Validation: ledger.SumOfRaw([]byte(Text(r.ValidationJSON))),
	}
}

// LookedUpRow is a turn that the result of a tool call quotes.
type LookedUpRow struct {
	ToolCallID string
	Place      int
	SessionID  string
	TurnID     string
}

func (LookedUpRow) TableName() string { return "tool_recalled" }

type RangeSummaryRow struct {
	ID             string
	SessionID      string
	BranchID       string
	FromSeq        int64
	ToSeq          int64
	TokenCount     int
	OriginalTokens int
	GeneratedBy    string
	SupersededBy   *string
	CreatedAt      string
	ContentHash    []byte
	Content        string
	ValidationJSON *string
}

func (RangeSummaryRow) TableName() string { return "summaries" }
