package remote

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// TestFailureEndsOnce: the error message becomes a sentence with exactly one punctuation mark at the end.
func TestFailureEndsOnce(t *testing.T) {
	for message, suffix := range map[string]string{
		"nothing answers at host; is the server running?": "running?",
		"The key was refused.":                            "refused.",
		"the connection was closed":                       "closed.",
	} {
		got := chat.AsError(Failure("openai", &llm.Error{Code: chat.CodeProvider, Message: message})).Message
		if hint := chat.AsError(Failure("openai", &llm.Error{Code: chat.CodeUnavailable, Message: message})).Hint; !strings.HasSuffix(hint, "made once it responds") {
			t.Errorf("advice %q claims that it responded before", hint)
		}
		if !strings.HasSuffix(got, suffix) || strings.HasSuffix(got, "?.") || strings.HasSuffix(got, "..") {
			t.Errorf("%q becomes %q", message, got)
		}
	}
}
