package app

import (
	"testing"

	"contextinfinity/backend/config"
	"contextinfinity/backend/retrieval"
)

// TestTheDefaultsAreTheMeasuredOnes: what docs/recall.md says was measured is what an
// installation without a configuration searches with.
func TestTheDefaultsAreTheMeasuredOnes(t *testing.T) {
	if got := searchSettings(config.Default()); got != retrieval.Measured() {
		t.Errorf("\n%+v, measured\n%+v", got, retrieval.Measured())
	}
}
