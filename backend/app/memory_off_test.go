package app

import (
	"testing"

	"contextinfinity/test/harness"
)

// TestEarlierTestsWithMemoryOff runs the window's conversation again in a process with
// CONTEXTINFINITY=0; test/process does the same with the command line.
func TestEarlierTestsWithMemoryOff(t *testing.T) {
	harness.RunWithMemoryOff(t, "^TestWindowConversation", 1)
}
