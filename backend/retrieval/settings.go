package retrieval

import "slices"

// Settings are the settings of [retrieval] that concern the ranking, and the constants of the ranking. Their effects are
// described in docs/recall.md.
type Settings struct {
	// SRD selects the plain ranking of SRD 8.2 instead of the measured one.
	SRD bool

	TopK      int // maximum number of chunks among the hits; the plain ranking packs no others
	Overfetch int // number of units for the plain ranking

	Threshold      float64 // of calibrated similarity; below it a vector does not count
	VectorWeight   float64
	KeywordWeight  float64
	DecisionWeight float64 // factor for decisions
	Recency        float64 // bonus for the newest, 0 for the oldest; the best match has 1
	MMR            bool    // later artifacts are lowered by what they repeat

	Bounds Bounds

	tuning
}

// Bounds limit what is packed, with either ranking; 0: not limited. They are the settings of SRD 8.2 that a person set:
// the measured ranking packs as much as its budget allows unless told otherwise.
type Bounds struct {
	Artifacts  int     // retrieval.top_k
	Candidates int     // retrieval.overfetch_k: units that may be packed, best first
	Similarity float64 // retrieval.similarity_threshold, for passages without a word of the query
}

// within returns the ranked items that may be packed.
func (b Bounds) within(ranked []*item) []*item {
	if b.Similarity > 0 {
		ranked = slices.DeleteFunc(slices.Clone(ranked), func(x *item) bool {
			return x.keyword == 0 && !x.hasTerm && x.similar < b.Similarity
		})
	}
	if b.Candidates > 0 {
		ranked = ranked[:min(len(ranked), b.Candidates)]
	}
	return ranked
}

// tuning are the constants of the ranking that depend on the budget or that the plain ranking does without. Those in
// weights.go apply always.
type tuning struct {
	candidates int // number of ranked units; more for budgets above tokensPerCandidate times as many tokens
	near       int // how many of the best get their neighbours ranked too: half of these
	maxTerms   int // how many terms are searched, the rarest ones

	rolePrior     float64 // bonus for user messages; the best match has 1
	speakerBoost  float64 // bonus, as a share, for messages of a person named in the query
	lengthCost    float64 // exponent of the penalty for units longer than lengthFree
	lengthFree    int     // tokens
	neighbourWord float64 // share of a term in the next unit, half of it in the one after; and of one elsewhere in a reply
	neighbourSum  float64 // share of the next unit's score, half of it for the one after
	nearbyBest    float64 // share of the best score within nearbyUnits
	nearbyUnits   int
	replyBest     float64 // share of its reply's best score that the user message gets
	neighbourFull int     // tokens up to which a unit gets all of these; a longer one gets less
}

// Measured returns the defaults: the best values found on both sets of the benchmark. Settings without these constants
// rank nothing.
func Measured() Settings {
	return Settings{
		TopK:           6,
		Overfetch:      16,
		Threshold:      0.72,
		VectorWeight:   0.5,
		KeywordWeight:  0.5,
		DecisionWeight: 1,
		tuning: tuning{
			candidates:    200,
			maxTerms:      16,
			rolePrior:     0.8,
			speakerBoost:  0.5,
			lengthCost:    0.4,
			lengthFree:    30,
			neighbourWord: 0.3,
			neighbourSum:  0.1,
			nearbyBest:    0.2,
			nearbyUnits:   6,
			replyBest:     0.4,
			neighbourFull: 100,
		},
	}
}

// tokensPerCandidate is the number of tokens of the budget per additional ranked unit.
const tokensPerCandidate = 25

// effective adapts s to a search with this budget. The plain ranking has no prior, no length penalty, no neighbours.
func (s Settings) effective(maxTokens int) Settings {
	if s.SRD {
		s.tuning = tuning{
			candidates: max(s.Overfetch, 1),
			maxTerms:   s.maxTerms,
		}
		return s
	}
	s.candidates = max(s.candidates, maxTokens/tokensPerCandidate)
	s.near = s.candidates / 2
	if limit := s.Bounds.Candidates; limit > 0 {
		s.candidates = min(s.candidates, limit)
	}
	return s
}

// share is the weight of vectors, if there are any; words have the rest.
func (s Settings) share(embedder string) float64 {
	switch {
	case embedder == "":
		return 0
	case s.VectorWeight+s.KeywordWeight <= 0:
		return 0.5
	}
	return s.VectorWeight / (s.VectorWeight + s.KeywordWeight)
}
