package turn_test

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// TestInstructionsForAllChats: they come before those of the session, from the next message on.
func TestInstructionsForAllChats(t *testing.T) {
	w := newEnv(t)
	w.send("one")
	w.settings.Instructions = "I am a nurse in Vienna."
	w.send("two")
	if err := w.store.SetSessionSettings(t.Context(), w.session.ID, chat.SessionSettings{SystemPrompt: "Answer in verse."}); err != nil {
		t.Fatal(err)
	}
	w.send("three")
	got := w.provider.requests()
	if !strings.Contains(got[0], prompt.DefaultSystem) || strings.Contains(got[0], "nurse") {
		t.Errorf("without any: %s", got[0])
	}
	if !strings.Contains(got[1], "I am a nurse in Vienna.") || strings.Contains(got[1], "verse") {
		t.Errorf("with those for all: %s", got[1])
	}
	before, after, found := strings.Cut(got[2], "I am a nurse in Vienna.")
	if !found || !strings.Contains(after, "Answer in verse.") || strings.Contains(before, "verse") {
		t.Errorf("with those of the session too: %s", got[2])
	}
	w.clean()
}
