package crash

import (
	"testing"

	"contextinfinity/test/harness"
)

// sealedSuites are the tests that also run on sealed data: losses of power, and failing disk operations. The others read
// the tables themselves, which they cannot do with sealed files.
const sealedSuites = `^(TestEveryIOFaultOfATurn|TestPowerLossKeepsAcceptedPrompts)$`

// TestOnSealedData runs suites a second time, with the data sealed by the program before the first message.
func TestOnSealedData(t *testing.T) { harness.Again(t, sealedSuites) }
