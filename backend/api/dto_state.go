package api

import "contextinfinity/backend/chat"

// PendingView is one uncommitted turn in the Pending tab.
type PendingView struct {
	TurnID    string      `json:"turnId"`
	Seq       int64       `json:"seq"`
	Title     string      `json:"title"` // first words of the user's message
	Tokens    int         `json:"tokens"`
	Reason    string      `json:"reason"` // why it is pending
	WaitsFor  chat.Phrase `json:"waitsFor"`
	InContext bool        `json:"inContext"` // the next context contains it
	LeftOut   bool        `json:"leftOut"`   // it does not fit in the next context; neither: that context cannot be assembled
	Job       JobView     `json:"job"`
	CreatedAt int64       `json:"createdAt"`
}

// StateView is a committed state in the State tab.
type StateView struct {
	ID        string           `json:"id"`
	ShortID   string           `json:"shortId"`
	Seq       int64            `json:"seq"`
	Origin    chat.StateOrigin `json:"origin"`
	Model     string           `json:"model"`
	Summary   string           `json:"summary"` // Markdown
	Tokens    int              `json:"tokens"`
	CreatedAt int64            `json:"createdAt"`
	Head      bool             `json:"head"`
	TurnSeq   int64            `json:"turnSeq"` // last turn it covers, 0 for the root
	// Validation is the librarian's report as JSON: what was found, kept, missing, the number of tries, why the
	// fallback was used.
	Validation string `json:"validation"`
}

// PinView is a pinned fact.
type PinView struct {
	ID        string `json:"id"`
	Text      string `json:"text"`
	Position  int    `json:"position"`
	Tokens    int    `json:"tokens"`
	Version   int    `json:"version"`
	CreatedAt int64  `json:"createdAt"`
	Inherited bool   `json:"inherited"` // made on an ancestor branch before the fork
}

// PinSuggestion is a user's standing instruction that could be pinned. Its id includes the branch for which it is
// suggested.
type PinSuggestion struct {
	ID      string `json:"id"`
	TurnID  string `json:"turnId"`
	TurnSeq int64  `json:"turnSeq"`
	Text    string `json:"text"`
}

// RangeView is a range summary in the State tab, beside the turns it covers.
type RangeView struct {
	ID             string `json:"id"`
	FromSeq        int64  `json:"fromSeq"`
	ToSeq          int64  `json:"toSeq"` // the last turn it covers
	Tokens         int    `json:"tokens"`
	OriginalTokens int    `json:"originalTokens"`
	By             string `json:"by"` // a model id, or "extract"
	Content        string `json:"content"`
	// Validation is the librarian's report as JSON, as for a state summary; empty if no model was called.
	Validation string `json:"validation"`
	Orphan     bool   `json:"orphan"` // superseded, kept
	InUse      bool   `json:"inUse"`  // the next context contains it
	CreatedAt  int64  `json:"createdAt"`
}

// StatePanel is the State tab.
type StatePanel struct {
	Head      StateView   `json:"head"`
	History   []StateView `json:"history"` // newest first, including the head, with their stored sizes
	Ranges    []RangeView `json:"ranges"`  // oldest first, orphans last
	Cut       int64       `json:"cut"`     // turns up to this number are sent as summaries or extracts; 0: none
	Pins      []PinView   `json:"pins"`
	PinTokens int         `json:"pinTokens"`
}
