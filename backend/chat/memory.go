package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Scope is the scope of a memory search (SPEC 8).
type Scope string

const (
	ScopeLineage Scope = "lineage" // the branch's own past, without siblings
	ScopeSession Scope = "session" // every branch of one session
	ScopeProject Scope = "project" // the unarchived sessions of the session's project, and its files; of the branch's own session, only its lineage
	ScopeAll     Scope = "all"     // every unarchived session; of the branch's own session, only its lineage
)

// Within restricts a memory search. Zero fields do not filter.
type Within struct {
	Scope Scope
	// Branch is the branch whose lineage counts. ScopeLineage needs it; with ScopeAll and no branch every session is
	// searched completely.
	Branch BranchID
	// Session is the session for ScopeSession.
	Session SessionID
	// Before excludes turns of the branch's lineage from this turn_seq on: the prompt contains them as originals.
	Before int64
	// Beyond are turns of the lineage from Before on whose documents are still in scope, because the prompt contains
	// only a part of them.
	Beyond []TurnID
	// Shortened are turns of the lineage from Before on that the prompt contains only in part: they are fully in
	// scope.
	Shortened    []TurnID
	ExcludeTurns []TurnID
	Types        []ChunkType
	Role         Role
	Since, Until time.Time // time of the turn: [Since, Until)
	// Only, if not nil, restricts a ScopeAll search without a branch to these sessions.
	Only []SessionID
	// Archived includes archived sessions in ScopeAll.
	Archived bool
	// Newest restricts a ScopeAll keyword search to this many of the most recently indexed units; 0: no limit. Very
	// common words would otherwise cost too much.
	Newest int64
}

// Span is a half-open range of bytes.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// UnitRef is a unit without its text, as needed for ranking. Units of one turn are in the order (ChunkOrdinal,
// Ordinal).
type UnitRef struct {
	N            int64 // row number in the text and vector indexes
	ID           UnitID
	Chunk        ChunkID
	Session      SessionID
	Branch       BranchID
	Turn         TurnID
	Seq          int64
	ChunkOrdinal int
	Ordinal      int
	Role         Role
	Speaker      string // the speaker's name, if known (Message.Name)
	Type         ChunkType
	File         FileID // set for a unit of an attached document
	Start, End   int    // bytes of the message's rendered text, or of the document's text
	Tokens       int
	At           time.Time // when the turn was created
}

// UnitScore is how well a unit matches by words; higher is better.
type UnitScore struct {
	N     int64
	Score float64 // -bm25
}

// SeqSpan is a range of turns of a branch by turn_seq, inclusive.
type SeqSpan struct {
	Branch   BranchID
	From, To int64
}

// ScopeFilter says which units of the vector index a search may see: of a branch, those with after < turn_seq <=
// upTo. It is safe for concurrent use.
type ScopeFilter interface {
	Span(session SessionID, branch BranchID) (after, upTo int64, ok bool)
}

// ChunkText is a chunk with its original text, and the data needed to place it.
type ChunkText struct {
	Chunk
	TurnSeq      int64     `json:"turn_seq"`
	SessionTitle string    `json:"session_title"`
	Speaker      string    `json:"speaker,omitempty"` // the speaker's name, if known
	File         *File     `json:"file,omitempty"`
	ProjectFile  bool      `json:"project_file,omitempty"` // File belongs to a project
	At           time.Time `json:"at"`                     // when the turn was created
	// Source is the text to which Start, End and every slice refer: the message's rendered text, or the document's.
	// Chunks of a message share it.
	Source string `json:"-"`
	// ByLibrarian is the librarian's summary; empty: there is only the one made by rule.
	ByLibrarian string `json:"-"`
}

// Brief is the summary that takes the place of the text: the librarian's, otherwise the one made by rule.
func (c ChunkText) Brief() string { return cmp.Or(c.ByLibrarian, c.Summary) }

// ChunkSummary is the librarian's summary of a chunk. Text is empty if its answer could not be used: the chunk keeps the
// one made by rule.
type ChunkSummary struct {
	Chunk       ChunkID
	Text        string
	GeneratedBy string          // a model
	Validation  json.RawMessage // what the call used, and why its answer was not
	Job         Lease           // checked, not finished
}

// ChunkSummaries is how far the librarian's summaries of chunks are.
type ChunkSummaries struct {
	Written int `json:"written"`
	Waiting int `json:"waiting"` // long chunks that it has not been asked about
	Tokens  int `json:"tokens"`  // sent and received today
}

// ChunkQuery selects chunks for the browser, newest first.
type ChunkQuery struct {
	Within Within
	Text   string // substring of the chunk's own text, case-insensitive; empty: all
	Limit  int
	Offset int
}

// ChunkUse is one use of a chunk in a context, or one lookup by a model.
type ChunkUse struct {
	Turn    TurnID    `json:"turn_id"`
	TurnSeq int64     `json:"turn_seq"`
	Session SessionID `json:"session_id"`
	Rank    int       `json:"rank"` // from 1
	Score   float64   `json:"score"`
	Packed  PackedAs  `json:"packed_as"`
	At      time.Time `json:"at"`
	// Tool is the tool with which the model looked up the chunk's turn; rank, score and form are then empty. Empty:
	// the chunk was put into the context.
	Tool string `json:"tool,omitempty"`
}

// PackedAs is the form of a chunk in a prompt (SRD 8.3).
type PackedAs string

const (
	PackedFull    PackedAs = "full"
	PackedSlice   PackedAs = "slice"
	PackedSummary PackedAs = "summary"
)

// Retrieval records that a chunk was put into a turn's context (SRD 5.8).
type Retrieval struct {
	Chunk      ChunkID  `json:"chunk_id"`
	Similarity float64  `json:"similarity"`    // calibrated, 0 to 1; 0 if not found by vectors
	Vector     float64  `json:"vector_score"`  // cosine
	Keyword    float64  `json:"keyword_score"` // share of the best match, 0 to 1
	Score      float64  `json:"score"`         // the score used for ranking
	Rank       int      `json:"rank"`          // from 1
	Packed     PackedAs `json:"packed_as"`
	Tokens     int      `json:"tokens"`
}

// Reason is a reason why a passage was recalled, other than shared words or similarity.
type Reason string

// Reasons, in display order.
const (
	ReasonAnswer   Reason = "answer"   // it answers a known question
	ReasonStanding Reason = "standing" // an instruction or preference that applies to everything after it
	ReasonRepeat   Reason = "repeat"   // it asks the same question
	ReasonQuestion Reason = "question" // it is only a question
	ReasonOverview Reason = "overview" // the question asks for an overview, so days share the budget
)

// Recalled is a summary of the memory in a turn's context.
type Recalled struct {
	Pieces int
	Error  string // why memory was not searched; empty if nothing failed
}

// EmbedderID is an embedder's identity: vectors of different identities are never mixed (SPEC 8).
type EmbedderID struct {
	Name      string `json:"name"` // local, openai, ollama
	Model     string `json:"model"`
	Dimension int    `json:"dimension"`
	Version   int    `json:"version"`
}

// String returns the form in which an identity is stored and shown.
func (e EmbedderID) String() string {
	return fmt.Sprintf("%s/%s/%d/v%d", e.Name, e.Model, e.Dimension, e.Version)
}

// NamespaceState is the use of a namespace of vectors.
type NamespaceState string

const (
	NamespaceBuilding NamespaceState = "building" // being filled, while another one serves
	NamespaceServing  NamespaceState = "serving"  // used by searches; at most one
	NamespaceRetired  NamespaceState = "retired"  // its vectors are being deleted
)

// Namespace is the vectors of one embedder.
type Namespace struct {
	ID        int64          `json:"namespace_id"`
	Embedder  EmbedderID     `json:"embedder"`
	State     NamespaceState `json:"state"`
	Done      int            `json:"done"`  // units that have a vector
	Total     int            `json:"total"` // all units
	CreatedAt time.Time      `json:"created_at"`
	// LastError is why its embedder fails; empty if it works. It is not stored.
	LastError string `json:"last_error,omitempty"`
	Words     Phrase `json:"-"` // LastError with its values; zero if it has none
}

// Why returns LastError with its values.
func (n Namespace) Why() Phrase { return n.Words.As(n.LastError) }

// UnitText is a unit's indexed text: date and speaker first, then the beginning of the other message of its turn.
type UnitText struct {
	N    int64
	Text string
	Own  int // number of bytes at its end that are the unit's own; 0: all
}

// Said is the part of the text that has a meaning of its own, for its vector: "Thanks, I will" does not say what the
// message before it said. A person's name, the name of a file, and headings stay.
func (u UnitText) Said() string {
	if u.Own <= 0 || u.Own >= len(u.Text) {
		return u.Text
	}
	own := strings.ToValidUTF8(u.Text[len(u.Text)-u.Own:], "")
	head, _, _ := strings.Cut(u.Text[:len(u.Text)-u.Own], ": ")
	if _, after, ok := strings.Cut(head, "] "); ok {
		head = after
	}
	if head == string(RoleUser) || head == string(RoleAssistant) {
		return own
	}
	return head + ": " + own
}

// UnitVector is a unit's vector, of length 1.
type UnitVector struct {
	N      int64
	Vector []float32
}

// TermCount is a word of the index and the number of units that contain it.
type TermCount struct {
	Term  string
	Units int
}

// VectorRow is a stored vector with the data that a scope needs. Codes are its components as stored, signed bytes
// proportional to the vector's; nil if the vector is damaged.
type VectorRow struct {
	N       int64
	Session SessionID
	Branch  BranchID
	Seq     int64
	Codes   []int8
}

// VectorBlock is vectors in the order of N, by column: a row has the same index in each.
type VectorBlock struct {
	N      []int64
	Seq    []int64
	Place  []uint32 // index in Places
	Places []VectorPlace
	Scale  []float32 // 1/length of the row's codes
	Codes  []byte    // of all rows, consecutive: signed bytes, as in VectorRow
}

// VectorPlace is the branch of a vector's unit.
type VectorPlace struct {
	Session SessionID
	Branch  BranchID
}

// VectorHit is a result of a vector search; Cosine is exact.
type VectorHit struct {
	N      int64
	Cosine float64
}

// File is an attached document (SPEC 3). Its bytes are stored unchanged; its text is searched.
type File struct {
	ID        FileID    `json:"file_id"`
	SessionID SessionID `json:"session_id"`
	TurnID    TurnID    `json:"turn_id,omitempty"` // empty until its message is sent
	Name      string    `json:"name"`
	MediaType string    `json:"media_type"`
	Size      int64     `json:"size"` // bytes as attached
	Hash      string    `json:"content_hash"`
	Tokens    int       `json:"tokens"` // of its text
	CreatedAt time.Time `json:"created_at"`
}

// pagedTypes are the media types of documents that have pages.
var pagedTypes = []string{
	"application/pdf",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"application/vnd.oasis.opendocument.presentation",
}

// Paged reports whether documents of this type have pages, even if this one has only one page.
func (f File) Paged() bool { return slices.Contains(pagedTypes, f.MediaType) }
