package chunking_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
)

func words(s string) int { return len(strings.Fields(s)) }

func turnOf(user, assistant string) chat.Turn {
	answer := chat.AssistantText(assistant)
	return chat.Turn{
		ID: "T", SessionID: "S", BranchID: "B", Provider: "openai",
		User: chat.UserText(user), Assistant: &answer,
		CreatedAt: time.Date(2026, 3, 4, 23, 30, 0, 0, time.FixedZone("", -3600)),
	}
}

func TestChunk(t *testing.T) {
	got := chunking.Chunk(turnOf("What is up?", "All is\nwell."), chunking.Options{Count: words})
	want := []chat.Chunk{
		{
			SessionID: "S", BranchID: "B", SourceTurn: "T", Ordinal: 0, Role: chat.RoleUser,
			Start: 0, End: 11, Text: "What is up?", Summary: "What is up?", Type: chat.ChunkUserContext,
			Tokens: 3, ContentHash: chat.HashText("What is up?"), Version: chunking.Version,
			Units: []chat.Unit{{Role: chat.RoleUser, End: 11, Tokens: 3, Text: "[5 March 2026] user: All is well. What is up?"}},
		},
		{
			SessionID: "S", BranchID: "B", SourceTurn: "T", Ordinal: 1, Role: chat.RoleAssistant,
			Start: 0, End: 12, Text: "All is\nwell.", Summary: "All is well.", Type: chat.ChunkExplanation,
			Tokens: 3, ContentHash: chat.HashText("All is\nwell."), Version: chunking.Version,
			Units: []chat.Unit{{Role: chat.RoleAssistant, End: 12, Tokens: 3, Text: "[5 March 2026] assistant: What is up? All is\nwell."}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Chunk returns\n%+v, want\n%+v", got, want)
	}
}

func TestTextThatIsNotIndexed(t *testing.T) {
	recall := turnOf("what did I say?", "You said: x")
	recall.Provider = "recall"
	unanswered := turnOf("question", "")
	unanswered.Assistant = nil
	toolsOnly := turnOf("run it", "")
	toolsOnly.Assistant = &chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.ToolUse{Name: "x"}}}
	for name, turn := range map[string]chat.Turn{"recall's quotations": recall, "no answer": unanswered, "no text": toolsOnly, "blank": turnOf("q", " \n")} {
		got := chunking.Chunk(turn, chunking.Options{})
		if len(got) != 1 || got[0].Role != chat.RoleUser {
			t.Errorf("%s: chunks %+v, want the user's only", name, got)
		}
	}
	if got := chunking.Chunk(turnOf(chat.DeletedMark, chat.DeletedMark), chunking.Options{}); len(got) != 0 {
		t.Errorf("a deleted turn has the chunks %+v", got)
	}
	if got := chunking.Chunk(turnOf(" ", "\n"), chunking.Options{}); len(got) != 0 {
		t.Errorf("a blank turn has the chunks %+v", got)
	}
}

func TestRefusalIsIndexed(t *testing.T) {
	turn := turnOf("q", "")
	turn.Assistant = &chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.Refusal{Text: "No."}}}
	if got := chunking.Chunk(turn, chunking.Options{}); len(got) != 2 || got[1].Text != "No." {
		t.Errorf("chunks %+v", got)
	}
}

func TestType(t *testing.T) {
	code := "func main() {\n\tprintln(1, 2, 3)\n}"
	cases := map[string]chat.ChunkType{
		"Here:\n```go\n" + code + "\n```\n":                           chat.ChunkCode,
		"~~~\n" + code + "\n~~~":                                      chat.ChunkCode,
		"````\n```\n" + code + "\n```\n````":                          chat.ChunkCode,
		"```go\n" + code:                                              chat.ChunkCode, // cut off inside the block
		"A long explanation of what `x` does and why.\n```\nx\n```\n": chat.ChunkExplanation,
		"``inline``": chat.ChunkExplanation,
		"plain":      chat.ChunkExplanation,
		"Then we decided on SQLite. Postgres has to be run by somebody.":         chat.ChunkDecision,
		"我们决定用 Redis。":                                                           chat.ChunkDecision,
		"We decided. " + strings.Repeat("And much else was said about it. ", 10): chat.ChunkExplanation,
		"Have we decided on SQLite?":                                             chat.ChunkExplanation,
		"***\n---":                                                               chat.ChunkOther,
		"```\nx := decided\n// We decided on SQLite.\n```":                       chat.ChunkCode,
	}
	for text, want := range cases {
		if got := chunking.Chunk(turnOf("q", text), chunking.Options{})[1].Type; got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// Tool results become chunks of their own, with offsets into the rendered text; what the memory tools quote does not
// become memory again.
func TestToolResultsAreIndexed(t *testing.T) {
	turn := turnOf("What does the file say?", "")
	result := func(id, text string) chat.ToolResult {
		return chat.ToolResult{ToolUseID: id, Content: chat.Blocks{chat.Text{Text: text}}}
	}
	turn.Assistant.Blocks = chat.Blocks{
		chat.Text{Text: "I read it."}, chat.ToolUse{ToolUseID: "1", Name: "files__read"}, chat.ToolUse{ToolUseID: "2", Name: "search_memory"},
		chat.ToolUse{ToolUseID: "3", Name: "builtin__get_turn"}, result("1", "  The harbour opens at seven.  "), result("2", "a quotation"), result("3", "another"),
		chat.Text{Text: "At seven."},
	}
	got := chunking.Chunk(turn, chunking.Options{Count: words})
	if len(got) != 3 || got[2].Type != chat.ChunkToolResult || got[2].Text != "The harbour opens at seven." || got[2].Role != chat.RoleAssistant {
		t.Fatalf("%+v", got)
	}
	indexed := turn.Assistant.IndexedText()
	for _, c := range got[1:] {
		if indexed[c.Start:c.End] != c.Text || c.Units[0].Start < c.Start || c.Units[0].End > c.End {
			t.Errorf("%q is at [%d, %d)", c.Text, c.Start, c.End)
		}
	}
	if strings.Contains(indexed, "quotation") || !strings.HasPrefix(indexed, turn.Assistant.RenderedText()) || !strings.Contains(got[2].Units[0].Text, "tool: ") {
		t.Errorf("the indexed text is %q, the unit %q", indexed, got[2].Units[0].Text)
	}
	turn.Assistant.Blocks[1] = chat.ToolUse{ToolUseID: "1", Name: "canvas", Input: []byte(`{"name":"Letter","content":{"body":["Dear \u00dcrsula,\nthe roof leaks."]},"n":3}`)}
	turn.Assistant.Blocks[2] = chat.ToolUse{ToolUseID: "2", Name: "search_memory", Input: []byte(`{"query":"harbour"}`)}
	if got := turn.Assistant.ToolText(); got != "The harbour opens at seven.\n\nLetter\nDear Ürsula,\nthe roof leaks." {
		t.Errorf("the text of the calls is %q", got)
	}
	turn.Assistant.Blocks = chat.Blocks{chat.Text{Text: "x"}}
	for range 20 {
		turn.Assistant.Blocks = append(turn.Assistant.Blocks, result("", strings.Repeat("é ", 1<<20)))
	}
	if n := len(turn.Assistant.ToolText()); n > 257<<10 {
		t.Errorf("%d bytes become memory", n)
	}
}
