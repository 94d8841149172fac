package prompt

import (
	"reflect"
	"testing"

	"contextinfinity/backend/chat"
)

// The steps of a turn so far follow its message as they are, after the memory block, and
// are counted; their results are never taken for the message that memory stands before.
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
