package process

import (
	"testing"

	"contextinfinity/test/harness"
)

// TestWithMemoryOff runs the tests of sending, protocols and crashes again in a process with CONTEXTINFINITY=0: plain
// chat is just as durable (SPEC 16).
func TestWithMemoryOff(t *testing.T) {
	harness.Shipped(t)
	harness.Breakable(t)
	harness.RunWithMemoryOff(t, "^(TestSend|TestSRD22_2)", 3)
}
