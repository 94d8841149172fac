package api

import "contextinfinity/backend/chat"

// MemoryFilter selects chunks of memory. Empty fields do not filter.
type MemoryFilter struct {
	Scope     string `json:"scope"` // lineage, session or all
	SessionID string `json:"sessionId"`
	BranchID  string `json:"branchId"`
	Type      string `json:"type"`  // code, explanation, decision, user_context, tool_result, other
	Role      string `json:"role"`  // user or assistant
	Since     int64  `json:"since"` // Unix ms of the turn, inclusive
	Until     int64  `json:"until"` // exclusive
	Text      string `json:"text"`  // for the browser: a text that the chunk contains
	Offset    int    `json:"offset"`
	Limit     int    `json:"limit"` // 0: 50
}

// ChunkRow is a chunk of memory in a list.
type ChunkRow struct {
	ID           string         `json:"id"`
	TurnID       string         `json:"turnId"`
	TurnSeq      int64          `json:"turnSeq"` // 0: it belongs to a project's file
	SessionID    string         `json:"sessionId"`
	SessionTitle string         `json:"sessionTitle"`
	BranchID     string         `json:"branchId"`
	Role         string         `json:"role"`
	Speaker      string         `json:"speaker"` // in a group chat; otherwise empty
	Type         chat.ChunkType `json:"type"`
	Excerpt      string         `json:"excerpt"` // its beginning, or for a search result the best match
	Summary      string         `json:"summary"`
	Tokens       int            `json:"tokens"`
	Document     string         `json:"document"` // name of its document, for a project's file its path and lines or pages; otherwise empty
	At           int64          `json:"at"`       // when the turn was created
}

// ChunkPage is a page of the chunk browser, newest first.
type ChunkPage struct {
	Total  int        `json:"total"`
	Chunks []ChunkRow `json:"chunks"`
}

// ChunkDetail is everything about one chunk.
type ChunkDetail struct {
	Chunk     ChunkRow       `json:"chunk"`
	Text      string         `json:"text"` // the original text
	Start     int            `json:"start"`
	End       int            `json:"end"`
	Embedders []string       `json:"embedders"` // identities of the embedders with vectors of it
	Uses      []ChunkUseView `json:"uses"`      // newest first
}

// ChunkUseView is a context that contained a chunk, or a turn whose model looked it up.
type ChunkUseView struct {
	TurnID    string  `json:"turnId"`
	TurnSeq   int64   `json:"turnSeq"`
	SessionID string  `json:"sessionId"`
	Rank      int     `json:"rank"`
	Score     float64 `json:"score"`
	Form      string  `json:"form"` // full, slice or summary
	At        int64   `json:"at"`
	Tool      string  `json:"tool"` // used by the model to look it up; empty: it was put into the context
}

// MatchView says why a search found a chunk, or why a prompt contains it.
type MatchView struct {
	Words      []string    `json:"words"`      // of the question, as the chunk writes them
	Similarity *float64    `json:"similarity"` // 0 to 1: the share of unrelated texts that are less similar; null: not found by vectors
	Role       string      `json:"role"`       // speaker: user or assistant
	Reason     chat.Phrase `json:"reason"`     // in one line, without a full stop
}

// MemoryHit is a chunk found by a search.
type MemoryHit struct {
	Chunk ChunkRow  `json:"chunk"`
	Rank  int       `json:"rank"`
	Score float64   `json:"score"` // 0 to 1; results are sorted by it
	Match MatchView `json:"match"`
}

// MemorySearch is the result of a memory search, best first.
type MemorySearch struct {
	Hits       []MemoryHit `json:"hits"`
	Candidates int         `json:"candidates"`
	Embedder   string      `json:"embedder"` // empty: words only
	Warning    chat.Phrase `json:"warning"`
	TotalMs    float64     `json:"totalMs"`
	EmbedMs    float64     `json:"embedMs"`
	VectorMs   float64     `json:"vectorMs"`
	KeywordMs  float64     `json:"keywordMs"`
}

// IndexSpace is the vectors of one embedder.
type IndexSpace struct {
	Embedder string              `json:"embedder"`
	State    chat.NamespaceState `json:"state"`
	Done     int                 `json:"done"`
	Total    int                 `json:"total"`
	Error    chat.Phrase         `json:"error"` // why it fails
}

// DegradedTurn is a turn whose indexing failed.
type DegradedTurn struct {
	TurnID    string      `json:"turnId"`
	TurnSeq   int64       `json:"turnSeq"`
	SessionID string      `json:"sessionId"`
	Title     string      `json:"title"`
	JobID     int64       `json:"jobId"` // the job to retry
	Error     chat.Phrase `json:"error"`
}

// IndexStatus is the state of the index of memory.
type IndexStatus struct {
	On       bool           `json:"on"`    // false: memory is off, or nothing is recalled
	Scope    string         `json:"scope"` // scope of the memory of turns
	Units    int            `json:"units"`
	Spaces   []IndexSpace   `json:"spaces"`
	Degraded []DegradedTurn `json:"degraded"`
}

// MemoryChip is a chunk attached to a message by hand.
type MemoryChip struct {
	ID string `json:"id"` // chunk
	// At is the time of the original text, in milliseconds; 0: it no longer exists, and the other fields are empty.
	At       int64  `json:"at"`
	Role     string `json:"role"`
	Speaker  string `json:"speaker"`  // in a chat of several people
	Document string `json:"document"` // the file that it is from
	Title    string `json:"title"`    // its first words
}

// KnownPage is a page of what is remembered, most recently used sessions first.
type KnownPage struct {
	Total int         `json:"total"`
	Items []KnownItem `json:"items"`
}

// KnownItem is something remembered about a session's active branch, or of a project.
type KnownItem struct {
	Kind         chat.KnownKind `json:"kind"`
	ID           string         `json:"id"`                // the pin; the suggestion with its branch; the state; or the session or project
	Project      string         `json:"project,omitempty"` // name of its project, if it has no session
	SessionID    string         `json:"sessionId"`
	SessionTitle string         `json:"sessionTitle"`
	Archived     bool           `json:"archived"`
	BranchID     string         `json:"branchId"`
	TurnID       string         `json:"turnId"` // created after or in this turn; empty: before any
	TurnSeq      int64          `json:"turnSeq"`
	At           int64          `json:"at"` // 0: unknown
	Text         string         `json:"text"`
}
