package api

import "contextinfinity/backend/chat"

// ToolCallView is a tool call from the tool journal, for its card.
type ToolCallView struct {
	ID        string             `json:"id"`
	ToolUseID string             `json:"toolUseId"` // identifies the call's block in the answer
	TurnID    string             `json:"turnId"`
	Step      string             `json:"step"`
	Name      string             `json:"name"`   // as the model wrote it
	Source    string             `json:"source"` // "builtin" or a server; empty: no such tool was offered
	Tool      string             `json:"tool"`   // the name that the source knows
	Title     string             `json:"title"`  // of the definition; empty if it has none
	State     chat.ToolCallState `json:"state"`
	Decision  chat.ToolDecision  `json:"decision"`
	// Reason is why the outcome is unknown: "cancelled", "timeout", "ended", "unreadable", "crash".
	Reason string `json:"reason"`
	// Explanation is why the call waits or why its outcome is unknown, as a sentence. Empty otherwise.
	Explanation string `json:"explanation"`
	Effects     bool   `json:"effects"`
	Arguments   string `json:"arguments"` // JSON, indented
	// Preview is what a pending call would change: a line diff with lines that begin with "+", "-" or a space. Empty:
	// not supported by its source.
	Preview    string `json:"preview"`
	Redactions int    `json:"redactions"` // number of secrets removed from the arguments
	Result     string `json:"result"`     // the first part of its text
	ResultMore bool   `json:"resultMore"` // there is more: Tools.Result has all of it
	IsError    bool   `json:"isError"`
	// OutcomeUnknown: the model was told that nobody knows how the call ended.
	OutcomeUnknown bool   `json:"outcomeUnknown"`
	Images         int    `json:"images"`     // in the result
	Definition     string `json:"definition"` // hash of what the decision was about
	Runs           int    `json:"runs"`
	Running        bool   `json:"running"` // it is running in this process and can be cancelled
	// Progress of a running call: done of total, total 0 if unknown; and its last message.
	ProgressDone    float64 `json:"progressDone"`
	ProgressTotal   float64 `json:"progressTotal"`
	ProgressMessage string  `json:"progressMessage"`
	CreatedAt       int64   `json:"createdAt"`
	DecidedAt       int64   `json:"decidedAt"`
	StartedAt       int64   `json:"startedAt"`
	EndedAt         int64   `json:"endedAt"`
}

// WaitingCallView is a call that waits for a decision, with its context.
type WaitingCallView struct {
	Call       ToolCallView        `json:"call"`
	SessionID  string              `json:"sessionId"`
	BranchID   string              `json:"branchId"`
	Session    string              `json:"session"` // title
	TurnSeq    int64               `json:"turnSeq"`
	Definition *ToolDefinitionView `json:"definition"` // null: it is no longer offered
}

// WaitingCalls is the queue of all sessions, the oldest first.
type WaitingCalls struct {
	Rev   int64             `json:"rev"`
	Calls []WaitingCallView `json:"calls"`
}

// ToolDefinitionView is a tool and the user's decisions about it.
type ToolDefinitionView struct {
	Source      string `json:"source"`
	Tool        string `json:"tool"`
	Name        string `json:"name"` // as models get it
	Title       string `json:"title"`
	Description string `json:"description"`
	Schema      string `json:"schema"`      // JSON, indented
	Annotations string `json:"annotations"` // the server's own hints; they are shown and never trusted
	Hash        string `json:"hash"`
	Effects     bool   `json:"effects"`
	BuiltIn     bool   `json:"builtIn"`
	// Pinned is "accepted" (offered to models), "new" or "changed" (not offered until accepted), "gone" (accepted,
	// but no longer offered by its server).
	Pinned string `json:"pinned"`
	// Before is the accepted definition, if it has changed.
	Before *ToolDefinitionView `json:"before"`
	// Decision is "" (ask), "always" or "never"; DecisionFrom is "tool", "server", "config", "builtin" or "".
	Decision     chat.ToolDecision `json:"decision"`
	DecisionFrom string            `json:"decisionFrom"`
	// AsksEachCall: each call needs approval, so only "once", "deny" and "never" can be chosen.
	AsksEachCall bool `json:"asksEachCall"`
}

// ToolPermissionView is a decision for later calls.
type ToolPermissionView struct {
	Source    string            `json:"source"`
	Tool      string            `json:"tool"`      // empty: all tools of the source
	SessionID string            `json:"sessionId"` // empty: in all sessions
	Session   string            `json:"session"`   // title
	Decision  chat.ToolDecision `json:"decision"`  // session, always; never, also for a single session
	CreatedAt int64             `json:"createdAt"`
	// FromConfig: it is in config.toml (tools.allow), and must be removed there.
	FromConfig bool `json:"fromConfig"`
}

// ToolsPanel is the page about tools: what is offered, decided, and wrong.
type ToolsPanel struct {
	Rev         int64                `json:"rev"`
	Mode        string               `json:"mode"` // tools.mode
	Definitions []ToolDefinitionView `json:"definitions"`
	Permissions []ToolPermissionView `json:"permissions"`
	// Problems are refused tools, each as a sentence: a duplicate name, an invalid schema.
	Problems []ToolProblemView `json:"problems"`
}

// ToolProblemView is a tool that is not offered, and why.
type ToolProblemView struct {
	Source  string `json:"source"`
	Tool    string `json:"tool"`
	Message string `json:"message"`
}

// ToolDecisionRequest decides about a call: "once", "session", "always", "deny", "never". Server applies "session",
// "always" and "never" to all tools of its source. Hash is that of the shown definition: if it differs now, the
// decision is refused and requested again.
type ToolDecisionRequest struct {
	CallID string            `json:"callId"`
	Choice chat.ToolDecision `json:"choice"`
	Server bool              `json:"server"`
	Hash   string            `json:"hash"`
}

// ToolResolveRequest resolves a call with an unknown outcome: "enter" (Text is the result that the user determined),
// "rerun", "tell" (the model gets the answer that it is unknown). Hash is that of the shown definition: with another one the
// tool is not run again. To give up, discard the turn.
type ToolResolveRequest struct {
	CallID  string          `json:"callId"`
	Choice  chat.Resolution `json:"choice"`
	Text    string          `json:"text"`
	IsError bool            `json:"isError"`
	Hash    string          `json:"hash"`
}

// ToolResultView is the whole result of a call.
type ToolResultView struct {
	Blocks  []BlockView `json:"blocks"`
	IsError bool        `json:"isError"`
}
