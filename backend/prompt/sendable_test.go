package prompt

import (
	"errors"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// An item shows what its adapter can send: nothing blank and no opaque data of another provider. An empty line
// between texts is part of the item where a protocol joins them into one text.
func TestAnItemShowsWhatCanBeSent(t *testing.T) {
	mixed := chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{
		chat.Text{Text: "\n\n"}, chat.Reasoning{Provider: "anthropic", Summary: "own"}, chat.Text{Text: "One."},
		chat.Unknown{Provider: "openai", Raw: []byte(`{"type":"secret"}`)}, chat.Refusal{Text: "Two."}, chat.Text{Text: " "},
	}}
	for provider, want := range map[string]string{"anthropic": "One.Two.", "openai": "One.Two.", "chatcompletions": "One.\n\nTwo."} {
		in := sample()
		in.Provider = provider
		turns := []chat.Turn{exchange("t1", "ask", "")}
		turns[0].Assistant = &mixed
		c, err := Assemble(in.over(turns, nil))
		if err != nil {
			t.Fatal(err)
		}
		sent := c.Messages()[1]
		text := ""
		for _, b := range sent.Blocks {
			text += textOf(b)
		}
		shown := c.Texts()[len(c.Texts())-5]
		for _, x := range c.Texts() {
			if x.Seq == 1 && x.Role == string(chat.RoleAssistant) {
				shown = x
			}
		}
		if text != want || provider == "chatcompletions" && shown.Text != want {
			t.Errorf("%s: sent %q, shown %q, want %q", provider, text, shown.Text, want)
		}
		if strings.Contains(shown.Text, "secret") != (provider == "openai") || strings.Contains(shown.Text, "own") != (provider == "anthropic") {
			t.Errorf("%s: an opaque block of another producer: %q", provider, shown.Text)
		}
	}
	if len(mixed.Blocks) != 6 || mixed.Blocks[2].(chat.Text).Text != "One." {
		t.Error("the turn's own message was changed")
	}
}

// With memory off nothing is dropped to make space: a context that does not fit is an error with its numbers, even if
// there are pending turns that the shrinker could drop.
func TestPlainChatIsNotShrunk(t *testing.T) {
	in := sample()
	in.Policy.History, in.Pins, in.Head.Summary = HistoryOff, nil, ""
	in = in.over(nil, long(30, 400))
	_, err := Assemble(in)
	var over *OverBudgetError
	if chat.CodeOf(err) != chat.CodeOverBudget || !errors.As(err, &over) || over.Required <= over.Ceiling || over.PendingTurns != 30 {
		t.Errorf("%v: %+v", err, over)
	}
	if h := chat.AsError(err).Hint; !strings.Contains(h, "context.infinity") {
		t.Errorf("hint %q", h)
	}
}
