package ledger

import (
	"encoding/json"

	"contextinfinity/backend/chat"
)

// Events about range summaries, token counts of models, and permanent deletions.
const (
	EventSummaryCreated    Type = "summary_created"
	EventSummarySuperseded Type = "summary_superseded"
	EventCalibrationSet    Type = "calibration_set"
	EventContentDeleted    Type = "content_erased"
)

var historyKinds = map[Type]reducer{
	EventSummaryCreated:    reducing((*State).summaryCreated),
	EventSummarySuperseded: reducing((*State).summarySuperseded),
	EventCalibrationSet:    reducing((*State).calibrationSet),
	EventContentDeleted:    reducing((*State).contentDeleted),
}

// Payloads.
type (
	SummaryCreated struct {
		BranchID       chat.BranchID `json:"branch_id"`
		From           int64         `json:"from_seq"`
		To             int64         `json:"to_seq"`
		Content        string        `json:"content"`
		Tokens         int           `json:"token_count"`
		OriginalTokens int           `json:"original_tokens"`
		GeneratedBy    string        `json:"generated_by"`
		// Validation is omitted if there is none, as in earlier versions.
		Validation json.RawMessage `json:"validation,omitempty"`
	}
	SummarySuperseded struct {
		By string `json:"superseded_by"`
	}
	CalibrationSet struct {
		Provider string  `json:"provider"`
		ModelID  string  `json:"model_id"`
		Factor   float64 `json:"factor"`
		Samples  int     `json:"samples"`
		Revision int64   `json:"revision"` // number of changes of this model's factor
	}
)

// Records.
type (
	Summary struct {
		BranchID       string `json:"branch_id"`
		From           int64  `json:"from_seq"`
		To             int64  `json:"to_seq"`
		Tokens         int    `json:"token_count"`
		OriginalTokens int    `json:"original_tokens"`
		GeneratedBy    string `json:"generated_by"`
		SupersededBy   string `json:"superseded_by"`
		CreatedAt      string `json:"created_at"`
		Content        Sum    `json:"content"`
		Validation     Sum    `json:"validation,omitempty"`
	}
	Calibration struct {
		Factor   float64 `json:"factor"`
		Samples  int     `json:"samples"`
		Revision int64   `json:"revision"`
	}
)

func (s *State) summaryCreated(e Event, p SummaryCreated) error {
	s.Summaries[e.Entity] = &Summary{
		BranchID: string(p.BranchID), From: p.From, To: p.To, Tokens: p.Tokens, OriginalTokens: p.OriginalTokens,
		GeneratedBy: p.GeneratedBy, CreatedAt: e.CreatedAt, Content: SumOfText(p.Content), Validation: SumOfRaw(p.Validation),
	}
	return nil
}

func (s *State) summarySuperseded(e Event, p SummarySuperseded) error {
	return update(s.Summaries, e.Entity, func(r *Summary) { r.SupersededBy = p.By })
}

func (s *State) calibrationSet(_ Event, p CalibrationSet) error {
	s.Calibrations[p.Provider+"/"+p.ModelID] = &Calibration{Factor: p.Factor, Samples: p.Samples, Revision: p.Revision}
	return nil
}
