package process

import (
	"testing"

	"contextinfinity/test/harness"
)

// TestWithMemoryOff repeats the tests of sending and of crash recovery in a process with CONTEXTINFINITY=0: without
// memory, a chat is just as durable (SPEC 16).
func TestWithMemoryOff(t *testing.T) {
	harness.Shipped(t)
	harness.Breakable(t)
	harness.RunWithMemoryOff(t, "^(TestSend|TestSRD22_2)", 3)
}
