package chat

import (
	"encoding/json"
	"time"
)

// What follows are the inputs of the store's transactions (SPEC 4; SRD 6.3).

// NewSession describes a session to create. Its first branch is labelled "main"
// and gets a root state.
type NewSession struct {
	Title        string
	SystemPrompt string
	Source       string // "" = "native"
	Folder       string // of a project: the session begins with its model
	// Assistant gives the session its settings; empty: none does.
	Assistant AssistantID
}

// Acceptance is TX-0: the user's message becomes durable, turn_seq advances.
// It is refused with CodeBusy while another turn of the branch runs, and with
// CodeIncomplete while an incomplete or unsent one waits for a decision.
type Acceptance struct {
	BranchID BranchID
	User     Message
	Provider string
	Model    string
	RetryOf  TurnID
	// ClearDraft removes the branch's draft in the same transaction.
	ClearDraft bool
}

// Preparation records what was assembled: Responding may follow.
type Preparation struct {
	TurnID   TurnID
	Manifest json.RawMessage
	Tokens   int
	// Retrieved is what memory the context holds; it replaces what an earlier
	// preparation of the turn recorded.
	Retrieved []Retrieval
	// RetrievalError says why memory was not searched; empty if nothing failed.
	RetrievalError string
}

// StepStart opens one attempt. Index counts steps of the turn from 0 (a
// continuation is the next index); the attempt number is assigned here.
type StepStart struct {
	TurnID     TurnID
	Index      int
	Provider   string
	ModelID    string
	Request    []byte
	ToolsMode  string
	StreamPath func(StepID) string // path relative to the data directory
}

// StepEnd closes an attempt. Status is never StepRunning.
type StepEnd struct {
	StepID         StepID
	Outcome        StepOutcome
	Items          Items
	Usage          *Usage
	DisplayedBytes int64
	DurableBytes   int64
	Response       []byte
	Events         EventSeq
	Packed         EventPack // all of Events, where they are encoded already
	Metrics        StepMetrics
}

// Finalization is TX-A: the answer is final, the step closed, job
// summarize_turn queued, the ledger told; all or nothing.
type Finalization struct {
	TurnID  TurnID
	Step    *StepEnd // nil when every step was closed before (Keep)
	Message Message
	Outcome Outcome
	Usage   *Usage
	Metrics TurnMetrics
	// Unanswered are results for the calls that have none, so that no call of a final answer
	// is without one. What had not begun is recorded as not run.
	Unanswered []CallEnd
}

// Interruption leaves a turn Responding and incomplete: there is text, and the
// user decides.
type Interruption struct {
	TurnID  TurnID
	Step    *StepEnd
	Failure *Failure
	Usage   *Usage
}

// TurnFailure ends a turn as Failed. Outcome is OutcomeFailed or OutcomeDiscarded.
type TurnFailure struct {
	TurnID  TurnID
	Step    *StepEnd
	Outcome Outcome
	Failure *Failure
	Metrics TurnMetrics
}

// Commit is TX-B: a new state over a run of pending turns, the head moved by
// compare-and-swap on Epoch, index_turn queued for each. Turns must be the
// oldest pending ones of the branch, in order. A stale Epoch is CodeConflict.
type Commit struct {
	BranchID    BranchID
	Epoch       int64
	Turns       []TurnID
	Summary     string
	PinnedFacts string
	TokenCount  int
	Origin      StateOrigin
	Model       string
	Validation  json.RawMessage
	// Job is completed in the same transaction, which is refused if it is held no more.
	Job         Lease
	SummarizeMs int64
	Retitle     Retitle
}

// Retitle gives a session the title that a model made of its first turns, if it still has
// the one made of its first message. With an empty To nothing changes.
type Retitle struct{ From, To string }

// Indexing is TX-C: chunks and units, the text index, vectors, phase Indexed and
// Done. What is already there by (turn, type, hash, version) is not inserted again.
// With status IndexNone the chunks are stored and found by their words, and the turn
// stays StateCommitted: its vectors could not be made yet.
type Indexing struct {
	TurnID TurnID
	Chunks []Chunk
	Status IndexStatus
	// Vectors are those of the chunks' units, by namespace, in the units' order
	// (chunk after chunk). They are refused where the count does not match.
	Vectors map[int64][][]float32
	// Job is completed in the same transaction, unless the status is IndexNone; it is
	// refused if the job is held no more.
	Job     Lease
	IndexMs int64
	EmbedMs int64
}

// StepMetrics are measured per provider call (SRD 15.1); times in milliseconds.
type StepMetrics struct {
	FirstByteMs int64 `json:"first_byte_ms"`
	StreamMs    int64 `json:"stream_ms"`
	Deltas      int64 `json:"deltas"`
}

// TurnMetrics are measured per turn (SRD 15.1); times in milliseconds.
type TurnMetrics struct {
	EstimateTokens int   `json:"estimate_tokens"`
	SearchMs       int64 `json:"search_ms"`
	EmbedMs        int64 `json:"embed_ms"`
	AssembleMs     int64 `json:"assemble_ms"`
	StreamMs       int64 `json:"stream_ms"`
	SummarizeMs    int64 `json:"summarize_ms"`
	IndexMs        int64 `json:"index_ms"`
	Candidates     int   `json:"candidates"`
	Selected       int   `json:"selected"`
	PackedTokens   int   `json:"packed_tokens"`
	Attempts       int   `json:"attempts"`
	// The outcome of the state's summary by a model, and how often the model was asked; empty
	// where none was.
	ValidationResult CheckResult `json:"validation_result,omitempty"`
	ValidationTries  int         `json:"validation_tries"`
	// The range of calibrated similarity of what was selected; 0 where no vector found it.
	SimilarityMin float64 `json:"similarity_min,omitempty"`
	SimilarityMax float64 `json:"similarity_max,omitempty"`
	// RetrievalFailed: memory could not be searched; the manifest says why.
	RetrievalFailed bool `json:"retrieval_failed,omitempty"`
	// RetrievalError is why, of the context that was prepared last; empty if that has its memory.
	RetrievalError string `json:"retrieval_error,omitempty"`
}

// ForkPoint says where a branch starts: after the last turn it shares, or before
// the first when After is empty.
type ForkPoint struct {
	SessionID SessionID
	Branch    BranchID // whose lineage is shared
	After     TurnID
	Label     string
	Activate  bool
	// Fallback is the branch's first state where one state committed turns on both
	// sides of the fork point (SPEC 4); unused where the base covers all before it.
	Fallback *ForkState
}

// ForkState is a deterministic summary of the turns a fork's base leaves out.
type ForkState struct {
	Summary     string
	PinnedFacts string
	TokenCount  int
}

// Cut is a lineage as a branch would see it that forked off after a turn.
type Cut struct {
	Branch BranchID // whose lineage is cut
	Seq    int64    // turn_seq of the last turn; 0: before the first
	Head   State    // as that branch's would be
}

// Draft is a branch's unsent text, kept across restarts.
type Draft struct {
	BranchID  BranchID  `json:"branch_id"`
	Message   Message   `json:"message"`
	Queued    bool      `json:"queued"` // send it when the running turn is final
	UpdatedAt time.Time `json:"updated_at"`
}
