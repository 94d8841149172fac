package config

import (
	"math"
	"testing"
)

func TestRankingFollowsTheProfile(t *testing.T) {
	for text, want := range map[string]struct {
		recency float64
		mmr     bool
		vectors float64
	}{
		``:                                       {0, false, 0.5},
		`profile = "srd"`:                        {0.1, true, 0.7},
		"profile = \"srd\"\nrecency_boost = 0.3": {0.3, true, 0.7},
		// The measured defaults, but set explicitly.
		"profile = \"srd\"\nrecency_boost = 0.0\nenable_mmr = false":   {0, false, 0.7},
		"recency_boost = 0.2\nenable_mmr = true":                       {0.2, true, 0.5},
		"profile = \"srd\"\nvector_weight = 0.5\nkeyword_weight = 0.5": {0.1, true, 0.5},
	} {
		c, err := Parse("config.toml", []byte("[retrieval]\n"+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if r := c.Ranking(); r.RecencyBoost != want.recency || r.EnableMMR != want.mmr || r.VectorWeight != want.vectors || math.Abs(r.KeywordWeight+want.vectors-1) > 1e-9 {
			t.Errorf("%q: %+v; want %+v", text, r, want)
		}
	}
}
