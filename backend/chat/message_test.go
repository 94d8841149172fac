package chat_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

// Messages are stored as JSON and hashed, so a message without a name must be encoded as it was before names existed.
func TestMessageJSON(t *testing.T) {
	named := chat.UserText("Hi.")
	named.Name = "Ana"
	for want, m := range map[string]chat.Message{
		`{"role":"user","blocks":[{"type":"text","text":"Hi."}]}`:              chat.UserText("Hi."),
		`{"role":"user","name":"Ana","blocks":[{"type":"text","text":"Hi."}]}`: named,
	} {
		got, err := json.Marshal(m)
		if err != nil || string(got) != want {
			t.Errorf("a message is written as %s (%v), want %s", got, err, want)
		}
		var back chat.Message
		if err := json.Unmarshal([]byte(want), &back); err != nil || back.Name != m.Name || back.RenderedText() != "Hi." {
			t.Errorf("%s is read as %+v (%v)", want, back, err)
		}
	}
}

// TestEveryBlockSurvivesStorage: every kind of block is read back as it was written, opaque ones byte for byte, and the
// rendered text is the visible text of the blocks (SRD 5.1).
func TestEveryBlockSurvivesStorage(t *testing.T) {
	m := chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{
		chat.Text{Text: "Look: ", Annotations: []json.RawMessage{json.RawMessage(`{"url":"x"}`)}},
		chat.Reasoning{Provider: "p", EncryptedContent: "e", Summary: "s", Raw: json.RawMessage(`{"a":1}`)},
		chat.ToolUse{ToolUseID: "1", Name: "read", Input: json.RawMessage(`{"b":2}`)},
		chat.ToolResult{ToolUseID: "1", Content: chat.Blocks{chat.Text{Text: "inner"}}, IsError: true},
		chat.Image{MediaType: "image/png", Source: json.RawMessage(`{"data":"QQ=="}`)},
		chat.Unknown{Provider: "p", Raw: json.RawMessage(`{"type":"never_seen","n":[1, 2]}`)},
		chat.Refusal{Text: "no"},
	}}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back chat.Message
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != string(raw) || len(back.Blocks) != len(m.Blocks) {
		t.Errorf("%v: written again as\n%s\nnot\n%s", err, again, raw)
	}
	if u, ok := back.Blocks[5].(chat.Unknown); !ok || !strings.Contains(string(u.Raw), "never_seen") {
		t.Errorf("the unknown block became %#v", back.Blocks[5])
	}
	if got := back.RenderedText(); !strings.Contains(got, "Look: ") || strings.Contains(got, `"b"`) || got != m.RenderedText() {
		t.Errorf("the rendered text is %q", got)
	}
}

// TestIDsAreUniqueAndSorted: ids of many goroutines are valid, distinct and increasing, although the clock stands still
// (SRD 4.1).
func TestIDsAreUniqueAndSorted(t *testing.T) {
	at := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	lists := make([][]string, 8)
	var wg sync.WaitGroup
	for i := range lists {
		wg.Go(func() {
			for range 2000 {
				lists[i] = append(lists[i], chat.NewID(at))
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, list := range lists {
		for i, id := range list {
			if seen[id] || !chat.ValidID(id) || i > 0 && id <= list[i-1] {
				t.Fatalf("id %s is repeated, invalid or out of order", id)
			}
			seen[id] = true
		}
	}
}
