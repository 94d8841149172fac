package chunking_test

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

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
			Tokens: 3, ContentHash: chat.HashText("What is up?"), Version: 1,
			Units: []chat.Unit{{Role: chat.RoleUser, End: 11, Tokens: 5, Text: "[2026-03-05] user: What is up?"}},
		},
		{
			SessionID: "S", BranchID: "B", SourceTurn: "T", Ordinal: 1, Role: chat.RoleAssistant,
			Start: 0, End: 12, Text: "All is\nwell.", Summary: "All is well.", Type: chat.ChunkExplanation,
			Tokens: 3, ContentHash: chat.HashText("All is\nwell."), Version: 1,
			Units: []chat.Unit{{Role: chat.RoleAssistant, End: 12, Tokens: 5, Text: "[2026-03-05] assistant: All is\nwell."}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Chunk gives\n%+v, want\n%+v", got, want)
	}
}

func TestWhatIsNotIndexed(t *testing.T) {
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
	if got := chunking.Chunk(turnOf(" ", "\n"), chunking.Options{}); len(got) != 0 {
		t.Errorf("a blank turn gives %+v", got)
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
		"```go\n" + code:                                              chat.ChunkCode, // cut inside the block
		"A long explanation of what `x` does and why.\n```\nx\n```\n": chat.ChunkExplanation,
		"``inline``": chat.ChunkExplanation,
		"plain":      chat.ChunkExplanation,
	}
	for text, want := range cases {
		if got := chunking.Chunk(turnOf("q", text), chunking.Options{})[1].Type; got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestSummaryIsShort(t *testing.T) {
	for name, text := range map[string]string{
		"words":         strings.Repeat("word ", 200_000),
		"one long word": strings.Repeat("a", 64<<10),
		"Chinese":       strings.Repeat("记忆", 30_000),
		"invalid":       strings.Repeat("\xff", 5000),
		"blank start":   strings.Repeat(" ", 5000) + "x",
	} {
		got := chunking.Chunk(turnOf(text, ""), chunking.Options{})[0].Summary
		if n := utf8.RuneCountInString(got); n > 241 || !strings.HasSuffix(got, "…") || !utf8.ValidString(got) {
			t.Errorf("%s: summary of %d runes: %q", name, n, got)
		}
	}
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := func(label string) string {
			if rapid.Bool().Draw(rt, label+" is text") {
				return rapid.String().Draw(rt, label)
			}
			return string(rapid.SliceOf(rapid.Byte()).Draw(rt, label))
		}
		turn := turnOf(text("user"), text("assistant"))
		chunks := chunking.Chunk(turn, chunking.Options{})
		if again := chunking.Chunk(turn, chunking.Options{}); !reflect.DeepEqual(chunks, again) {
			rt.Fatal("the same turn gives other chunks")
		}
		for i, c := range chunks {
			source := turn.User.RenderedText()
			if c.Role == chat.RoleAssistant {
				source = turn.Assistant.RenderedText()
			}
			if c.Ordinal != i || c.Start < 0 || c.Start >= c.End || c.End > len(source) || c.Text != source[c.Start:c.End] {
				rt.Fatalf("chunk %d [%d:%d] is not of its message", i, c.Start, c.End)
			}
			if c.ContentHash != chat.HashText(c.Text) || c.Tokens <= 0 || !utf8.ValidString(c.Summary) {
				rt.Fatalf("chunk %+v", c)
			}
			for _, u := range c.Units {
				if u.Start < c.Start || u.End > c.End || u.Role != c.Role || !utf8.ValidString(u.Text) {
					rt.Fatalf("unit %+v is outside its chunk", u)
				}
			}
		}
	})
}
