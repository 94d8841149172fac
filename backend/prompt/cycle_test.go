package prompt

import (
	"reflect"
	"testing"

	"contextinfinity/backend/chat"
)

// The steps of the running turn follow its message unchanged, after the memory block, and are counted; their results
// are not mistaken for the message that memory precedes.
func TestStepsOfTheTurnFollowItsMessage(t *testing.T) {
	in := sample()
	in.Retrieved = []Artifact{{ID: "c1", Text: "a passage"}}
	before, err := Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	in.Tools = []chat.ToolDefinition{{Name: "search", Schema: []byte(`{"type":"object"}`)}}
	in.Cycle = []chat.Message{
		{Role: chat.RoleAssistant, Blocks: chat.Blocks{
			chat.Reasoning{Provider: "anthropic", Raw: []byte(`{"type":"thinking","signature":"s"}`)},
			chat.Text{Text: "I look."}, chat.ToolUse{ToolUseID: "1", Name: "search", Input: []byte(`{}`)},
		}},
		{Role: chat.RoleUser, Blocks: chat.Blocks{chat.ToolResult{ToolUseID: "1", Content: chat.Blocks{chat.Text{Text: "found it"}}}}},
	}
	c, err := Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	n := len(before.Messages())
	want := []chat.Message{in.Cycle[0], {Role: chat.RoleUser, Blocks: chat.Blocks{chat.ToolResult{
		ToolUseID: "1", Content: chat.Blocks{chat.Text{Text: "<tool_output>\nfound it\n</tool_output>"}},
	}}}}
	if !reflect.DeepEqual(c.Messages()[:n], before.Messages()) || !reflect.DeepEqual(c.Messages()[n:], want) {
		t.Errorf("the messages are %+v", c.Messages())
	}
	if c.Cycle() != 2 || c.StablePrefix() != before.StablePrefix() || len(c.Tools()) != 1 {
		t.Errorf("cycle %d, stable %d, %d tools", c.Cycle(), c.StablePrefix(), len(c.Tools()))
	}
	steps := 0
	for _, part := range c.Manifest().Sections[len(c.Manifest().Sections)-1].Items {
		if part.Source == "step" {
			steps += part.Tokens
		}
	}
	if steps < 2*messageOverhead+4 || c.Tokens() < before.Tokens()+steps {
		t.Errorf("%d tokens, %d before, %d for the steps", c.Tokens(), before.Tokens(), steps)
	}
	partial := chat.AssistantText("It is")
	in.Partial = &partial
	if c, err = Assemble(in); err != nil || c.Cycle() != 4 {
		t.Errorf("a continuation has a cycle of %d messages, %v", c.Cycle(), err)
	}
}

// Data that a provider needs back with a call is sent to this provider only, while the turn runs. For earlier turns
// neither this data nor reasoning that the protocol cannot carry is sent.
func TestProviderDataIsSentOnlyWithinItsTurn(t *testing.T) {
	step := chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{
		chat.Reasoning{Provider: "chatcompletions", Summary: "Hm."},
		chat.ToolUse{ToolUseID: "1", Name: "search", Input: []byte(`{}`), Provider: "chatcompletions", Extra: []byte(`{"extra_content":1}`)},
	}}
	result := chat.ToolResult{ToolUseID: "1", Content: chat.Blocks{chat.Text{Text: "found"}}}
	before := exchange("t1", "one", "")
	before.Assistant = &chat.Message{Role: chat.RoleAssistant, Blocks: append(append(chat.Blocks{}, step.Blocks...), result, chat.Text{Text: "It is there."})}
	for provider, want := range map[string]int{"chatcompletions": 1, "openai": 0} {
		in := sample().over([]chat.Turn{before}, nil)
		in.Provider = provider
		in.Cycle = []chat.Message{step, {Role: chat.RoleUser, Blocks: chat.Blocks{result}}}
		c, err := Assemble(in)
		if err != nil {
			t.Fatal(err)
		}
		thoughts, extras := 0, 0
		for i, m := range c.Messages() {
			for _, b := range m.Blocks {
				thought, thinks := b.(chat.Reasoning)
				use, calls := b.(chat.ToolUse)
				if thinks && thought.Summary != "" {
					thoughts++
				}
				if calls && len(use.Extra) > 0 {
					extras++
				}
				if i < len(c.Messages())-2 && (thinks || calls && use.Provider != "") {
					t.Errorf("%s: message %d contains %+v", provider, i, b)
				}
			}
		}
		if thoughts != want || extras != want {
			t.Errorf("%s: %d thoughts and %d members are sent back, want %d each", provider, thoughts, extras, want)
		}
	}
}

// DeepSeek and Kimi refuse the calls of an earlier turn without the reasoning that led to them. No other model gets it.
func TestReasoningOfCallsGoesBackToItsModel(t *testing.T) {
	thought := chat.Reasoning{Provider: oneText, Summary: "Hm.", Raw: []byte(`{"member":"reasoning_content"}`)}
	inText := chat.Reasoning{Provider: oneText, Summary: "Hm."}
	call := chat.Blocks{chat.ToolUse{ToolUseID: "1", Name: "a", Input: []byte(`{}`)}, chat.ToolResult{ToolUseID: "1"}}
	for _, c := range []struct {
		model  string
		blocks chat.Blocks
		kept   bool
	}{
		{"deep", append(chat.Blocks{thought}, call...), true},
		{"other", append(chat.Blocks{thought}, call...), false},
		{"deep", append(chat.Blocks{inText}, call...), false},
		{"deep", chat.Blocks{thought}, false},
	} {
		answer := chat.Message{Role: chat.RoleAssistant, Blocks: append(c.blocks, chat.Text{Text: "Done."})}
		_, sent, _ := TurnMessages(chat.Turn{Model: "deep", Provider: oneText, Assistant: &answer}, oneText, c.model)
		_, kept := sent.Blocks[0].(chat.Reasoning)
		if kept != c.kept {
			t.Errorf("%s gets %v", c.model, sent.Blocks)
		}
	}
}
