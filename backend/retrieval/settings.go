package retrieval

// Settings are the parameters of [retrieval]. Their effects are described in docs/recall.md.
type Settings struct {
	// SRD selects the plain ranking of SRD 8.2 instead of the measured one. It only uses the fields below up to MMR,
	// without Candidates and Near.
	SRD bool

	TopK       int // maximum number of chunks among the hits; the plain ranking packs no others
	Overfetch  int // number of units for the plain ranking
	Candidates int // number of ranked units
	Near       int // how many of the best get their neighbours ranked too
	MaxTerms   int // how many terms are searched, the rarest ones

	Threshold      float64 // of calibrated similarity; below it a vector does not count
	VectorWeight   float64 // with model embeddings
	KeywordWeight  float64 // with model embeddings
	LocalWeight    float64 // share of the embedded embedder's vectors; words have the rest
	DecisionWeight float64 // factor for decisions
	Recency        float64 // bonus for the newest, 0 for the oldest; the best match has 1
	MMR            bool    // later artifacts are lowered by what they repeat

	RolePrior     float64 // bonus for user messages
	SpeakerBoost  float64 // bonus, as a share, for messages of a person named in the query
	LengthCost    float64 // exponent of the penalty for units longer than LengthFree
	LengthFree    int     // tokens
	NeighbourWord float64 // share of a term in the next unit, half of it in the one after
	NeighbourSum  float64 // share of the next unit's score, half of it for the one after
	NearbyBest    float64 // share of the best score within NearbyUnits
	NearbyUnits   int
	ReplyBest     float64 // share of its reply's best score that the user message gets
	NeighbourFull int     // tokens up to which a unit gets all of these; a longer one gets less
}

// Measured returns the defaults: the best values found on both sets of the benchmark.
func Measured() Settings {
	return Settings{
		TopK: 6, Overfetch: 16, Candidates: 200, Near: 100, MaxTerms: 16,
		Threshold: 0.72, VectorWeight: 0.7, KeywordWeight: 0.3, LocalWeight: 0.03,
		DecisionWeight: 1, RolePrior: 0.8, SpeakerBoost: 0.5, LengthCost: 0.4, LengthFree: 30,
		NeighbourWord: 0.3, NeighbourSum: 0.1, NearbyBest: 0.2, NearbyUnits: 6, ReplyBest: 0.4, NeighbourFull: 100,
	}
}

// plain returns the settings for the ranking of SRD 8.2: no prior, no length penalty, no neighbours.
func (s Settings) plain() Settings {
	return Settings{
		SRD: true, TopK: s.TopK, Candidates: max(s.Overfetch, 1), MaxTerms: max(s.MaxTerms, 1), Threshold: s.Threshold,
		VectorWeight: s.VectorWeight, KeywordWeight: s.KeywordWeight, LocalWeight: s.LocalWeight,
		DecisionWeight: s.DecisionWeight, Recency: s.Recency, MMR: s.MMR, LengthFree: 1, NeighbourFull: 1,
	}
}

// tokensPerCandidate is the number of tokens of the budget per additional ranked unit.
const tokensPerCandidate = 25

// effective adapts s to a search with this budget.
func (s Settings) effective(maxTokens int) Settings {
	if s.SRD {
		return s.plain()
	}
	s.Candidates, s.MaxTerms = max(s.Candidates, 1), max(s.MaxTerms, 1)
	if candidates := maxTokens / tokensPerCandidate; candidates > s.Candidates {
		s.Near, s.Candidates = s.Near*candidates/s.Candidates, candidates
	}
	s.NearbyBest *= min(max(float64(maxTokens)/narrowBudget, 1), maxNearby)
	s.LengthFree, s.NeighbourFull = max(s.LengthFree, 1), max(s.NeighbourFull, 1)
	return s
}

// share is the weight of an embedder's vectors; words have the rest.
func (s Settings) share(embedder string) float64 {
	switch {
	case embedder == "":
		return 0
	case embedder == localEmbedder:
		return s.LocalWeight
	case s.VectorWeight+s.KeywordWeight <= 0:
		return 0.5
	}
	return s.VectorWeight / (s.VectorWeight + s.KeywordWeight)
}

// localEmbedder is the name of the embedded embedder, which has its own weight.
const localEmbedder = "local"
