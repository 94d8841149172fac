package chat

import "time"

// FindQuery looks for a text in the turns of a branch's lineage.
type FindQuery struct {
	Branch    BranchID
	Text      string
	MatchCase bool
	Limit     int // turns; 0: all
}

// Found is where a text was found, oldest first.
type Found struct {
	Turns     []FoundTurn
	Total     int // occurrences, in all turns
	Truncated bool
}

// FoundTurn is a turn that holds the text.
type FoundTurn struct {
	Turn  TurnID
	Seq   int64
	Count int
	First string // the words around the first occurrence, on one line
	Spans []Span // of the text in First
}

// TextQuery asks sessions for words. The last word of Text may be the beginning of
// one; what is in quotes is looked for as it is.
type TextQuery struct {
	Text         string
	Session      SessionID
	Role         Role
	Since, Until time.Time // of the turn: [Since, Until)
	Archived     bool      // archived sessions too
}

// TextResult is what a TextQuery found.
type TextResult struct {
	Hits      []TextHit             // best first
	Titles    map[SessionID][]Span  // sessions whose title matches, and where
	Sessions  map[SessionID]Session // those of Titles and Hits
	Truncated bool                  // there are more
}

// TextHit is a message that was found.
type TextHit struct {
	Turn        TurnID
	Session     SessionID
	Seq         int64
	Role        Role
	At          time.Time
	Branch      BranchID // one that shows the turn: the active one, if it does
	BranchLabel string
	Snippet     string // the words around the find, on one line
	Spans       []Span // of the finds in Snippet
	Score       float64
}

// MeasureQuery asks for what was measured of the newest turns: of a branch's lineage,
// else of a session, else of all.
type MeasureQuery struct {
	Branch  BranchID
	Session SessionID
	Limit   int
}

// Duplicate is a session that holds a copy of a branch's lineage.
type Duplicate struct {
	Session Session
	Turns   int
	LeftOut int // turns that are still open
}
