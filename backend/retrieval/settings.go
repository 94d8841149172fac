package retrieval

// Settings are the numbers of [retrieval]. What each is worth is in
// docs/recall.md.
type Settings struct {
	// SRD ranks by the plain rule of SRD 8.2 instead of what was measured: of the fields
	// below only those up to MMR count, without Candidates and Near.
	SRD bool

	TopK       int // chunks that are listed as hits; the plain rule packs no others
	Overfetch  int // units that the plain rule ranks
	Candidates int // units that are ranked
	Near       int // of these, the best, whose neighbours are ranked too
	MaxTerms   int // terms that are searched for, the rarest

	Threshold      float64 // of calibrated similarity; below it a vector says nothing
	VectorWeight   float64 // of model embeddings
	KeywordWeight  float64 // beside model embeddings
	LocalWeight    float64 // of the embedded embedder's vectors; words have the rest
	DecisionWeight float64 // factor for decisions
	Recency        float64 // added to the newest, none to the oldest; the best match has 1
	MMR            bool    // later artifacts lose by what they repeat

	RolePrior     float64 // added to what the user said
	SpeakerBoost  float64 // share added to what a person named in the query said
	LengthCost    float64 // exponent by which units longer than LengthFree lose
	LengthFree    int     // tokens
	NeighbourWord float64 // share of a term that is in the next unit, half in the one after
	NeighbourSum  float64 // share of the next unit's score, half of the one after
	NearbyBest    float64 // share of the best score within NearbyUnits
	NearbyUnits   int
	ReplyBest     float64 // share of its reply's best score that the user's message is given
	NeighbourFull int     // tokens up to which a unit takes all of these; a longer one takes less
}

// Measured are the defaults: the best found on both of the benchmark's sets.
func Measured() Settings {
	return Settings{
		TopK: 6, Overfetch: 16, Candidates: 200, Near: 100, MaxTerms: 16,
		Threshold: 0.72, VectorWeight: 0.7, KeywordWeight: 0.3, LocalWeight: 0.03,
		DecisionWeight: 1, RolePrior: 0.8, SpeakerBoost: 0.5, LengthCost: 0.4, LengthFree: 30,
		NeighbourWord: 0.3, NeighbourSum: 0.1, NearbyBest: 0.2, NearbyUnits: 6, ReplyBest: 0.4, NeighbourFull: 100,
	}
}

// plain are the settings of the rule of SRD 8.2: no prior, no cost of length, nothing from
// neighbours.
func (s Settings) plain() Settings {
	return Settings{
		SRD: true, TopK: s.TopK, Candidates: max(s.Overfetch, 1), MaxTerms: max(s.MaxTerms, 1), Threshold: s.Threshold,
		VectorWeight: s.VectorWeight, KeywordWeight: s.KeywordWeight, LocalWeight: s.LocalWeight,
		DecisionWeight: s.DecisionWeight, Recency: s.Recency, MMR: s.MMR, LengthFree: 1, NeighbourFull: 1,
	}
}

// tokensPerCandidate is for how many tokens of the budget one more unit is ranked.
const tokensPerCandidate = 25

// effective is s as a search with a budget goes by it.
func (s Settings) effective(maxTokens int) Settings {
	if s.SRD {
		return s.plain()
	}
	s.Candidates, s.MaxTerms = max(s.Candidates, 1), max(s.MaxTerms, 1)
	if wanted := maxTokens / tokensPerCandidate; wanted > s.Candidates {
		s.Near, s.Candidates = s.Near*wanted/s.Candidates, wanted
	}
	s.NearbyBest *= min(max(float64(maxTokens)/narrowBudget, 1), mostNearby)
	s.LengthFree, s.NeighbourFull = max(s.LengthFree, 1), max(s.NeighbourFull, 1)
	return s
}

// share is how much vectors of an embedder count; words have the rest.
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

// localEmbedder is the name of the embedded embedder, which has a weight of its own.
const localEmbedder = "local"
