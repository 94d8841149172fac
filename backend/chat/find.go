package chat

import "time"

// FindQuery searches the turns of a branch's lineage for a text.
type FindQuery struct {
	Branch    BranchID
	Text      string
	MatchCase bool
	Limit     int // turns; 0: all
}

// Found are the matches, oldest first.
type Found struct {
	Turns     []FoundTurn
	Total     int // occurrences, in all turns
	Truncated bool
}

// FoundTurn is a turn that contains the text.
type FoundTurn struct {
	Turn  TurnID
	Seq   int64
	Count int
	First string // the text around the first occurrence, on one line
	Spans []Span // of the text in First
}

// TextQuery searches sessions for words. The last word of Text may be a prefix; a quoted phrase must match exactly.
type TextQuery struct {
	Text         string
	Session      SessionID
	Role         Role
	Since, Until time.Time // time of the turn: [Since, Until)
	Archived     bool      // include archived sessions
}

// TextResult is the result of a TextQuery.
type TextResult struct {
	Hits      []TextHit             // best first
	Titles    map[SessionID][]Span  // sessions with a matching title, and the matches
	Sessions  map[SessionID]Session // those of Titles and Hits
	Truncated bool                  // there are more results
}

// TextHit is a matching message.
type TextHit struct {
	Turn        TurnID
	Session     SessionID
	Seq         int64
	Role        Role
	At          time.Time
	Branch      BranchID // a branch that shows the turn, if possible the active one
	BranchLabel string
	Snippet     string // the text around the matches, on one line
	Spans       []Span // the matches in Snippet
	Score       float64
}

// MeasureQuery selects the metrics of the newest turns: of a branch's lineage, otherwise of a session, otherwise of
// all.
type MeasureQuery struct {
	Branch  BranchID
	Session SessionID
	Limit   int
}

// Duplicate is a session that is a copy of a branch's lineage.
type Duplicate struct {
	Session Session
	Turns   int
	LeftOut int // turns that were still open
}
