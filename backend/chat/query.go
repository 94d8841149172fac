package chat

import "time"

// SessionQuery selects sessions for the list; zero Limit means all.
type SessionQuery struct {
	ID       SessionID // only this one, archived or not; empty: all
	Archived bool
	Title    string // substring, case-insensitive; empty: all
	Limit    int
	Offset   int
}

// SessionSummary is a session as shown in the list.
type SessionSummary struct {
	Session
	Branches    int     `json:"branches"`
	Turns       int     `json:"turns"`   // lineage of the active branch
	Pending     int     `json:"pending"` // of the active branch
	LastPhase   Phase   `json:"last_phase,omitempty"`
	LastOutcome Outcome `json:"last_outcome,omitempty"`
	// Unanswered: the newest turn is a message that had no answer where it was imported from; nothing failed.
	Unanswered  bool `json:"unanswered,omitempty"`
	Interrupted bool `json:"interrupted,omitempty"` // the newest answer is neither final nor being written: its process ended
}

// BranchSummary is a branch as shown in the switcher.
type BranchSummary struct {
	Branch
	ForkSeq   int64     `json:"fork_seq"` // turn_seq after which it forked, 0 if none
	Turns     int       `json:"turns"`    // of its lineage
	Pending   int       `json:"pending"`
	LastSeq   int64     `json:"last_seq"`      // turn_seq of the newest turn of its lineage
	Covers    int64     `json:"head_turn_seq"` // turn_seq of the last turn covered by its head, as shown to people
	UpdatedAt time.Time `json:"updated_at"`
	On        string    `json:"-"` // the machine on which it began, as far as it is known here
	Foreign   bool      `json:"-"` // its open turns are finished on another device
}

// LineageQuery selects turns of a branch's lineage by turn_seq, inclusive; a zero bound is open. With Limit, Newest
// selects the end to keep. The result is always in turn_seq order.
type LineageQuery struct {
	Branch  BranchID
	FromSeq int64
	ToSeq   int64
	Limit   int
	Newest  bool
}

// JobQuery selects jobs, newest first; zero fields do not filter.
type JobQuery struct {
	State   JobState
	Type    JobType
	Session SessionID
	Limit   int
}

// TurnMetricsRow is a turn's stored metrics.
type TurnMetricsRow struct {
	TurnID    TurnID      `json:"turn_id"`
	TurnSeq   int64       `json:"turn_seq"`
	Usage     Usage       `json:"usage"`
	Metrics   TurnMetrics `json:"metrics"`
	FirstByte int64       `json:"first_byte_ms"`
}

// Finding is a problem found by verify, with the record's name.
type Finding struct {
	Kind    string `json:"kind"`
	Table   string `json:"table"`
	ID      string `json:"id"`
	Message string `json:"message"`
}

// Frame is a piece of a running stream, as sent to the window (SPEC 5): at most one per 16 ms per stream. Seq counts
// the frames of one step from 1; Text is appended to block Block of the turn's answer. A frame with empty Text only
// updates the counters. Displayed and Durable are bytes of visible text.
type Frame struct {
	Session    SessionID `json:"session"`
	Branch     BranchID  `json:"branch"`
	Turn       TurnID    `json:"turn"`
	Step       StepID    `json:"step"`
	Attempt    int       `json:"attempt"`
	Seq        int64     `json:"seq"`
	Block      int       `json:"block"`
	Kind       string    `json:"kind"`
	Text       string    `json:"text"`
	Tool       string    `json:"tool,omitempty"` // name, on a tool block
	Displayed  int64     `json:"displayed"`
	Durable    int64     `json:"durable"`
	JournalSeq int64     `json:"journal_seq"`
}

// Change says that something has changed and should be loaded again. It is published only after its transaction has
// committed.
type Change struct {
	Kind    ChangeKind
	ID      string
	Session SessionID
}

// ChangeKind is the kind of a change. The list is closed.
type ChangeKind string

const (
	ChangeSessions ChangeKind = "sessions" // the list
	ChangeSession  ChangeKind = "session"  // title, branches, active branch
	ChangeTurn     ChangeKind = "turn"     // created or changed
	ChangeHead     ChangeKind = "head"     // ID is the branch
	ChangeJobs     ChangeKind = "jobs"
	ChangePins     ChangeKind = "pins"  // ID is the branch
	ChangeDraft    ChangeKind = "draft" // ID is the branch
	ChangeQueue    ChangeKind = "queue" // messages that wait to be sent; ID is the branch
	ChangeSettings ChangeKind = "settings"
	ChangeRecovery ChangeKind = "recovery"
	ChangeReindex  ChangeKind = "reindex"  // vectors are being made again; ID is "done/total"
	ChangeTask     ChangeKind = "task"     // a task
	ChangeTools    ChangeKind = "tools"    // the offered tools, or decisions about them
	ChangeCall     ChangeKind = "call"     // a tool call; ID is the call's, Session its session
	ChangeServers  ChangeKind = "servers"  // the state of an MCP server; ID is its name
	ChangePrograms ChangeKind = "programs" // other programs that use this memory
	ChangeProjects ChangeKind = "projects" // projects and their files
	ChangeLibrary  ChangeKind = "library"  // assistants and saved prompts
	ChangeVault    ChangeKind = "vault"    // an exchange with other devices began, progressed or ended
)
