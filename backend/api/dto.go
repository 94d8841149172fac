// Package api is the window's interface: thin bound services, the shapes they return, and the typed events they
// publish (UX.md, SPEC 5).
//
// Shapes contain only strings, numbers and booleans. Times are Unix milliseconds, sizes bytes, lengths tokens. A failed
// call rejects with an ErrorView as JSON.
package api

import "contextinfinity/backend/chat"

// ErrorView is an error as shown in the window: what happened, what to do.
type ErrorView struct {
	Code    chat.Code   `json:"code"`
	Op      string      `json:"op"`
	Message chat.Phrase `json:"message"`
	Hint    chat.Phrase `json:"hint"`
}

// SessionStatus is the mark of a session in the list.
type SessionStatus string

// Marks, most urgent first.
const (
	SessionStreaming  SessionStatus = "streaming"
	SessionWaiting    SessionStatus = "waiting" // a tool call waits for a decision
	SessionIncomplete SessionStatus = "incomplete"
	SessionUnsent     SessionStatus = "unsent"
	SessionFailed     SessionStatus = "failed"
	SessionPending    SessionStatus = "pending"
	SessionQuiet      SessionStatus = ""
)

// SessionRow is a row of the session list.
type SessionRow struct {
	ID           string        `json:"id"`
	Title        string        `json:"title"`
	ActiveBranch string        `json:"activeBranch"`
	CreatedAt    int64         `json:"createdAt"`
	UpdatedAt    int64         `json:"updatedAt"`
	Pinned       bool          `json:"pinned"`
	Archived     bool          `json:"archived"`
	Folder       string        `json:"folder"`  // empty: none
	LeftOut      int           `json:"leftOut"` // of a duplicate just made: turns still open in the original
	Branches     int           `json:"branches"`
	Turns        int           `json:"turns"`   // of the active branch's lineage
	Pending      int           `json:"pending"` // of the active branch
	Status       SessionStatus `json:"status"`
}

// BranchView is a branch in the switcher.
type BranchView struct {
	ID        string `json:"id"`
	Label     string `json:"label"`
	ParentID  string `json:"parentId"`
	ForkSeq   int64  `json:"forkSeq"` // turn_seq after which it forked; 0 for the first branch or one forked before turn 1
	Turns     int    `json:"turns"`   // of its lineage
	UpdatedAt int64  `json:"updatedAt"`
	Active    bool   `json:"active"`
	Archived  bool   `json:"archived"`
	Machine   string `json:"machine"`   // on which it began; empty: not known
	Continues string `json:"continues"` // the branch of another device that it continues; empty: none
	Foreign   bool   `json:"foreign"`   // its open turns are finished on another device
}

// Header is the window's header (SRD 17.1), for one branch. While a turn streams, frames update its stream cell.
type Header struct {
	SessionID       string `json:"sessionId"`
	SessionTitle    string `json:"sessionTitle"`
	BranchID        string `json:"branchId"`
	BranchLabel     string `json:"branchLabel"`
	HeadSeq         int64  `json:"headSeq"`    // state_seq of the head
	CoveredSeq      int64  `json:"coveredSeq"` // the last turn covered by the head
	HeadShortID     string `json:"headShortId"`
	Pending         int    `json:"pending"`
	TurnID          string `json:"turnId"` // the newest turn; empty before the first
	TurnSeq         int64  `json:"turnSeq"`
	Phase           string `json:"phase"` // of that turn
	Outcome         string `json:"outcome"`
	Displayed       int64  `json:"displayed"` // bytes of the newest step
	Durable         int64  `json:"durable"`
	ContextTokens   int    `json:"contextTokens"`   // of the next request with an empty message, in the model's tokens as below
	ContextRecalled int    `json:"contextRecalled"` // part of contextTokens taken by retrieved memory, which is reduced when necessary
	ContextMemory   int    `json:"contextMemory"`   // the most tokens that memory found for the message can add
	ContextCeiling  int    `json:"contextCeiling"`
	// TokenFactor is how many of the model's tokens one that the program counts is.
	TokenFactor  float64 `json:"tokenFactor"`
	Summaries    int     `json:"summaries"`    // the [2S] of the meter
	Extracts     int     `json:"extracts"`     // its [3E]
	Infinity     bool    `json:"infinity"`     // false: plain chat, context.infinity is off
	ContextState string  `json:"contextState"` // without retrieved memory: "plenty" (under 70 %), "filling" (up to 90), "nearly full"
	Model        string  `json:"model"`
	ModelWindow  int     `json:"modelWindow"`
	ProjectID    string  `json:"projectId"` // of the session's folder; empty: a plain folder, or none
	Project      string  `json:"project"`   // its name
	Scope        string  `json:"scope"`     // scope of memory: lineage, session, project, all
	OwnScope     string  `json:"ownScope"`  // as set for this session; empty: determined by its project or the configuration
}

// BlockKind is the kind of a block.
type BlockKind string

// Kinds of blocks.
const (
	BlockText       BlockKind = "text"
	BlockReasoning  BlockKind = "reasoning"
	BlockRefusal    BlockKind = "refusal"
	BlockToolUse    BlockKind = "tool_use"
	BlockToolResult BlockKind = "tool_result"
	BlockImage      BlockKind = "image"
	BlockDocument   BlockKind = "document"
	BlockMemory     BlockKind = "memory"
	// BlockInstructions are instructions that came with an imported conversation, which are not used.
	BlockInstructions BlockKind = "instructions"
	BlockUnknown      BlockKind = "unknown"
)

// BlockView is a part of a message.
type BlockView struct {
	Kind BlockKind `json:"kind"`
	Text string    `json:"text"` // text; reasoning summary; tool arguments or result; name of an image's file; first words of a memory; raw JSON of an unknown
	Name string    `json:"name"` // tool name; media type of an image; name of a document; provider of an unknown
	ID   string    `json:"id"`   // tool_use_id; file of a document; chunk of a memory
	// Data is an image's data: URL. Remote images are never loaded.
	Data    string `json:"data"`
	IsError bool   `json:"isError"`
	Tokens  int    `json:"tokens"` // of a whole document
	Whole   bool   `json:"whole"`  // the message contains the whole document
	// Memory describes an attached memory: its speaker and time.
	Memory *MemoryChip `json:"memory,omitempty"`
}

// StepView is one attempt of a provider call.
type StepView struct {
	ID             string          `json:"id"`
	Index          int             `json:"index"`
	Attempt        int             `json:"attempt"`
	Provider       string          `json:"provider"`
	ModelID        string          `json:"modelId"`
	Status         chat.StepStatus `json:"status"`
	Reason         string          `json:"reason"`
	Code           string          `json:"code"`
	Message        chat.Phrase     `json:"message"`
	DisplayedBytes int64           `json:"displayedBytes"`
	DurableBytes   int64           `json:"durableBytes"`
	InputTokens    int             `json:"inputTokens"`
	OutputTokens   int             `json:"outputTokens"`
	CachedTokens   int             `json:"cachedTokens"`
	StartedAt      int64           `json:"startedAt"`
	EndedAt        int64           `json:"endedAt"` // 0 while running
}

// TurnState is the state shown in the rail and the footer of a turn.
type TurnState string

// States of turns, in their usual order.
const (
	TurnAccepted   TurnState = "accepted"
	TurnPreparing  TurnState = "preparing"
	TurnResponding TurnState = "responding"
	TurnWaiting    TurnState = "waiting" // for a decision about a tool
	TurnIncomplete TurnState = "incomplete"
	TurnFailed     TurnState = "failed"
	TurnUnsent     TurnState = "unsent"
	TurnUnsaved    TurnState = "unsaved" // the answer is complete and becomes final automatically once it can be saved
	TurnPending    TurnState = "pending"
	TurnCommitted  TurnState = "committed"
	TurnHead       TurnState = "head"
	TurnDegraded   TurnState = "degraded"
	TurnNotKept    TurnState = "not kept" // of a temporary chat: final, but not stored
)

// TurnCost is the cost of a turn.
type TurnCost struct {
	USD      float64 `json:"usd"`      // US dollars
	Estimate bool    `json:"estimate"` // by a price list or the server's price, not by a configured price
	Today    bool    `json:"today"`    // by today's price, because none was stored with the answer
}

// TurnView is a turn of the transcript.
type TurnView struct {
	ID       string       `json:"id"`
	BranchID string       `json:"branchId"`
	Seq      int64        `json:"seq"`
	Phase    chat.Phase   `json:"phase"`
	Outcome  chat.Outcome `json:"outcome"`
	User     []BlockView  `json:"user"`
	// Assistant is the final answer; for an incomplete or failed turn the recovered part; for a streaming turn the text
	// so far (frames after LiveSeq continue it).
	Assistant []BlockView `json:"assistant"`
	State     TurnState   `json:"state"`
	Live      bool        `json:"live"` // a stream runs in this process
	// LiveStep and LiveSeq say where frames continue: take frames of LiveStep with seq > LiveSeq.
	LiveStep     string           `json:"liveStep"`
	LiveSeq      int64            `json:"liveSeq"`
	Displayed    int64            `json:"displayed"`
	Durable      int64            `json:"durable"`
	Model        string           `json:"model"`
	Provider     string           `json:"provider"`
	InputTokens  int              `json:"inputTokens"`
	OutputTokens int              `json:"outputTokens"`
	CachedTokens int              `json:"cachedTokens"`
	DurationMs   int64            `json:"durationMs"`
	Attempts     int              `json:"attempts"`
	RetryOf      string           `json:"retryOf"`
	Error        *ErrorView       `json:"error"`
	IndexStatus  chat.IndexStatus `json:"indexStatus"`
	StateAfter   string           `json:"stateAfter"`
	CreatedAt    int64            `json:"createdAt"`
	UpdatedAt    int64            `json:"updatedAt"`
	// CanContinue: the model can be asked to continue an incomplete or stopped answer.
	CanContinue bool      `json:"canContinue"`
	Cost        *TurnCost `json:"cost"` // null if no price is known
	// Notice is why the received part of the answer cannot be read; empty if it can.
	Notice string `json:"notice"`
	// CutFrom is about how many input tokens were sent, if the server reports (inputTokens) so much less that it may
	// have cut the prompt; otherwise 0.
	CutFrom int `json:"cutFrom"`
	// Calls are its tool calls, in order, without those that were only shown (parse_only).
	Calls []ToolCallView `json:"calls"`
	// Memories is the number of memories the model saw.
	Memories int `json:"memories"`
	// MemoryError says why there were none; empty if nothing failed.
	MemoryError string `json:"memoryError"`
	// DeletedAt is when its content was permanently deleted; 0: never.
	DeletedAt int64 `json:"deletedAt"`
}

// SessionSnapshot is returned when a session is opened: everything for the first paint, and its revision.
type SessionSnapshot struct {
	Rev      int64        `json:"rev"`
	Session  SessionRow   `json:"session"`
	Branches []BranchView `json:"branches"`
	Header   Header       `json:"header"`
	// Turns are the newest of the lineage in order, FirstSeq..LastSeq.
	Turns    []TurnView `json:"turns"`
	FirstSeq int64      `json:"firstSeq"` // lowest turn_seq of the lineage, 0 if empty
	LastSeq  int64      `json:"lastSeq"`
	Draft    Draft      `json:"draft"`
	Queue    QueueView  `json:"queue"`
}

// TurnPage is a range of the lineage.
type TurnPage struct {
	Rev   int64      `json:"rev"`
	Turns []TurnView `json:"turns"`
}

// Draft is a branch's unsent text.
type Draft struct {
	Text     string        `json:"text"`
	Images   []ImageUpload `json:"images"`
	Files    []FileView    `json:"files"`
	Memories []MemoryChip  `json:"memories"`
	// Edit is the message that is being rewritten; the field shows it instead of the draft.
	Edit *DraftEdit `json:"edit,omitempty"`
}

// DraftEdit is the unsent new version of a turn's message.
type DraftEdit struct {
	TurnID   string        `json:"turnId"`
	Seq      int64         `json:"seq"`
	Text     string        `json:"text"`
	Images   []ImageUpload `json:"images"`
	Files    []FileView    `json:"files"`
	Memories []MemoryChip  `json:"memories"`
}

// ImageUpload is a pasted or dropped image.
type ImageUpload struct {
	MediaType string `json:"mediaType"` // image/png, image/jpeg, image/gif, image/webp
	Data      string `json:"data"`      // base64, at most 5 MB decoded
	Name      string `json:"name"`
}

// FileView is a stored document, for a chip.
type FileView struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	MediaType string `json:"mediaType"`
	Tokens    int    `json:"tokens"` // of its text
}

// DocumentView is a document to read.
type DocumentView struct {
	File FileView `json:"file"`
	Text string   `json:"text"`
}

// AttachPart is a piece of an attached document, in order. The first has no Upload; its result provides it for the
// next ones.
type AttachPart struct {
	BranchID string `json:"branchId"`
	Name     string `json:"name"`
	Upload   string `json:"upload"`
	Data     string `json:"data"` // base64
	Last     bool   `json:"last"`
}

// AttachResult is the result for a piece. File is set after the last one; Image is set for an image given by its
// path, which is attached to the draft.
type AttachResult struct {
	Upload string       `json:"upload"`
	File   *FileView    `json:"file"`
	Image  *ImageUpload `json:"image"`
}

// SendRequest is a message to send. An empty SessionID starts a new session, an empty BranchID means the active
// branch, and an empty Model the session's model.
type SendRequest struct {
	SessionID string        `json:"sessionId"`
	BranchID  string        `json:"branchId"`
	Text      string        `json:"text"`
	Images    []ImageUpload `json:"images"`
	Files     []FileView    `json:"files"`
	Memories  []MemoryChip  `json:"memories"`
	Model     string        `json:"model"`  // for this message; "": the session's
	Effort    string        `json:"effort"` // for this message; "": the session's
	// Incomplete says what to do with an incomplete turn that blocks the branch: "keep", "discard", or "" to refuse.
	Incomplete string `json:"incomplete"`
}

// SendResult names what was created. Queued: a turn is still running, so the message joined the branch's queue and no
// turn was created yet.
type SendResult struct {
	SessionID string `json:"sessionId"`
	BranchID  string `json:"branchId"`
	TurnID    string `json:"turnId"`
	Queued    bool   `json:"queued"`
}

// StreamState is a step's text according to its journal: what the window loads after a gap.
type StreamState struct {
	Step      string      `json:"step"`
	Attempt   int         `json:"attempt"`
	Seq       int64       `json:"seq"` // includes frames up to this one
	Blocks    []BlockView `json:"blocks"`
	Displayed int64       `json:"displayed"`
	Durable   int64       `json:"durable"`
	Live      bool        `json:"live"`
}

// Frame is a piece of a stream: at most one per 16 ms per stream (SPEC 5). Seq counts frames of one step from 1. Text
// is appended to block Block. A frame with empty Text only updates the counters.
type Frame struct {
	Session   string `json:"session"`
	Branch    string `json:"branch"`
	Turn      string `json:"turn"`
	Step      string `json:"step"`
	Attempt   int    `json:"attempt"`
	Seq       int64  `json:"seq"`
	Block     int    `json:"block"`
	Kind      string `json:"kind"` // text, reasoning, refusal, tool
	Text      string `json:"text"`
	Tool      string `json:"tool"` // name, on the first frame of a tool block
	Displayed int64  `json:"displayed"`
	Durable   int64  `json:"durable"`
}

// Change is every other event: something of Kind with ID has changed as of Rev and should be loaded again. A snapshot
// with the same or a higher rev already includes it.
type Change struct {
	Rev  int64           `json:"rev"`
	Kind chat.ChangeKind `json:"kind"`
	ID   string          `json:"id"`
	// Session is its session, empty if it has none.
	Session string `json:"session"`
}

// Event names on the Wails bus.
const (
	EventFrame  = "ci:frame"
	EventChange = "ci:change"
)
