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
	Warning    string     // why the vector half or the reranker did not answer
	Timing     Timing
}

// Hit is a chunk that was found, with the scores of its best unit or passage.
type Hit struct {
	chat.ChunkText
	Unit chat.Span // of the best unit or passage, in Source
	Rank int       // from 1
	// Score is how well it answers the query, 0 to 1: the order of hits. The best hit's is
	// the share of the query that it and its surroundings say; the others' are in proportion.
	Score      float64
	Cosine     float64 // 0 where vectors did not find it
	Similarity float64 // Cosine calibrated: share of the embedder's noise below it
	BM25       float64 // 0 where no word matched
	Keyword    float64 // BM25 as a share of the best match's
	Why        Why
}

// Why says what brought a hit in. All of it may be empty where the ranking is the plain
// one of SRD 8.2.
type Why struct {
	Words     []string // of the query, that the passage says itself
	Around    []string // of the query, that only its surroundings say
	Answers   string   // beginning of the question that it answers, where it is a reply
	Continues bool     // says no word of the query itself; is beside what does
	Standing  bool     // an order or preference that holds for everything after it
	Question  bool     // only asks
	Repeats   bool     // asks the query once more
	Overview  bool     // the query asks for the course of things, so days share the budget
}

// Reasons are what is stored of it with a request: no words of the conversation.
func (w Why) Reasons() []chat.Reason {
	var out []chat.Reason
	for _, r := range []struct {
		holds  bool
		reason chat.Reason
	}{
		{w.Answers != "", chat.ReasonAnswer},
		{w.Standing, chat.ReasonStanding},
		{w.Repeats, chat.ReasonRepeat},
		{w.Question && !w.Repeats, chat.ReasonQuestion},
		{w.Overview, chat.ReasonOverview},
	} {
		if r.holds {
			out = append(out, r.reason)
		}
	}
	return out
}

// Artifact is a hit as it is in a prompt.
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
