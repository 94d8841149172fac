package chat

import (
	"encoding/json"
	"time"
)

// RangeSummary represents the contiguous, half-open range [From, To) of a lineage's turn_seqs (FORGE's Summary). It
// never changes; a better or wider one supersedes it, and both are kept.
type RangeSummary struct {
	ID             string    `json:"summary_id"`
	SessionID      SessionID `json:"session_id"`
	BranchID       BranchID  `json:"branch_id"`
	From           int64     `json:"from_seq"`
	To             int64     `json:"to_seq"`
	Content        string    `json:"content"`
	TokenCount     int       `json:"token_count"`
	OriginalTokens int       `json:"original_tokens"`
	GeneratedBy    string    `json:"generated_by"` // a model id, or "extract"
	SupersededBy   string    `json:"superseded_by,omitempty"`
	// Validation is the librarian's report on how the summary was made; empty if no model was called.
	Validation json.RawMessage `json:"validation,omitempty"`
	CreatedAt  time.Time       `json:"created_at"`
}

// GeneratedByExtract marks a range summary that was not written by a model.
const GeneratedByExtract = "extract"

// NewSummary is a range summary to store. A range of a branch may have one live summary: a second is CodeConflict.
// Supersedes names live ones inside the range.
type NewSummary struct {
	BranchID       BranchID
	From           int64
	To             int64
	Content        string
	TokenCount     int
	OriginalTokens int
	GeneratedBy    string
	Validation     json.RawMessage // JSON, or empty
	Supersedes     []string
	Job            Lease // completed in the same transaction, which fails if the lease was lost
}

// TurnSize is the size of a finalized turn in a prompt, counted in one encoding. Tokens is -1 if it was not counted
// yet.
type TurnSize struct {
	TurnID  TurnID
	Seq     int64
	Tokens  int
	Pending bool
}

// JobSummarizeRange makes a range summary; its TurnID is the last turn of the range, and its Range gives the
// beginning.
const JobSummarizeRange JobType = "summarize_range"

// SessionSettings are a session's own settings; nil and empty mean the default.
type SessionSettings struct {
	SystemPrompt string   `json:"system_prompt"`
	Temperature  *float64 `json:"temperature"`            // 0 to 2
	Effort       string   `json:"effort"`                 // "", minimal, low, medium, high
	ToolsMode    string   `json:"tools_mode,omitempty"`   // one of ToolsModes
	MemoryScope  Scope    `json:"memory_scope,omitempty"` // scope of memory; empty: the project's, else retrieval.scope
	// Assistant is the one from which these settings were copied, with its name at that time; empty: none.
	Assistant     AssistantID `json:"assistant,omitempty"`
	AssistantName string      `json:"assistant_name,omitempty"`
}

// Calibration is the provider's token count relative to the program's own.
type Calibration struct {
	Factor  float64 // in steps of 0.05
	Samples int
	Mean    float64 // of the samples, before rounding
}

// Efforts are the values of SessionSettings.Effort; empty is the provider's default.
var Efforts = []string{"", "minimal", "low", "medium", "high"}
