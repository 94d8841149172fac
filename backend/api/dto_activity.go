package api

import "contextinfinity/backend/chat"

// JobView is a row of the durable queue. ID 0: none.
type JobView struct {
	ID        int64       `json:"id"`
	Type      string      `json:"type"`
	TurnID    string      `json:"turnId"` // empty: not about a turn of a conversation
	TurnSeq   int64       `json:"turnSeq"`
	SessionID string      `json:"sessionId"`
	Session   string      `json:"session"` // title, or the path of a project's file
	State     string      `json:"state"`   // queued, running, done, dead
	Attempts  int         `json:"attempts"`
	LastError chat.Phrase `json:"lastError"`
	WaitsFor  int64       `json:"waitsFor"` // the failed job of an earlier turn; 0 is none
	RunAfter  int64       `json:"runAfter"`
	UpdatedAt int64       `json:"updatedAt"`
}

// RecoveryReport says what the reconciler found and did, at the start or later, without findings about deleted turns or
// about decisions that have been made since.
type RecoveryReport struct {
	At      int64          `json:"at"`
	Clean   bool           `json:"clean"`   // there was nothing to do
	Summary chat.Phrase    `json:"summary"` // in one line
	Items   []RecoveryItem `json:"items"`
}

// RecoveryItem is one finding.
type RecoveryItem struct {
	Kind      chat.RecoveryKind `json:"kind"`
	SessionID string            `json:"sessionId"`
	Session   string            `json:"session"`
	TurnID    string            `json:"turnId"`
	TurnSeq   int64             `json:"turnSeq"`
	Bytes     int64             `json:"bytes"`
	Count     int               `json:"count"`
	Message   chat.Phrase       `json:"message"`
}

// ChunkProgress is how far the summaries of long passages are, and what they used today.
type ChunkProgress struct {
	Written int `json:"written"`
	Waiting int `json:"waiting"`
	Tokens  int `json:"tokens"`
	Limit   int `json:"limit"` // tokens per day
}

// ActivityPanel is the Activity tab.
type ActivityPanel struct {
	Jobs     []JobView `json:"jobs"`
	MoreJobs bool      `json:"moreJobs"` // there are more than these
	Queued   int       `json:"queued"`
	Running  int       `json:"running"`
	Failed   int       `json:"failed"`
	// Chunks are the summaries of long passages by a model; nil: they are off.
	Chunks   *ChunkProgress `json:"chunks"`
	Recovery RecoveryReport `json:"recovery"`
	// Earlier are earlier non-empty reports, newest first.
	Earlier []RecoveryReport `json:"earlier"`
	// Turns are the metrics of the branch's newest turns, newest first.
	Turns []TurnMetrics `json:"turns"`
}

// TurnMetrics is a row of the metrics table (SRD 15.1), times in milliseconds.
type TurnMetrics struct {
	TurnID         string `json:"turnId"`
	TurnSeq        int64  `json:"turnSeq"`
	EstimateTokens int    `json:"estimateTokens"`
	InputTokens    int    `json:"inputTokens"`
	OutputTokens   int    `json:"outputTokens"`
	CachedTokens   int    `json:"cachedTokens"`
	SearchMs       int64  `json:"searchMs"`
	EmbedMs        int64  `json:"embedMs"` // of indexing
	AssembleMs     int64  `json:"assembleMs"`
	FirstByteMs    int64  `json:"firstByteMs"`
	StreamMs       int64  `json:"streamMs"`
	SummarizeMs    int64  `json:"summarizeMs"`
	IndexMs        int64  `json:"indexMs"`
	Attempts       int    `json:"attempts"`
	Candidates     int    `json:"candidates"`   // number of considered memories
	Selected       int    `json:"selected"`     // number of memories the model saw
	PackedTokens   int    `json:"packedTokens"` // their total size
	// The range of similarity of the selected memories, 0 to 1; 0 if none was found by vectors.
	SimilarityMin float64 `json:"similarityMin"`
	SimilarityMax float64 `json:"similarityMax"`
	// Whether and why memory could not be searched, for the last context.
	RetrievalFailed bool        `json:"retrievalFailed"`
	RetrievalError  chat.Phrase `json:"retrievalError"`
	// The result of the model's state summary: "passed", "repaired", "failed"; "": none was requested.
	ValidationResult string `json:"validationResult"`
	ValidationTries  int    `json:"validationTries"`
}
