package librarian

import (
	"strings"
	"testing"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

func attached(text string) chat.Turn {
	answer := chat.AssistantText("It is about a harbour.")
	return chat.Turn{Seq: 1, Assistant: &answer, User: chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{
		chat.Document{Name: "harbour.md", Text: text, Complete: true}, chat.Text{Text: "What is this document about, in one line?"},
	}}}
}

// A model is given a document's name and beginning. An extract and the rule-based summary contain only its name, and
// nothing from it as if the user had said it.
func TestDocumentsInSummaries(t *testing.T) {
	turn := attached("We decided to close the gate at nine. The deadline is 2031-05-06." + strings.Repeat(" 日本", 4000))
	passages := passagesOf([]chat.Turn{turn}, newMask(nil))
	if !strings.Contains(passages[0].text, "harbour.md, which begins:)\nWe decided to close the gate") || len(passages[0].text) > 2*documentBytes || !utf8.ValidString(passages[0].text) {
		t.Errorf("a model is given %q", passages[0].text)
	}
	count := func(s string) int { return len(s) / 4 }
	extract := Extract([]chat.Turn{turn}, 400, count)
	summary := Fallback(Update{Turns: []chat.Turn{turn}, Target: 400, Count: count}).Summary
	for name, text := range map[string]string{"extract": extract, "summary": summary} {
		if !strings.Contains(text, "harbour.md") || strings.Contains(text, "2031-05-06") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
