package models_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
)

// TestACutAnswerIsCounted: an answer that ends in the middle has the usage of what was sent and what arrived, thoughts too, although
// the provider reports none, and is not worth a retry; a server that is not reached costs nothing.
func TestACutAnswerIsCounted(t *testing.T) {
	part := `data: {"choices":[{"index":0,"delta":{"content":"The ferry leaves at nine"}}]}` + "\n\n"
	failure := `data: {"error":{"message":"overloaded","code":529}}` + "\n\n"
	for name, c := range map[string]struct {
		step        llmtest.Step
		counted     bool
		unreachable bool
	}{
		"dropped":     {llmtest.Step{Chunks: []string{part}, Drop: true}, true, false},
		"ended":       {llmtest.Step{Chunks: []string{part}}, true, false},
		"thought":     {llmtest.Step{Chunks: []string{strings.Replace(part, "content", "reasoning_content", 1)}, Drop: true}, true, false},
		"failed":      {llmtest.Step{Chunks: []string{part, failure}}, true, false},
		"not reached": {llmtest.Step{Drop: true}, false, true},
		"refused":     {llmtest.JSON(500, `{"error":{"message":"broken"}}`), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
			catalog := catalogAt(t, llmtest.NewServer(t, c.step).URL, "", &now, nil)
			words := func(_, s string) int { return len(strings.Fields(s)) }
			m, ok := catalog.Librarian("own", words, nil)
			if !ok {
				t.Fatal("there is no librarian")
			}
			_, usage, err := m.Complete(t.Context(), "Summarize.", "When does the ferry leave?", 100)
			e, _ := errors.AsType[*llm.Error](err)
			if err == nil || (e != nil && e.Unreachable()) != c.unreachable {
				t.Errorf("%+v", err)
			}
			if counted := usage != nil && usage.InputTokens >= 6 && usage.OutputTokens == 5; counted != c.counted || usage != nil && !c.counted {
				t.Errorf("the usage is %+v", usage)
			}
		})
	}
}
