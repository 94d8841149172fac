package api

import "contextinfinity/backend/chat"

// ContextView is the X-ray: what the model saw in a turn, or would see next.
type ContextView struct {
	TurnID   string `json:"turnId"` // empty for the next request
	TurnSeq  int64  `json:"turnSeq"`
	Model    string `json:"model"`
	Provider string `json:"provider"`
	Format   string `json:"format"` // "12.4k / 50k (25%) [2S]"
	State    string `json:"state"`  // "plenty", "filling", "nearly full"
	Tokens   int    `json:"tokens"` // estimated
	Ceiling  int    `json:"ceiling"`
	// Reported and Cached are the provider's own figures, 0 if it reported none.
	Reported  int              `json:"reported"`
	Cached    int              `json:"cached"`
	MaxOutput int              `json:"maxOutput"`
	Budget    BudgetView       `json:"budget"`
	Cut       int64            `json:"cut"` // turns up to this number are sent as summaries or extracts; 0: none
	Sections  []ContextSection `json:"sections"`
	Shrink    []chat.Phrase    `json:"shrink"`             // steps that made it fit, in order
	UsageNote chat.Phrase      `json:"usageNote,omitzero"` // why the provider's token counts were ignored
	// RetrievalError says why nothing was retrieved; empty if nothing failed.
	RetrievalError chat.Phrase `json:"retrievalError"`
	Dropped        []int64     `json:"dropped"` // pending turns left out, by number
	// Scope is the scope of the memory search: lineage, session, project or all; empty: memory was off, or the turn
	// was made by an older version.
	Scope    string          `json:"scope"`
	Project  string          `json:"project"` // name of the session's project at that time; empty: none
	Redacted []RedactionView `json:"redacted"`
	SHA256   string          `json:"sha256"`
	Same     bool            `json:"same"`   // reassembling the context yields the stored hash
	Note     string          `json:"note"`   // why texts are missing or differ; empty: all are correct
	StepID   string          `json:"stepId"` // the step for Inspect.RawStep
	Error    *ErrorView      `json:"error"`  // of the next request: it does not fit
	LookedUp []LookedUpView  `json:"lookedUp"`
	Status   *UsageStatus    `json:"status"` // of the next request; null for one that was sent
}

// UsageStatus says what the next request needs.
type UsageStatus struct {
	// Kind: "ready", "needs_summarization" (turns that do not fit have no summary yet), "recent_too_large" (the newest
	// messages alone do not fit).
	Kind       string      `json:"kind"`
	Excess     int         `json:"excess"`   // tokens of the turns that need a summary
	Turns      []int64     `json:"turns"`    // their numbers
	Required   int         `json:"required"` // tokens that a request with complete newest messages would take
	Budget     int         `json:"budget"`   // and the ceiling
	Suggestion chat.Phrase `json:"suggestion"`
}

// LookedUpView is an earlier turn that the model looked up with a tool while it answered.
type LookedUpView struct {
	Tool         string `json:"tool"`
	SessionID    string `json:"sessionId"`
	SessionTitle string `json:"sessionTitle"`
	TurnID       string `json:"turnId"`
	TurnSeq      int64  `json:"turnSeq"` // 0: the turn no longer exists
}

// BudgetView explains the ceiling, in tokens.
type BudgetView struct {
	ModelLimit      int     `json:"modelLimit"`
	ResponseReserve int     `json:"responseReserve"`
	SafetyMargin    int     `json:"safetyMargin"`
	InputBudget     int     `json:"inputBudget"`
	Allowance       int     `json:"allowance"`
	Summaries       int     `json:"summaries"`
	HighWater       int     `json:"highWater"`
	LowWater        int     `json:"lowWater"`
	Calibration     float64 `json:"calibration"`
}

// ContextSection is a section of the prompt, in prompt order.
type ContextSection struct {
	Name   string        `json:"name"` // system, tools, pinned, summaries, originals, pending, state, retrieved, message
	Tokens int           `json:"tokens"`
	Cap    int           `json:"cap"`
	Items  []ContextItem `json:"items"`
}

// ContextItem is a part of the prompt with its exact text and its origin.
type ContextItem struct {
	// Source: config, project, project_fact, tool, pin, summary, extract, turn, state, chunk, day, now, message, step,
	// partial.
	Source string      `json:"source"`
	ID     string      `json:"id"`   // of the project, fact, pin, summary, turn, state or chunk; of a tool: its name
	Seq    int64       `json:"seq"`  // of a turn
	From   int64       `json:"from"` // of a summary or extract: first turn
	To     int64       `json:"to"`   // and last
	Role   string      `json:"role"`
	Label  chat.Phrase `json:"label"` // in words: "Turn 12, you"
	Tokens int         `json:"tokens"`
	Bytes  int         `json:"bytes"`
	Text   string      `json:"text"`
	// Change compared with the previous request: "same", "new", "" if there was none.
	Change string        `json:"change"`
	TurnID string        `json:"turnId"` // of a chunk: the turn it is from
	Memory *RecalledView `json:"memory"` // of a chunk: its details and why it was recalled
}

// RecalledView is a chunk of memory in a prompt.
type RecalledView struct {
	Rank     int       `json:"rank"`     // from 1, among what was packed
	Score    float64   `json:"score"`    // 0 to 1
	Form     string    `json:"form"`     // full, slice or summary
	Attached bool      `json:"attached"` // by hand
	Chunk    *ChunkRow `json:"chunk"`    // null: it was deleted
	Match    MatchView `json:"match"`
}

// ContextDiff is the difference between two requests.
type ContextDiff struct {
	From    ContextView   `json:"from"`
	To      ContextView   `json:"to"`
	Removed []ContextItem `json:"removed"` // items of From that To lacks
	Added   []ContextItem `json:"added"`
	// SharedBytes is the size of the common prefix, which a provider's cache can reuse.
	SharedBytes int `json:"sharedBytes"`
	TotalBytes  int `json:"totalBytes"`
}

// RedactionView is a kind of secret that was replaced before sending.
type RedactionView struct {
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

// SwitchPreview says what another model would change, before it is chosen.
type SwitchPreview struct {
	Model      string `json:"model"`
	Kind       string `json:"kind"` // "expanding", "shrinking", "no change"
	OldCeiling int    `json:"oldCeiling"`
	NewCeiling int    `json:"newCeiling"`
	OldTokens  int    `json:"oldTokens"`
	NewTokens  int    `json:"newTokens"`
	Returning  int    `json:"returning"`  // turns that become originals again
	Compressed int    `json:"compressed"` // turns that would be summarized
	// NeedsSummarization: turns no longer fit and have no summary yet. Unsummarized of them are sent as extracts,
	// Dropped are pending and left out.
	NeedsSummarization bool `json:"needsSummarization"`
	Unsummarized       int  `json:"unsummarized"`
	Dropped            int  `json:"dropped"`
	// Cost is what the next input would cost on that model before its answer, in US dollars; null without prices.
	Cost    *float64   `json:"cost"`
	Message string     `json:"message"` // the same as a sentence
	Error   *ErrorView `json:"error"`   // the conversation cannot fit that model
}

// RawStep is the exact request and response of a step. From a very long stream, events in the middle are left out.
type RawStep struct {
	Request      string     `json:"request"`
	Response     string     `json:"response"` // empty when it was a stream
	Events       []RawEvent `json:"events"`
	LeftOut      int        `json:"leftOut"`
	LeftOutAfter int        `json:"leftOutAfter"`
	LeftOutBytes int        `json:"leftOutBytes"`
}

// RawEvent is one event of a stream, byte for byte.
type RawEvent struct {
	Type string `json:"type"`
	Data string `json:"data"`
}
