package intent_test

import (
	"strings"
	"testing"

	"contextinfinity/backend/internal/intent"
)

// Only the beginning of a long message is read.
func TestTypedInstructions(t *testing.T) {
	paste := strings.Repeat("A line of a log file.\n", 5000)
	for text, want := range map[string]int{
		"Always use tabs.": 1, "Always use tabs.\n" + paste: 1, paste + "Always use tabs.": 0, strings.Repeat("x", 200_000): 0,
	} {
		if got := intent.TypedInstructions(text); len(got) != want {
			t.Errorf("%d bytes: %d instructions, want %d", len(text), len(got), want)
		}
	}
}
