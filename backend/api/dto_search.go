package api

// SearchQuery asks all sessions for what was said. Zero fields do not filter.
type SearchQuery struct {
	Text      string `json:"text"`
	SessionID string `json:"sessionId"`
	Role      string `json:"role"`     // user or assistant
	Since     int64  `json:"since"`    // Unix ms of the turn, inclusive
	Until     int64  `json:"until"`    // exclusive
	Archived  bool   `json:"archived"` // archived sessions too
	Meaning   bool   `json:"meaning"`  // by vectors as well as by words
	Limit     int    `json:"limit"`    // groups; 0: 30
}

// SearchResult is what a search of all sessions found, the best session first.
type SearchResult struct {
	Groups    []SearchGroup `json:"groups"`
	Hits      int           `json:"hits"` // in the groups and beyond them
	Truncated bool          `json:"truncated"`
	Warning   string        `json:"warning"`
	TotalMs   int64         `json:"totalMs"`
}

// SearchGroup is the finds of one session.
type SearchGroup struct {
	SessionID string      `json:"sessionId"`
	Title     string      `json:"title"`
	Folder    string      `json:"folder"`
	Archived  bool        `json:"archived"`
	UpdatedAt int64       `json:"updatedAt"`
	Marks     []Span      `json:"marks"` // where the title matches
	Hits      []SearchHit `json:"hits"`  // at most five, in a search of one session 200; none: the title matches alone
	More      int         `json:"more"`  // finds of this session that are not in Hits
}

// SearchHit is a find in one message of one turn.
type SearchHit struct {
	TurnID      string  `json:"turnId"`
	BranchID    string  `json:"branchId"` // one to open it in: the active branch if that holds it
	BranchLabel string  `json:"branchLabel"`
	Seq         int64   `json:"seq"`
	Role        string  `json:"role"`
	At          int64   `json:"at"`
	Snippet     string  `json:"snippet"`
	Marks       []Span  `json:"marks"` // in the snippet
	By          string  `json:"by"`    // words, meaning or both
	Score       float64 `json:"score"`
}

// Span is a piece of a text, in UTF-16 units as the page counts, end exclusive.
type Span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// FindResult is where a text is in a branch's lineage, oldest first.
type FindResult struct {
	Hits      []FindHit `json:"hits"`
	Total     int       `json:"total"` // occurrences, in all turns
	Truncated bool      `json:"truncated"`
}

// FindHit is a turn that holds the text.
type FindHit struct {
	TurnID string `json:"turnId"`
	Seq    int64  `json:"seq"`
	Count  int    `json:"count"`
	First  string `json:"first"` // the words around the first occurrence
	Marks  []Span `json:"marks"`
}

// Folder is a name that sessions are kept under.
type Folder struct {
	Name     string `json:"name"`
	Sessions int    `json:"sessions"`
}

// MetricsQuery asks for the figures of the newest turns (SRD 15.1).
type MetricsQuery struct {
	Scope     string `json:"scope"` // branch, session or all
	SessionID string `json:"sessionId"`
	BranchID  string `json:"branchId"`
	Limit     int    `json:"limit"` // 0: 200; at most 1000
}

// MetricsSeries are figures of turns, oldest first, and what they add up to.
type MetricsSeries struct {
	Points []MetricPoint `json:"points"`
	// Sums over the points. Cost is "" where no price is configured.
	InputTokens  int64  `json:"inputTokens"`
	OutputTokens int64  `json:"outputTokens"`
	CachedTokens int64  `json:"cachedTokens"`
	Cost         string `json:"cost"`
	Unpriced     int    `json:"unpriced"` // points whose model has no price
}

// MetricPoint is one turn's figures.
type MetricPoint struct {
	Session string      `json:"session"`
	Title   string      `json:"title"` // of the session
	At      int64       `json:"at"`
	Model   string      `json:"model"`
	Cost    float64     `json:"cost"` // -1: no price
	Turn    TurnMetrics `json:"turn"`
}
