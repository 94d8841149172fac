package app

import (
	"testing"

	"contextinfinity/backend/config"
	"contextinfinity/backend/retrieval"
)

// Without a configuration, the program searches with the settings whose results docs/recall.md reports.
func TestTheDefaultsAreTheMeasuredOnes(t *testing.T) {
	if got := searchSettings(config.Default()); got != retrieval.Measured() {
		t.Errorf("\n%+v, measured\n%+v", got, retrieval.Measured())
	}
}
