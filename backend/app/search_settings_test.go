package app

import (
	"path/filepath"
	"testing"

	"contextinfinity/backend/config"
	"contextinfinity/backend/retrieval"
	"contextinfinity/test/harness"
)

// Without a configuration, the program searches with the settings whose results docs/recall.md reports.
func TestTheDefaultsAreTheMeasuredOnes(t *testing.T) {
	if got := searchSettings(config.Default()); got != retrieval.Measured() {
		t.Errorf("\n%+v, measured\n%+v", got, retrieval.Measured())
	}
}

// Numbers of SRD 8.2 that are set bound what is packed, whatever the profile.
func TestSetNumbersAreBounds(t *testing.T) {
	for _, profile := range []string{"measured", "srd"} {
		path := filepath.Join(t.TempDir(), "config.toml")
		harness.WriteFile(t, path, []byte("[retrieval]\nprofile = \""+profile+"\"\ntop_k = 6\noverfetch_k = 16\nsimilarity_threshold = 0.72\n"))
		cfg, err := config.Open(config.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if got := searchSettings(cfg.Config()).Bounds; got != (retrieval.Bounds{Artifacts: 6, Candidates: 16, Similarity: 0.72}) {
			t.Errorf("%s: %+v", profile, got)
		}
	}
}
