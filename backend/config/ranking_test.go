package config

import "testing"

func TestAdjustmentsFollowTheProfile(t *testing.T) {
	for text, want := range map[string]struct {
		recency float64
		mmr     bool
	}{
		``:                                       {0, false},
		`profile = "srd"`:                        {0.1, true},
		"profile = \"srd\"\nrecency_boost = 0.3": {0.3, true},
		// The measured defaults, but set explicitly.
		"profile = \"srd\"\nrecency_boost = 0.0\nenable_mmr = false": {0, false},
		"recency_boost = 0.2\nenable_mmr = true":                     {0.2, true},
	} {
		c, err := Parse("config.toml", []byte("[retrieval]\n"+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if recency, mmr := c.Adjustments(); recency != want.recency || mmr != want.mmr {
			t.Errorf("%q: %v, %v; want %+v", text, recency, mmr, want)
		}
	}
}
