package api

import "contextinfinity/backend/chat"

// SearchQuery searches all sessions. Zero fields do not filter.
type SearchQuery struct {
	Text      string `json:"text"`
	SessionID string `json:"sessionId"`
	Role      string `json:"role"`     // user or assistant
	Since     int64  `json:"since"`    // Unix ms of the turn, inclusive
	Until     int64  `json:"until"`    // exclusive
	Archived  bool   `json:"archived"` // include archived sessions
	Meaning   bool   `json:"meaning"`  // search by vectors too
	Limit     int    `json:"limit"`    // groups; 0: 30
}

// SearchResult is the result of searching all sessions, best session first.
type SearchResult struct {
	Groups    []SearchGroup `json:"groups"`
	Hits      int           `json:"hits"` // total number of results
	Truncated bool          `json:"truncated"`
	Warning   chat.Phrase   `json:"warning"`
	TotalMs   int64         `json:"totalMs"`
}

// SearchGroup is the results in one session.
type SearchGroup struct {
	SessionID string      `json:"sessionId"`
	Title     string      `json:"title"`
	Folder    string      `json:"folder"`
	Archived  bool        `json:"archived"`
	UpdatedAt int64       `json:"updatedAt"`
	Marks     []Span      `json:"marks"` // matches in the title
	Hits      []SearchHit `json:"hits"`  // at most five, 200 when searching a single session; none: only the title matches
	More      int         `json:"more"`  // results of this session not in Hits
}

// SearchHit is a result in one message of a turn.
type SearchHit struct {
	TurnID      string  `json:"turnId"`
	BranchID    string  `json:"branchId"` // the branch to open: if possible the active one
	BranchLabel string  `json:"branchLabel"`
	Seq         int64   `json:"seq"`
	Role        string  `json:"role"`
	At          int64   `json:"at"`
	Snippet     string  `json:"snippet"`
	Marks       []Span  `json:"marks"` // matches in the snippet
	By          string  `json:"by"`    // words, meaning or both
	Score       float64 `json:"score"`
}

// Span is a range of a text in UTF-16 units, end exclusive.
type Span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// FindResult is the result of a search in a branch's lineage, oldest first.
type FindResult struct {
	Hits      []FindHit `json:"hits"`
	Total     int       `json:"total"` // occurrences, in all turns
	Truncated bool      `json:"truncated"`
}

// FindHit is a turn that contains the text.
type FindHit struct {
	TurnID string `json:"turnId"`
	Seq    int64  `json:"seq"`
	Count  int    `json:"count"`
	First  string `json:"first"` // the text around the first occurrence
	Marks  []Span `json:"marks"`
}

// Folder is a folder of sessions.
type Folder struct {
	Name     string `json:"name"`
	Sessions int    `json:"sessions"`
}

// MetricsQuery selects metrics of the newest turns (SRD 15.1).
type MetricsQuery struct {
	Scope     string `json:"scope"` // branch, session or all
	SessionID string `json:"sessionId"`
	BranchID  string `json:"branchId"`
	Limit     int    `json:"limit"` // 0: 200; at most 1000
}

// MetricsSeries are the metrics of turns, oldest first, and their sums.
type MetricsSeries struct {
	Points []MetricPoint `json:"points"`
	// Sums over the points. Cost is in US dollars; null if no price is known.
	InputTokens  int64    `json:"inputTokens"`
	OutputTokens int64    `json:"outputTokens"`
	CachedTokens int64    `json:"cachedTokens"`
	Cost         *float64 `json:"cost"`
	Unpriced     int      `json:"unpriced"` // points whose model has no price
}

// MetricPoint is one turn's figures.
type MetricPoint struct {
	Session string      `json:"session"`
	Title   string      `json:"title"` // of the session
	At      int64       `json:"at"`
	Model   string      `json:"model"`
	Cost    float64     `json:"cost"` // US dollars; -1: no price
	Turn    TurnMetrics `json:"turn"`
}
