package chat

import (
	"encoding/json"
	"time"
)

// The inputs of the store's transactions (SPEC 4; SRD 6.3).

// NewSession describes a session to create. Its first branch is named "main" and gets a root state.
type NewSession struct {
	Title        string
	SystemPrompt string
	Source       string // "": SourceNative
	Folder       string // a project's folder also sets the session's model
	// Assistant provides the session's settings; empty: none.
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
	// Queued is the queued message that becomes this turn; it is removed in the same transaction. Empty: none.
	Queued QueuedID
}

// Preparation records the assembled context: Responding may follow.
type Preparation struct {
	TurnID   TurnID
	Manifest json.RawMessage
	Tokens   int
	// Retrieved is the memory in the context; it replaces the record of an earlier preparation.
	Retrieved []Retrieval
	// RetrievalError says why memory was not searched; zero if nothing failed.
	RetrievalError Phrase
}

// StepStart starts one attempt. Index counts steps of the turn from 0 (a continuation is the next index); the store
// assigns the attempt number.
type StepStart struct {
	TurnID     TurnID
	Index      int
	Provider   string
	ModelID    string
	Request    []byte
	ToolsMode  string
	StreamPath func(StepID) string // path relative to the data directory
}

// StepEnd ends an attempt. Status is never StepRunning.
type StepEnd struct {
	StepID         StepID
	Outcome        StepOutcome
	Items          Items
	Usage          *Usage
	DisplayedBytes int64
	DurableBytes   int64
	Response       []byte
	Events         EventSeq
	Packed         EventPack // all of Events, if they were encoded already
	Metrics        StepMetrics
}

// Finalization is TX-A: the answer is final, the step ended, job summarize_turn queued, the ledger event written; all
// or nothing.
type Finalization struct {
	TurnID  TurnID
	Step    *StepEnd // nil if every step had ended before (Keep)
	Message Message
	Outcome Outcome
	Usage   *Usage
	Metrics TurnMetrics
	// Unanswered are results for the calls that have none, so that every call of a final answer has a result. Calls
	// that had not started are recorded as not run.
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

// Commit is TX-B: a new state summary over a run of pending turns, the head moved by compare-and-swap on Epoch,
// index_turn queued for each. Turns must be the oldest pending ones of the branch, in order. A stale Epoch is
// CodeConflict.
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
	// Job is completed in the same transaction, which fails if its lease was lost.
	Job         Lease
	SummarizeMs int64
	Retitle     Retitle
}

// Retitle sets the title that a model made from a session's first turns, if the session still has the title From, which
// was derived from its first message. With an empty To nothing changes.
type Retitle struct{ From, To string }

// Indexing is TX-C: chunks and units, the text index, vectors, phase Indexed and Done. What exists already by (turn,
// type, hash, version) is not inserted again. With status IndexNone the chunks are stored and searchable by words,
// and the turn stays StateCommitted, because its vectors could not be made yet.
type Indexing struct {
	TurnID TurnID
	Chunks []Chunk
	Status IndexStatus
	// Vectors are those of the chunks' units, by namespace, in the units' order (chunk after chunk). A wrong count is
	// refused.
	Vectors map[int64][][]float32
	// Job is completed in the same transaction, unless the status is IndexNone; the transaction fails if the lease
	// was lost.
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
	// The result of the model's summary of the state, and the number of model calls; empty if there was none.
	ValidationResult CheckResult `json:"validation_result,omitempty"`
	ValidationTries  int         `json:"validation_tries"`
	// The range of calibrated similarity of the selected passages; 0 if none was found by vectors.
	SimilarityMin float64 `json:"similarity_min,omitempty"`
	SimilarityMax float64 `json:"similarity_max,omitempty"`
	// RetrievalFailed: memory could not be searched; the manifest says why.
	RetrievalFailed bool `json:"retrieval_failed,omitempty"`
	// RetrievalError is why, for the last prepared context; empty if that has its memory.
	RetrievalError string `json:"retrieval_error,omitempty"`
	// RetrievalWords is RetrievalError with its values; zero if it has none.
	RetrievalWords Phrase `json:"retrieval_words,omitzero"`
}

// ForkPoint is where a branch starts: after the last turn it shares, or before the first when After is empty.
type ForkPoint struct {
	SessionID SessionID
	Branch    BranchID // whose lineage is shared
	After     TurnID
	Label     string
	Activate  bool
	// KeepPins gives the branch the pins that the lineage has now, instead of those it had at the fork point: it
	// continues the conversation in place of the turns after it.
	KeepPins bool
	// Continues: the branch continues here as Branch, which is another device's. Drafts and queued messages move to it.
	Continues bool
	// Fallback is the branch's first state summary if one state committed turns on both sides of the fork point (SPEC
	// 4); unused if the base covers everything before it.
	Fallback *ForkState
}

// ForkState is a deterministic summary of the turns that a fork's base lacks.
type ForkState struct {
	Summary     string
	PinnedFacts string
	TokenCount  int
}

// Cut is a lineage as seen by a branch that forks off after a turn.
type Cut struct {
	Branch BranchID // whose lineage is cut
	Seq    int64    // turn_seq of the last turn; 0: before the first
	Head   State    // as that branch's head would be
}

// Draft is a branch's unsent text, kept across restarts.
type Draft struct {
	BranchID  BranchID  `json:"branch_id"`
	Message   Message   `json:"message"`
	UpdatedAt time.Time `json:"updated_at"`
}
