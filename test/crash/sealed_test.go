package crash

import (
	"testing"

	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// sealedSuites are the tests that also run on sealed data: losses of power, failing disk operations, kills and flipped
// bits. The others change tables or files by themselves.
const sealedSuites = `^(TestEveryIOFaultOfATurn|TestPowerLossKeepsAcceptedPrompts|TestRandomKillsLoseNothing|TestFlippedBytesAreFound)$`

// everydaySealedSuites leave the flipped bits to backend/store, which also flips some on sealed files.
const everydaySealedSuites = `^(TestEveryIOFaultOfATurn|TestPowerLossKeepsAcceptedPrompts|TestRandomKillsLoseNothing)$`

// TestOnSealedData runs suites a second time, with the data sealed by the program before the first message.
func TestOnSealedData(t *testing.T) {
	harness.Again(t, testtier.Size(everydaySealedSuites, sealedSuites))
}
