package app

import (
	"fmt"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/anthropic"
	"contextinfinity/backend/llm/chatcompletions"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/llm/openai"
	"contextinfinity/backend/prompt"
	"contextinfinity/test/harness"
)

// In each protocol a third-party server understands the requests of a turn with tools: the definitions, and in each step
// every call with its result.
func TestAThirdPartyServerReadsTheStepsOfATurn(t *testing.T) {
	url := harness.ProviderURL(t)
	for name, p := range map[string]llm.Provider{
		"anthropic": anthropic.New(nil), "openai": openai.New(nil), "chatcompletions": chatcompletions.New(nil),
	} {
		t.Run(name, func(t *testing.T) {
			for steps, stream := range map[int]bool{2: true, 16: true, 1: false} {
				ep := llm.Endpoint{
					Provider: name, ModelID: "gpt-5", BaseURL: url, Key: "sk-test", Stream: stream,
					ToolsMode: llm.ToolsEnabled, ParallelToolCalls: true, Effort: "low",
				}
				if name != "anthropic" {
					ep.BaseURL += "/v1"
				}
				read := playTools(t, p, ep, steps)
				for _, want := range expectedParts(steps) {
					before, after, found := strings.Cut(read, want)
					if !found || strings.Contains(before, "result of") {
						t.Fatalf("%d steps: %q does not come next in what the server read:\n%s", steps, want, read)
					}
					read = after
				}
			}
		})
	}
}

// expectedParts returns the parts of what provider.mjs writes at the end of a turn, in their order. Results are inside
// the frame for tool output.
func expectedParts(steps int) []string {
	parts := []string{"Offered: get_weather files__search\n"}
	for i := range steps {
		parts = append(parts,
			fmt.Sprintf(`get_weather({"city":"<Köln %d>"}) = `, i), fmt.Sprintf("result of call_%d_get_weather", i),
			"files__search({}) = ", fmt.Sprintf("result of call_%d_files__search", i))
	}
	return parts
}

// playTools sends requests and answers every tool call until an answer calls none, and returns its text.
func playTools(t *testing.T, p llm.Provider, ep llm.Endpoint, steps int) string {
	t.Helper()
	var cycle []chat.Message
	for range steps + 1 {
		r := askStep(t, p, ep, steps, cycle)
		if r.Status != chat.StepPaused {
			if r.Status != chat.StepCompleted {
				t.Errorf("the turn ends as %s: %v", r.Status, r.Err)
			}
			return r.Text()
		}
		results := chat.Message{Role: chat.RoleUser}
		for _, b := range r.Blocks {
			if use, ok := b.(chat.ToolUse); ok {
				results.Blocks = append(results.Blocks, chat.ToolResult{
					ToolUseID: use.ToolUseID, Content: chat.Blocks{chat.Text{Text: "result of " + use.ToolUseID}},
				})
			}
		}
		if want := fmt.Sprintf("Step %d.", len(cycle)/2); r.Text() != want || len(results.Blocks) != 2 {
			t.Fatalf("%q with %d calls, not %q with two", r.Text(), len(results.Blocks), want)
		}
		cycle = append(cycle, chat.Message{Role: chat.RoleAssistant, Blocks: r.Blocks}, results)
	}
	t.Fatalf("the turn continues after %d steps", steps)
	return ""
}

// askStep sends one request of the turn and returns the answer.
func askStep(t *testing.T, p llm.Provider, ep llm.Endpoint, steps int, cycle []chat.Message) llm.Result {
	t.Helper()
	c, err := prompt.Assemble(prompt.Input{
		Model: "m", ModelID: ep.ModelID, Provider: p.Name(), Calibration: 1, Policy: prompt.DefaultPolicy(),
		Limits: prompt.Limits{ContextLimit: 100_000, MaxOutput: 1000, ResponseReserve: 1000, SafetyMargin: 1000, WorkingSet: 50_000, StateTarget: 1000},
		Count:  func(s string) int { return len(s) / 4 },
		Tools:  []chat.ToolDefinition{llmtest.Weather, llmtest.Search}, Cycle: cycle, StepIndex: len(cycle) / 2,
		Current: chat.UserText("Look it up. " + harness.Tag("tools", steps)),
	})
	if err != nil {
		t.Fatal(err)
	}
	body, err := p.Encode(llm.Request{Endpoint: ep, Context: c})
	if err != nil {
		t.Fatal(err)
	}
	if err := llmtest.RuleViolation(p.Name(), body); err != nil {
		t.Errorf("%v\n%s", err, body)
	}
	var events []chat.RawEvent
	if err := p.Stream(t.Context(), ep, body, func(ev chat.RawEvent) error { events = append(events, ev); return nil }); err != nil {
		t.Fatal(err)
	}
	return llmtest.Play(t, p, ep.ToolsMode, events).Result
}
