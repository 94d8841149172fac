package wire

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
)

var taken = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func TestToolNames(t *testing.T) {
	for name, sent := range map[string]string{
		"search":                    "search",
		"mcp__files__read-file":     "mcp__files__read-file",
		"canmore.create_textdoc":    "canmore--x2Ecreate_textdoc",
		"web search":                "web--x20search",
		"suche-über":                "suche---xC3--xBCber",
		strings.Repeat("ab.", 40):   strings.Repeat("ab_", 15) + "a--",
		"":                          "--",
		strings.Repeat("x", 65):     strings.Repeat("x", 46) + "--",
		"a\nb":                      "a--x0Ab",
		"canmore--x2Ecreate_doc":    "canmore--x2Ecreate_doc",
		"get-x86-info":              "get-x86-info",
		strings.Repeat("x", 64):     strings.Repeat("x", 64),
		"<script>alert(1)</script>": "--x3Cscript--x3Ealert--x281--x29--x3C--x2Fscript--x3E",
	} {
		got := ToolName(name)
		if !taken.MatchString(got) || !strings.HasPrefix(got, sent) {
			t.Errorf("%q is sent as %q, not %q", name, got, sent)
		}
	}
}

// TestToolNamesAreReversible: a name that is sent escaped is the original name again in a model's answer, and a name
// that needs no escape is not changed.
func TestToolNamesAreReversible(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.StringN(1, 12, 16).Draw(rt, "name")
		sent := ToolName(name)
		if back := OriginalToolName(sent); len(name)*5 <= maxToolName && back != name {
			rt.Fatalf("%q is sent as %q and comes back as %q", name, sent, back)
		}
	})
	for _, name := range []string{"get-x86-info", "a--x2", "a--xZZ", "a--xFF", "a--x41", "a--x"} {
		if back := OriginalToolName(name); back != name {
			t.Errorf("%q comes back as %q", name, back)
		}
	}
}

// TestAnyCallsCanBeSent: whatever calls and results a conversation contains, every call that is sent has a valid name
// and a unique id, its group is followed by the results in order, two tools never have the same name, no text of a
// result is lost, and the user's text is in a block of its own.
func TestAnyCallsCanBeSent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SampledFrom([]string{"a", "b", "a.b", "", "call-1", strings.Repeat("i", 70)})
		names := rapid.SampledFrom([]string{"f.g", "f--x2Eg", "f g", "ok", "", strings.Repeat("n.", 40)})
		messages := []chat.Message{chat.UserText("user-0")}
		said, n := []string{"user-0"}, 0
		for range rapid.IntRange(1, 4).Draw(rt, "turns") {
			var blocks chat.Blocks
			for range rapid.IntRange(1, 6).Draw(rt, "blocks") {
				n++
				word := "word-" + string(rune('a'+n%26)) + strings.Repeat("x", n) + "."
				switch rapid.IntRange(0, 2).Draw(rt, "block") {
				case 0:
					blocks = append(blocks, chat.Text{Text: word})
				case 1:
					blocks = append(blocks, chat.ToolUse{ToolUseID: ids.Draw(rt, "id"), Name: names.Draw(rt, "name"), Input: json.RawMessage(`{}`)})
					continue
				default:
					blocks = append(blocks, chat.ToolResult{ToolUseID: ids.Draw(rt, "id"), Content: chat.Blocks{chat.Text{Text: word}}})
				}
				said = append(said, word)
			}
			n++
			user := "user-" + strings.Repeat("y", n)
			said = append(said, user)
			messages = append(messages, chat.Message{Role: chat.RoleAssistant, Blocks: blocks}, chat.UserText(user))
		}
		groups, err := Conversation(llm.Request{Context: llmtest.Prepare(t, llmtest.Context{Messages: messages})}, "test",
			rapid.SampledFrom([]IDRule{PlainIDs, ShortIDs}).Draw(rt, "ids"))
		if err != nil {
			rt.Fatal(err)
		}
		checkCalls(rt, groups, said)
	})
}

func checkCalls(rt *rapid.T, groups []Group, said []string) {
	seen := map[string]bool{}
	var all []string
	var open []string
	for i, g := range groups {
		if i > 0 && g.Role == groups[i-1].Role {
			rt.Fatalf("the roles do not alternate: %+v", groups)
		}
		answered := 0
		for _, b := range g.Blocks {
			switch b := b.(type) {
			case chat.Text:
				all = append(all, b.Text)
			case chat.ToolUse:
				if !taken.MatchString(b.Name) || !taken.MatchString(b.ToolUseID) || seen[b.ToolUseID] {
					rt.Fatalf("a call %q of %q cannot be sent", b.ToolUseID, b.Name)
				}
				seen[b.ToolUseID] = true
				open = append(open, b.ToolUseID)
			case chat.ToolResult:
				all = append(all, b.Content.RenderedText())
				if answered >= len(open) || b.ToolUseID != open[answered] {
					rt.Fatalf("a result of %q where %v are open", b.ToolUseID, open)
				}
				answered++
			}
		}
		if g.Role == chat.RoleUser {
			if answered != len(open) {
				rt.Fatalf("%v are open, %d have a result", open, answered)
			}
			open = nil
		}
	}
	for _, word := range said {
		found := false
		for _, s := range all {
			found = found || s == word
		}
		if !found {
			rt.Fatalf("%q is not on its own in %q", word, all)
		}
	}
}
