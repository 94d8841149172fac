package retrieval

import (
	"contextinfinity/backend/chat"
)

// Query is a search of memory.
type Query struct {
	Text string // only its beginning and end are used if it is long
	// Previous is the message before a short question, which may continue it ("and the second one?") or stand alone ("do
	// I own a pet?"). Both readings are searched, and their results alternate. Empty: the question stands alone.
	Previous string
	Within   chat.Within
	// Limit is the maximum number of hits; 0: retrieval.top_k. It does not limit packing.
	Limit int
	// MaxTokens is the budget for packing, including frames; 0: nothing is packed.
	MaxTokens int
	// Count returns the tokens of a text. nil: four bytes per token.
	Count func(string) int
	// AllowWordsOnly accepts the results of the keyword half if the vector half fails, with a Result.Warning. Otherwise
	// such a search fails.
	AllowWordsOnly bool
}

// Result is the result of a search.
type Result struct {
	Hits       []Hit       // chunks, best first
	Artifacts  []Artifact  // the packed artifacts, best first
	Tokens     int         // of all artifacts
	Candidates int         // number of ranked units
	Embedder   string      // identity of the vectors; empty: words only
	Warning    chat.Phrase // why the vector half or the reranker failed
	Timing     Timing
}

// Hit is a chunk that was found, with the scores of its best unit or passage.
type Hit struct {
	chat.ChunkText
	Unit chat.Span // of the best unit or passage, in Source
	Rank int       // from 1
	// Score is how well it answers the query, 0 to 1: the order of hits. The best hit's score is the share of the
	// query that it and its surroundings contain; the others are in proportion.
	Score      float64
	Cosine     float64 // 0 if not found by vectors
	Similarity float64 // the calibrated cosine: share of the embedder's noise below it
	Measured   float64 // Similarity, also of a passage that was found by its words only; 0: unknown
	BM25       float64 // 0 if no word matched
	Keyword    float64 // BM25 as a share of the best match's
	Why        Why
}

// Why is the reason for a hit. It may be empty with the plain ranking of SRD 8.2.
type Why struct {
	Words     []string // of the query, in the passage itself
	Around    []string // of the query, only in its surroundings
	Answers   string   // if it is a reply: the beginning of the question that it answers
	Continues bool     // contains no word of the query, but is next to a match
	Standing  bool     // an instruction or preference that applies to everything after it
	Question  bool     // only a question
	Repeats   bool     // asks the same as the query
	Overview  bool     // the query asks for an overview, so the budget is divided among days
}

// Reasons returns the reasons as they are stored with a request, without any text of the conversation.
func (w Why) Reasons() []chat.Reason {
	var out []chat.Reason
	for _, r := range []struct {
		applies bool
		reason  chat.Reason
	}{
		{w.Answers != "", chat.ReasonAnswer},
		{w.Standing, chat.ReasonStanding},
		{w.Repeats, chat.ReasonRepeat},
		{w.Question && !w.Repeats, chat.ReasonQuestion},
		{w.Overview, chat.ReasonOverview},
	} {
		if r.applies {
			out = append(out, r.reason)
		}
	}
	return out
}

// Artifact is a hit in the form used in a prompt.
type Artifact struct {
	Hit
	Form   chat.PackedAs
	Slices []chat.Span // of Source, in order; nil unless Form is slice
	Text   string      // after a line with hour and speaker
	Tokens int         // of Text in its frame
}

// Timing is the duration of a search's parts, in milliseconds.
type Timing struct {
	Embed   float64 `json:"embed_ms"`
	Vector  float64 `json:"vector_ms"`
	Keyword float64 `json:"keyword_ms"`
	Rank    float64 `json:"rank_ms"`
	Pack    float64 `json:"pack_ms"`
	Total   float64 `json:"total_ms"`
}
