package config

// ProfileSRD is the value of retrieval.profile that selects the plain ranking of SRD 8.2.
const ProfileSRD = "srd"

// Defaults of SRD 8.2 that differ from the measured ones.
const (
	srdRecencyBoost = 0.10
	srdEnableMMR    = true
)

// Adjustments returns retrieval.recency_boost and retrieval.enable_mmr. If a key is not set, the profile determines
// its default.
func (c *Config) Adjustments() (recency float64, mmr bool) {
	r := c.Retrieval
	recency, mmr = r.RecencyBoost, r.EnableMMR
	if r.Profile != ProfileSRD {
		return recency, mmr
	}
	if c.Origin("retrieval.recency_boost") == OriginDefault {
		recency = srdRecencyBoost
	}
	if c.Origin("retrieval.enable_mmr") == OriginDefault {
		mmr = srdEnableMMR
	}
	return recency, mmr
}
