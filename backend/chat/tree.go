package chat

import "time"

// Folder is a folder of sessions.
type Folder struct {
	Name     string `json:"name"`
	Sessions int    `json:"sessions"`
}

// Tree is a session's branches as runs of turns. A run ends at each fork and at the end of its branch; it precedes
// the runs that continue it, siblings oldest first.
type Tree struct {
	Session  Session
	Runs     []TreeRun
	Branches []BranchSummary // including archived ones, oldest first
}

// TreeRun is turns From to To of one branch, inclusive; a branch without turns of its own is an empty run with To =
// From-1.
type TreeRun struct {
	Parent  int // index of the run that this one continues from; -1: none
	Branch  BranchID
	From    int64
	To      int64
	First   TreeTurn
	Last    TreeTurn
	Ends    bool // its branch ends here
	Pending int
	Open    int // incomplete, failed or unsent, but not discarded
}

// TreeTurn is a turn as shown in the tree.
type TreeTurn struct {
	Turn  Turn // without messages
	Title string
}

// Continued returns the branches of which another one is the continuation on another device, at their end: they have no
// end of their own.
func Continued(all []BranchSummary) map[BranchID]bool {
	ends := make(map[BranchID]int64, len(all))
	for _, b := range all {
		ends[b.ID] = b.LastSeq
	}
	out := map[BranchID]bool{}
	for _, b := range all {
		if b.Continues != "" && b.ArchivedAt == nil && b.ForkSeq == ends[b.Continues] {
			out[b.Continues] = true
		}
	}
	return out
}

// Own returns the number of turns that the branch does not share with its parent.
func (b BranchSummary) Own() int { return b.Turns - int(b.ForkSeq) }

// BranchDivergence is where two branches of a session diverge.
type BranchDivergence struct {
	Shared int64  // turn_seq of the last common turn; 0: none
	Last   TurnID // that turn
}

// UsageQuery selects the turns, or the state and range summaries, whose tokens are summed.
type UsageQuery struct {
	Session SessionID // empty: all
	Since   time.Time // those that began at this time or later; zero: all
}

// ModelUsage is the total usage of turns of one model whose prices have one source, or were not known; for background
// work, of state and range summaries, and Model is the model's id.
type ModelUsage struct {
	Model string
	Turns int
	Usage Usage
}

// TurnMeasure is a turn's metrics with its context.
type TurnMeasure struct {
	TurnMetricsRow
	Session SessionID
	Title   string // of the session
	Model   string
	At      time.Time
}
