package chat

import (
	"fmt"
	"time"
)

// Scope is how far a search of memory reaches (SPEC 8).
type Scope string

const (
	ScopeLineage Scope = "lineage" // the branch's own past; siblings are never seen
	ScopeSession Scope = "session" // every branch of one session
	ScopeProject Scope = "project" // the sessions of the session's project that are not archived, and its files; of the branch's own session, its lineage alone
	ScopeAll     Scope = "all"     // every session that is not archived; of the branch's own session, its lineage alone
)

// Within says where a search of memory looks. Zero fields do not filter.
type Within struct {
	Scope Scope
	// Branch is whose lineage counts. ScopeLineage needs it; with ScopeAll and no
	// branch every session is searched whole.
	Branch BranchID
	// Session is what ScopeSession searches.
	Session SessionID
	// Before keeps turns of the branch's lineage from this turn_seq on out: they
	// are in the prompt as originals.
	Before int64
	// Beyond are turns of the lineage from Before on whose documents are in reach all
	// the same: the prompt holds only a part of them.
	Beyond []TurnID
	// Shortened are turns of the lineage from Before on of which the prompt holds a part: they
	// are in reach with all that was said.
	Shortened    []TurnID
	ExcludeTurns []TurnID
	Types        []ChunkType
	Role         Role
	Since, Until time.Time // of the turn: [Since, Until)
	// Only, if it is not nil, keeps a search of ScopeAll without a branch to these sessions.
	Only []SessionID
	// Archived lets ScopeAll see archived sessions too.
	Archived bool
	// Newest bounds a search of ScopeAll by words to the units that were indexed last, so many;
	// 0: it has no bound. A word that is everywhere costs too much otherwise.
	Newest int64
}

// Span is a half-open range of bytes.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// UnitRef is a unit without its text: what ranking needs to know of it. Units of
// one turn are in the order (ChunkOrdinal, Ordinal).
type UnitRef struct {
	N            int64 // row number: what the text and vector indexes call it
	ID           UnitID
	Chunk        ChunkID
	Session      SessionID
	Branch       BranchID
	Turn         TurnID
	Seq          int64
	ChunkOrdinal int
	Ordinal      int
	Role         Role
	Speaker      string // the person who said it, where one was named (Message.Name)
	Type         ChunkType
	File         FileID // set if it is of an attached document
	Start, End   int    // bytes of the message's rendered text, or of the document's text
	Tokens       int
	At           time.Time // when the turn was created
}

// UnitScore is how well a unit's words match; higher is better.
type UnitScore struct {
	N     int64
	Score float64 // -bm25
}

// SeqSpan names turns of a branch by turn_seq, inclusive.
type SeqSpan struct {
	Branch   BranchID
	From, To int64
}

// ScopeFilter tells which units of the derived vector index a search may see: of a
// branch, those with after < turn_seq <= upTo. It is safe for concurrent use.
type ScopeFilter interface {
	Span(session SessionID, branch BranchID) (after, upTo int64, ok bool)
}

// ChunkText is a chunk with the words that it represents, as they were said, and
// what a reader needs to place them.
type ChunkText struct {
	Chunk
	TurnSeq      int64     `json:"turn_seq"`
	SessionTitle string    `json:"session_title"`
	Speaker      string    `json:"speaker,omitempty"` // the person who said it, where one was named
	File         *File     `json:"file,omitempty"`
	ProjectFile  bool      `json:"project_file,omitempty"` // File is one of a project
	At           time.Time `json:"at"`                     // when the turn was created
	// Source is the text that Start, End and every slice count in: the message's
	// rendered text, or the document's. Shared between chunks of one message.
	Source string `json:"-"`
}

// ChunkQuery selects chunks for the browser, newest first.
type ChunkQuery struct {
	Within Within
	Text   string // substring of the chunk's own words, case-insensitive; empty: all
	Limit  int
	Offset int
}

// ChunkUse is one time that a chunk was put into a context, or that a model looked it up.
type ChunkUse struct {
	Turn    TurnID    `json:"turn_id"`
	TurnSeq int64     `json:"turn_seq"`
	Session SessionID `json:"session_id"`
	Rank    int       `json:"rank"` // from 1
	Score   float64   `json:"score"`
	Packed  PackedAs  `json:"packed_as"`
	At      time.Time `json:"at"`
	// Tool is the one with which the model itself looked the turn up that the chunk is of;
	// then rank, score and form are empty. Empty: the chunk was put into the context.
	Tool string `json:"tool,omitempty"`
}

// PackedAs is the form in which a chunk stood in a prompt (SRD 8.3).
type PackedAs string

const (
	PackedFull    PackedAs = "full"
	PackedSlice   PackedAs = "slice"
	PackedSummary PackedAs = "summary"
)

// Retrieval records that a chunk was put into a turn's context (SRD 5.8).
type Retrieval struct {
	Chunk      ChunkID  `json:"chunk_id"`
	Similarity float64  `json:"similarity"`    // calibrated, 0 to 1; 0 where vectors did not find it
	Vector     float64  `json:"vector_score"`  // cosine
	Keyword    float64  `json:"keyword_score"` // share of the best match, 0 to 1
	Score      float64  `json:"score"`         // by which it was ranked
	Rank       int      `json:"rank"`          // from 1
	Packed     PackedAs `json:"packed_as"`
	Tokens     int      `json:"tokens"`
}

// Reason is something other than shared words or similarity that explains why a passage
// was recalled.
type Reason string

// Reasons, in the order in which they are shown.
const (
	ReasonAnswer   Reason = "answer"   // it is a reply whose question is known
	ReasonStanding Reason = "standing" // an order or preference that holds for everything after it
	ReasonRepeat   Reason = "repeat"   // it asks the question once more
	ReasonQuestion Reason = "question" // it only asks
	ReasonOverview Reason = "overview" // the question asks for the course of things, so days share the budget
)

// Recalled is what memory a turn's context holds, in short.
type Recalled struct {
	Pieces int
	Error  string // why memory was not searched; empty if nothing failed
}

// EmbedderID is an embedder's identity: vectors of different identities never mix
// (SPEC 8).
type EmbedderID struct {
	Name      string `json:"name"` // local, openai, ollama
	Model     string `json:"model"`
	Dimension int    `json:"dimension"`
	Version   int    `json:"version"`
}

// String is the form in which an identity is stored and shown.
func (e EmbedderID) String() string {
	return fmt.Sprintf("%s/%s/%d/v%d", e.Name, e.Model, e.Dimension, e.Version)
}

// NamespaceState is what a namespace of vectors is used for.
type NamespaceState string

const (
	NamespaceBuilding NamespaceState = "building" // being filled; another one serves
	NamespaceServing  NamespaceState = "serving"  // what searches use; at most one
	NamespaceRetired  NamespaceState = "retired"  // its vectors are deleted
)

// Namespace is the vectors of one embedder.
type Namespace struct {
	ID        int64          `json:"namespace_id"`
	Embedder  EmbedderID     `json:"embedder"`
	State     NamespaceState `json:"state"`
	Done      int            `json:"done"`  // units that have a vector
	Total     int            `json:"total"` // units there are
	CreatedAt time.Time      `json:"created_at"`
	// LastError is why its embedder does not answer; empty while it does. It is not stored.
	LastError string `json:"last_error,omitempty"`
}

// UnitText is a unit's indexed text: date and speaker first.
type UnitText struct {
	N    int64
	Text string
}

// UnitVector is a unit's vector, of length 1.
type UnitVector struct {
	N      int64
	Vector []float32
}

// TermCount is a word of the index and how many units hold it.
type TermCount struct {
	Term  string
	Units int
}

// VectorRow is a stored vector with what a scope decides by. Codes are its components as
// the store keeps them, signed bytes in proportion to the vector's; nil where the vector
// is damaged.
type VectorRow struct {
	N       int64
	Session SessionID
	Branch  BranchID
	Seq     int64
	Codes   []int8
}

// VectorBlock is vectors in the order of N, by column: a row is at the same index of each.
type VectorBlock struct {
	N      []int64
	Seq    []int64
	Place  []uint32 // index in Places
	Places []VectorPlace
	Scale  []float32 // 1/length of the row's codes
	Codes  []byte    // of all rows, one after the other: signed bytes, as in VectorRow
}

// VectorPlace is the branch that a vector's unit is in.
type VectorPlace struct {
	Session SessionID
	Branch  BranchID
}

// VectorHit is a unit that a vector search found; Cosine is exact.
type VectorHit struct {
	N      int64
	Cosine float64
}

// File is an attached document (SPEC 3). Its bytes are kept whole; what is
// searched is its text.
type File struct {
	ID        FileID    `json:"file_id"`
	SessionID SessionID `json:"session_id"`
	TurnID    TurnID    `json:"turn_id,omitempty"` // empty until its message was sent
	Name      string    `json:"name"`
	MediaType string    `json:"media_type"`
	Size      int64     `json:"size"` // bytes as attached
	Hash      string    `json:"content_hash"`
	Tokens    int       `json:"tokens"` // of its text
	CreatedAt time.Time `json:"created_at"`
}
