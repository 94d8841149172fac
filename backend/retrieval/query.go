package retrieval

import (
	"contextinfinity/backend/chat"
)

// Query is a search of memory.
type Query struct {
	Text   string // of a long one its Ends
	Within chat.Within
	// Limit bounds the hits; 0: retrieval.top_k. It does not bound what is packed.
	Limit int
	// MaxTokens is the budget of packing, frames included; 0: nothing is packed.
	MaxTokens int
	// Count measures a text in tokens. nil: four bytes a token.
	Count func(string) int
	// WordsAlone, if the vector half fails, still answers from the keyword half and
	// says so in Result.Warning. Otherwise such a search fails as a whole.
	WordsAlone bool
}

// Result is what a search found.
type Result struct {
	Hits       []Hit      // chunks, best first
	Artifacts  []Artifact // what was packed, best first
	Tokens     int        // of all artifacts
	Candidates int        // units that were looked at
	Embedder   string     // identity of the vectors; empty: words alone
	Warning    string     // why the vector half did not answer
	Timing     Timing
}

// Hit is a chunk that was found, with the scores of its best unit.
type Hit struct {
	chat.ChunkText
	Unit       chat.Span // of the best unit, in Source
	Rank       int       // from 1
	Score      float64   // by which it is ranked
	Cosine     float64   // 0 where vectors did not find it
	Similarity float64   // Cosine calibrated: share of the embedder's noise below it
	BM25       float64   // 0 where no word matched
	Keyword    float64   // BM25 as a share of the best match's
}

// Artifact is a hit as it stands in a prompt.
type Artifact struct {
	Hit
	Form   chat.PackedAs
	Slices []chat.Span // of Source, in order; nil unless Form is slice
	Text   string      // with a line before it that says when and who
	Tokens int         // of Text in its frame
}

// Timing is where a search's time went, in milliseconds.
type Timing struct {
	Embed   float64 `json:"embed_ms"`
	Vector  float64 `json:"vector_ms"`
	Keyword float64 `json:"keyword_ms"`
	Rank    float64 `json:"rank_ms"`
	Pack    float64 `json:"pack_ms"`
	Total   float64 `json:"total_ms"`
}
