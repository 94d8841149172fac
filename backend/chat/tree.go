package chat

import "time"

// Folder is a name that sessions are kept under.
type Folder struct {
	Name     string `json:"name"`
	Sessions int    `json:"sessions"`
}

// Tree is a session's branches as runs of turns. A run ends where something forks
// off and where its branch ends; it is before what goes on from it, siblings
// oldest first.
type Tree struct {
	Session  Session
	Runs     []TreeRun
	Branches []BranchSummary // archived ones too, oldest first
}

// TreeRun are turns From to To of one branch, inclusive; a branch without turns of its
// own is an empty run, To is From-1.
type TreeRun struct {
	Parent  int // index of the run that this one continues from; -1: none
	Branch  BranchID
	From    int64
	To      int64
	First   TreeTurn
	Last    TreeTurn
	Ends    bool // here its branch ends
	Pending int
	Open    int // incomplete, failed or unsent; those that were discarded are not
}

// TreeTurn is what the tree shows of a turn.
type TreeTurn struct {
	Turn  Turn // without messages
	Title string
}

// Own is how many turns are the branch's own.
func (b BranchSummary) Own() int { return b.Turns - int(b.ForkSeq) }

// BranchesApart is where two branches of a session part.
type BranchesApart struct {
	Shared int64  // turn_seq of the last turn both have; 0: none
	Last   TurnID // that turn
}

// UsageQuery says whose tokens are added up.
type UsageQuery struct {
	Session SessionID // empty: of all
	Since   time.Time // turns that began then or later; zero: all
}

// ModelUsage is what the turns of one model used together.
type ModelUsage struct {
	Model string
	Turns int
	Usage Usage
}

// TurnMeasure is a turn's metrics with what it belongs to.
type TurnMeasure struct {
	TurnMetricsRow
	Session SessionID
	Title   string // of the session
	Model   string
	At      time.Time
}
