package chat

import "time"

// KnownKind is what sort of thing is remembered.
type KnownKind string

const (
	// KnownPin is a pinned fact: it is in every request of its session.
	KnownPin KnownKind = "pin"
	// KnownSuggestion is a standing instruction of a message that is neither pinned nor dismissed.
	KnownSuggestion KnownKind = "suggestion"
	// KnownInstructions are a session's own instructions.
	KnownInstructions KnownKind = "instructions"
	// KnownSummary is the summary that is in a session's requests for what is not sent word for word.
	KnownSummary KnownKind = "summary"
)

// KnownKinds are all of them, in the order in which they are shown.
var KnownKinds = []KnownKind{KnownPin, KnownSuggestion, KnownInstructions, KnownSummary}

// Known is something that is remembered of a session's active branch, with where it comes from.
type Known struct {
	Kind         KnownKind `json:"kind"`
	ID           string    `json:"id"` // of the pin, suggestion or state; of instructions the session's
	SessionID    SessionID `json:"session_id"`
	SessionTitle string    `json:"session_title"`
	Archived     bool      `json:"archived"`
	BranchID     BranchID  `json:"branch_id"`
	TurnID       TurnID    `json:"turn_id"` // it was made after or in; empty: before any
	TurnSeq      int64     `json:"turn_seq"`
	At           time.Time `json:"at"` // zero where nobody knows
	Text         string    `json:"text"`
}

// KnownQuery asks for a page of one kind.
type KnownQuery struct {
	Kind   KnownKind
	Text   string // is in it, without regard to case; empty: all
	Offset int
	Limit  int // 0: 50
}
