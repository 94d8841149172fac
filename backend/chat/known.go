package chat

import "time"

// KnownKind is the kind of something remembered.
type KnownKind string

const (
	// KnownPin is a pinned fact: it is in every request of its session.
	KnownPin KnownKind = "pin"
	// KnownSuggestion is a standing instruction of a message that is neither pinned nor dismissed.
	KnownSuggestion KnownKind = "suggestion"
	// KnownInstructions are a session's own instructions.
	KnownInstructions KnownKind = "instructions"
	// KnownSummary is the summary that represents a session's unsent turns in requests.
	KnownSummary KnownKind = "summary"
)

// KnownKinds are all kinds, in display order.
var KnownKinds = []KnownKind{KnownPin, KnownSuggestion, KnownInstructions, KnownSummary}

// Known is something remembered about a session's active branch, with its origin, or a fact or the instructions of a
// project, which belong to no session.
type Known struct {
	Kind         KnownKind `json:"kind"`
	ID           string    `json:"id"`                // of the pin, suggestion or state; for instructions, of the session or project
	Project      string    `json:"project,omitempty"` // name of the project that it belongs to; empty: the session's own
	SessionID    SessionID `json:"session_id"`
	SessionTitle string    `json:"session_title"`
	Archived     bool      `json:"archived"`
	BranchID     BranchID  `json:"branch_id"`
	TurnID       TurnID    `json:"turn_id"` // created after or in this turn; empty: before any
	TurnSeq      int64     `json:"turn_seq"`
	At           time.Time `json:"at"` // zero: unknown
	Text         string    `json:"text"`
}

// KnownQuery asks for a page of one kind.
type KnownQuery struct {
	Kind   KnownKind
	Text   string // substring, case-insensitive; empty: all
	Offset int
	Limit  int // 0: 50
}
