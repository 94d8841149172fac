package chat

import (
	"errors"
	"time"
)

// ChunkType is the kind of a chunk's content (SRD 5.8).
type ChunkType string

const (
	ChunkCode        ChunkType = "code"
	ChunkExplanation ChunkType = "explanation"
	ChunkDecision    ChunkType = "decision"
	ChunkUserContext ChunkType = "user_context"
	ChunkToolResult  ChunkType = "tool_result"
	ChunkOther       ChunkType = "other"
)

// Chunk is an immutable slice of one message of a turn, or of a document attached to it. Start and End are byte
// offsets into that message's rendered text, or the document's.
type Chunk struct {
	ID          ChunkID   `json:"chunk_id"`
	SessionID   SessionID `json:"session_id"`
	BranchID    BranchID  `json:"branch_id"`
	SourceTurn  TurnID    `json:"source_turn"`
	File        FileID    `json:"file_id,omitempty"`
	Ordinal     int       `json:"ordinal"`
	Role        Role      `json:"role"`
	Start       int       `json:"start"`
	End         int       `json:"end"`
	Text        string    `json:"rendered_text"`
	Summary     string    `json:"summary"`
	Type        ChunkType `json:"chunk_type"`
	Tokens      int       `json:"token_est"`
	ContentHash string    `json:"content_hash"`
	Version     int       `json:"chunker_version"`
	Units       []Unit    `json:"units,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
}

// Unit is the item that the index scores: a span of one message within a turn.
type Unit struct {
	ID      UnitID `json:"unit_id"`
	Ordinal int    `json:"ordinal"`
	Role    Role   `json:"message"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Tokens  int    `json:"tokens"` // of its text
	Text    string `json:"text"`   // as indexed: date and speaker first, then its text
}

// Indexed is the unit's text with the length of its own part.
func (u Unit) Indexed() UnitText { return UnitText{Text: u.Text, Own: u.End - u.Start} }

// JobType is a kind of durable background work.
type JobType string

const (
	JobSummarizeTurn JobType = "summarize_turn"
	JobIndexTurn     JobType = "index_turn"
	// JobSummarizeChunks writes the librarian's summaries of a turn's long chunks (librarian.chunk_summaries).
	JobSummarizeChunks JobType = "summarize_chunks"
)

// JobState is the state of a job.
type JobState string

const (
	JobQueued  JobState = "queued"
	JobRunning JobState = "running"
	JobDone    JobState = "done"
	JobFailed  JobState = "dead" // failed after 8 tries; can be retried by hand
)

// MaxJobAttempts is the number of tries after which a job counts as failed (SPEC 11).
const MaxJobAttempts = 8

// MaxJobPause is the longest pause before a try: a job due later than that was scheduled by a clock that has been set
// back since.
const MaxJobPause = 10 * time.Minute

// MaxJobLease is the longest time that a job is leased without renewal.
const MaxJobLease = 5 * time.Minute

// Lease is a worker's right to one attempt at a job: no other attempt has its claim number. Writes of a worker that has
// lost its lease are refused with an error for which LeaseLost is true. Writes with the zero Lease belong to no job and
// are never refused for this reason.
type Lease struct {
	Job   int64
	Claim int64
}

// errLeaseLost marks the errors for which LeaseLost is true.
var errLeaseLost = errors.New("the lease of the job is no longer held")

// LeaseLostError returns the error for a worker that may no longer finish a job.
func LeaseLostError(job int64) *Error {
	return WrapError(CodeConflict, "", errLeaseLost, "Job %d was taken over or ended meanwhile; this attempt changed nothing.", job)
}

// LeaseLost reports whether a worker was refused because it had lost its lease.
func LeaseLost(err error) bool { return errors.Is(err, errLeaseLost) }

// Why returns LastError with its values.
func (j Job) Why() Phrase { return j.Words.As(j.LastError) }

// Job is a row of the durable queue.
type Job struct {
	ID         int64      `json:"job_id"`
	Type       JobType    `json:"job_type"`
	SessionID  SessionID  `json:"session_id,omitempty"`
	BranchID   BranchID   `json:"branch_id,omitempty"`
	TurnID     TurnID     `json:"turn_id,omitempty"`
	State      JobState   `json:"state"`
	Attempts   int        `json:"attempts"`
	Priority   int        `json:"priority"`
	LastError  string     `json:"last_error,omitempty"`
	Words      Phrase     `json:"-"`                   // LastError with its values; zero if it has none
	WaitsFor   int64      `json:"waits_for,omitempty"` // the failed job of an earlier turn, which must be committed first
	Claim      int64      `json:"-"`                   // how often it was claimed
	FromSeq    int64      `json:"from_seq,omitempty"`  // for summarize_range: the range is [FromSeq, turn's seq]
	RunAfter   time.Time  `json:"run_after"`
	LeaseUntil *time.Time `json:"lease_until,omitempty"`
	CreatedAt  time.Time  `json:"created_at"`
	UpdatedAt  time.Time  `json:"updated_at"`
}

// Lease returns the lease obtained by claiming the job.
func (j Job) Lease() Lease { return Lease{Job: j.ID, Claim: j.Claim} }
