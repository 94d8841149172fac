package api

// BranchTree is a session's branches as runs of turns: a run ends at each fork and at the end of its branch, so that
// a tree of a thousand turns is drawn as its forks. Runs are listed parents first, siblings oldest first.
type BranchTree struct {
	Rev       int64        `json:"rev"`
	SessionID string       `json:"sessionId"`
	Active    string       `json:"active"`
	Turns     int          `json:"turns"` // of all branches
	Runs      []TreeRun    `json:"runs"`
	Branches  []TreeBranch `json:"branches"` // including archived ones, oldest first
}

// TreeRun is a run of turns of one branch, FromSeq to ToSeq, inclusive. A branch without turns of its own is an empty
// run: ToSeq is FromSeq-1 and its turns are "".
type TreeRun struct {
	ID        string    `json:"id"`     // id of its first turn, or of its branch if it is empty
	Parent    string    `json:"parent"` // the run it continues from; empty at a root
	BranchID  string    `json:"branchId"`
	FromSeq   int64     `json:"fromSeq"`
	ToSeq     int64     `json:"toSeq"`
	FirstTurn string    `json:"firstTurn"`
	LastTurn  string    `json:"lastTurn"`
	First     string    `json:"first"`   // first words of the first turn's message
	Last      string    `json:"last"`    // first words of the last turn's message; empty if it is the first
	Ends      bool      `json:"ends"`    // its branch ends here
	HeadSeq   int64     `json:"headSeq"` // state_seq of a head here; 0: none
	Pending   int       `json:"pending"`
	Open      int       `json:"open"`  // incomplete, failed or unsent turns
	State     TurnState `json:"state"` // of its last turn, as in TurnView
	UpdatedAt int64     `json:"updatedAt"`
	// FirstDeleted says that the content of the first turn was permanently deleted: First is only the mark in its place.
	FirstDeleted bool `json:"firstDeleted"`
	// LastDeleted says the same of the last turn, also if it is the first.
	LastDeleted bool `json:"lastDeleted"`
}

// Landmark is a turn within a long run, for orientation.
type Landmark struct {
	TurnID string `json:"turnId"`
	Seq    int64  `json:"seq"`
	Title  string `json:"title"` // first words of its message
	// Deleted says that its content was permanently deleted: Title is only the mark in its place.
	Deleted bool `json:"deleted"`
}

// TreeBranch is a branch in the tree, the switcher and comparisons.
type TreeBranch struct {
	ID          string `json:"id"`
	Label       string `json:"label"`
	ParentID    string `json:"parentId"`
	ForkSeq     int64  `json:"forkSeq"`
	Turns       int    `json:"turns"` // of its lineage
	Own         int    `json:"own"`   // its own turns
	Pending     int    `json:"pending"`
	HeadSeq     int64  `json:"headSeq"` // state_seq of the head
	HeadShortID string `json:"headShortId"`
	Archived    bool   `json:"archived"`
	Active      bool   `json:"active"`
	CreatedAt   int64  `json:"createdAt"`
	UpdatedAt   int64  `json:"updatedAt"`
	Machine     string `json:"machine"`   // on which it began; empty: not known
	Continues   string `json:"continues"` // the branch of another device that it continues; empty: none
}

// BranchComparison is a comparison of two branches of a session from where they diverge.
type BranchComparison struct {
	Shared   int        `json:"shared"`   // number of shared turns
	LastTurn string     `json:"lastTurn"` // the last of them; empty for none
	Left     BranchSide `json:"left"`
	Right    BranchSide `json:"right"`
}

// BranchSide is the part of a compared branch that the other lacks.
type BranchSide struct {
	Branch  TreeBranch `json:"branch"`
	FromSeq int64      `json:"fromSeq"` // of its first turn after diverging; 0: none
	ToSeq   int64      `json:"toSeq"`
	Turns   []TurnView `json:"turns"` // the first hundred; the others from Sessions.Turns
	Summary string     `json:"summary"`
	Pins    []PinView  `json:"pins"`
}

// AnswerSet has the answers of several models to one message, each on its branch.
type AnswerSet struct {
	Rev     int64          `json:"rev"`
	Seq     int64          `json:"seq"`  // of the message
	User    []BlockView    `json:"user"` // the message
	Columns []AnswerColumn `json:"columns"`
}

// AnswerColumn is one answer of an AnswerSet.
type AnswerColumn struct {
	BranchID string   `json:"branchId"`
	Label    string   `json:"label"`
	Active   bool     `json:"active"` // the session's active branch
	Later    int      `json:"later"`  // later turns on its branch
	Turn     TurnView `json:"turn"`
}

// SentToSeveral is the result of sending a message to several models. Problems say why some of them were not called.
type SentToSeveral struct {
	First    SendResult  `json:"first"`
	Problems []ErrorView `json:"problems"`
}
