package schema

import (
	"errors"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// The window states separately that nothing was overwritten; the command line shows the hint.
func TestUnopenableHintSaysThatNothingWasOverwritten(t *testing.T) {
	err := chat.AsError(Unopenable("/data/main.db", errors.New("file is not a database")))
	if err.Code != chat.CodeCorrupt || strings.Contains(err.Message, "overwritten") || !strings.HasPrefix(err.Hint, "nothing was overwritten; ") {
		t.Errorf("%s: %s (%s)", err.Code, err.Message, err.Hint)
	}
}
