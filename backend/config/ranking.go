package config

// ProfileSRD is the value of retrieval.profile that selects the plain ranking of SRD 8.2.
const ProfileSRD = "srd"

// Defaults of SRD 8.2 that differ from the measured ones.
const (
	srdRecencyBoost  = 0.10
	srdEnableMMR     = true
	srdVectorWeight  = 0.7
	srdKeywordWeight = 0.3
)

// Ranking returns the settings of [retrieval] with the defaults of its profile for the keys that are not set.
func (c *Config) Ranking() Retrieval {
	r := c.Retrieval
	if r.Profile != ProfileSRD {
		return r
	}
	unset := func(key string) bool { return c.Origin("retrieval."+key) == OriginDefault }
	if unset("recency_boost") {
		r.RecencyBoost = srdRecencyBoost
	}
	if unset("enable_mmr") {
		r.EnableMMR = srdEnableMMR
	}
	if unset("vector_weight") && unset("keyword_weight") { // they sum to 1
		r.VectorWeight, r.KeywordWeight = srdVectorWeight, srdKeywordWeight
	}
	return r
}
