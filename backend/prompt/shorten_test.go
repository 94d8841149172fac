package prompt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// TestAHugeExchangeNeverBlocksTheNextMessage: the next message is sent after a message or answer that is larger than the
// ceiling, wherever it is among the newest turns. A committed one is shortened, some space is left for retrieved memory,
// and the log and the items show it. A pending one is dropped (SRD 7.3), and an extract in the remaining space
// represents it, because it is in neither state nor memory (SRD 2.3.3).
func TestAHugeExchangeNeverBlocksTheNextMessage(t *testing.T) {
	huge := func(word string) string {
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, "%s%d ", word, i)
		}
		return b.String()
	}
	exchanges := map[string]chat.Turn{
		"a message": exchange("huge", huge("u"), "short answer"),
		"an answer": exchange("huge", "short message", huge("a")),
		"both":      exchange("huge", huge("u"), huge("a")),
	}
	for _, ceiling := range []int{8000, 4000} {
		for name, oversized := range exchanges {
			for _, place := range []string{"newest", "before it", "pending", "three of them"} {
				t.Run(fmt.Sprintf("%d, %s, %s", ceiling, name, place), func(t *testing.T) {
					in := sample()
					in.Limits = Limits{ContextLimit: 128_000, MaxOutput: 4096, ResponseReserve: 4000, SafetyMargin: 1500, WorkingSet: ceiling, StateTarget: 1200, Retrieval: 6000}
					turns, pending := append(long(8, 60), oversized), []chat.Turn(nil)
					switch place {
					case "before it":
						turns = append(turns, exchange("after", "and then", "this"))
					case "pending":
						turns, pending = turns[:8], turns[8:]
					case "three of them":
						turns, pending = append(turns, oversized), []chat.Turn{oversized, oversized}
					}
					if in = in.over(turns, pending); len(pending) > 0 {
						checkDropped(t, in, ceiling, len(pending))
					} else {
						checkShortened(t, in, ceiling)
					}
				})
			}
		}
	}
}

// checkDropped checks a context without its pending turns, the last of the input.
func checkDropped(t *testing.T, in Input, ceiling, pending int) {
	t.Helper()
	d, err := NewDraft(in)
	if err != nil || d.Room() != 0 {
		t.Fatalf("memory may take %d tokens although a pending turn goes, %v", d.Room(), err)
	}
	c, err := d.Finish(nil, chat.Phrase{})
	if err != nil {
		t.Fatal(err)
	}
	m := c.Manifest()
	if c.Tokens() > ceiling || len(m.DroppedPending) != pending || len(m.Inputs.Shortened) > 0 {
		t.Errorf("%d tokens, dropped %v, shortened %v", c.Tokens(), m.DroppedPending, m.Inputs.Shortened)
	}
	at := slices.IndexFunc(c.Texts(), func(x Text) bool { return x.Source == "extract" && x.From == m.DroppedPending[0] })
	if at < 0 || c.Texts()[at].Tokens < ceiling/4 || c.Texts()[at].Section != SectionState {
		t.Errorf("no extract represents the dropped turns %v: %+v", m.DroppedPending, m.Sections)
	}
	checkReplay(t, in, m)
}

func checkReplay(t *testing.T, in Input, m Manifest) {
	t.Helper()
	in.Replay = &m
	if replayed, err := Assemble(in); err != nil || replayed.Manifest().SHA256 != m.SHA256 {
		t.Errorf("replayed, the context differs: %v", err)
	}
}

func checkShortened(t *testing.T, in Input, ceiling int) {
	t.Helper()
	d, err := NewDraft(in)
	if err != nil {
		t.Fatal(err)
	}
	if d.Room() < ceiling/10 {
		t.Errorf("%d tokens are left for recalled memory", d.Room())
	}
	c, err := d.Finish(nil, chat.Phrase{})
	if err != nil {
		t.Fatal(err)
	}
	m := c.Manifest()
	if c.Tokens() > ceiling || c.Tokens() < ceiling/2 {
		t.Errorf("%d tokens of %d", c.Tokens(), ceiling)
	}
	if len(m.DroppedPending) > 0 || len(m.Inputs.Shortened) == 0 || len(d.Shortened()) == 0 {
		t.Errorf("dropped %v, shortened %v", m.DroppedPending, m.Inputs.Shortened)
	}
	shown := map[Shortened]bool{}
	for _, x := range c.Texts() {
		if x.Shortened {
			shown[Shortened{Seq: x.Seq, Role: chat.Role(x.Role)}] = true
			if !strings.Contains(x.Text, "bytes are left out here; the whole message is kept") || !strings.Contains(x.Text, "19999") {
				t.Errorf("turn %d is shortened to %.80q", x.Seq, x.Text)
			}
			if !d.Shows(chat.TurnID(x.ID), "19999") || d.Shows(chat.TurnID(x.ID), "10000") {
				t.Error("Shows does not distinguish existing from missing text")
			}
		}
	}
	for _, s := range m.Inputs.Shortened {
		kind := map[chat.Role]string{chat.RoleUser: "message", chat.RoleAssistant: "answer"}[s.Role]
		if !shown[Shortened{Seq: s.Seq, Role: s.Role}] || !strings.Contains(strings.Join(m.Shrink, "\n"), fmt.Sprintf("5: the %s of turn %d is shortened: ", kind, s.Seq)) {
			t.Errorf("%+v is not named: %q", s, m.Shrink)
		}
	}
	checkReplay(t, in, m)
}

// TestOnlyLongMessagesAreShortened: short messages stay unchanged, and nothing is shortened while everything fits.
func TestOnlyLongMessagesAreShortened(t *testing.T) {
	in := sample()
	in.Limits = Limits{ContextLimit: 128_000, MaxOutput: 4096, ResponseReserve: 4000, SafetyMargin: 1500, WorkingSet: 8000, StateTarget: 1200, Retrieval: 6000}
	for words, want := range map[int]int{5000: 0, 9000: 1} {
		c, err := Assemble(in.over([]chat.Turn{exchange("huge", "tell me", strings.Repeat("a ", words)), exchange("short", "thanks", "you are welcome")}, nil))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Manifest().Inputs.Shortened; len(got) != want || want == 1 && (got[0].Seq != 1 || got[0].Role != chat.RoleAssistant) {
			t.Errorf("of %d words: %+v", words, got)
		}
		if text := c.Messages()[3].RenderedText(); text != "you are welcome" {
			t.Errorf("the short answer is %q", text)
		}
	}
}

// TestAShortenedMessageKeepsItsForm: calls keep their results, results their frame, and missing images are noted.
func TestAShortenedMessageKeepsItsForm(t *testing.T) {
	long := strings.Repeat("line\n", 5000)
	m := reduced(chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{
		chat.Reasoning{Provider: "anthropic"},
		chat.Text{Text: "I look."},
		chat.ToolUse{ToolUseID: "a", Name: "write", Input: []byte(`{"text":"` + strings.ReplaceAll(long, "\n", " ") + `"}`)},
		chat.ToolResult{ToolUseID: "a", Content: chat.Blocks{chat.Text{Text: long}}},
		chat.Image{},
		chat.Text{Text: "I have seen it."},
	}}, 4000)
	text, images := messageText(m)
	if len(text) > 5200 || images != 0 {
		t.Errorf("%d bytes, %d images", len(text), images)
	}
	for _, want := range []string{"1 image is left out", "I look.", "I have seen it.", "shortened", resultClose} {
		if !strings.Contains(strings.ReplaceAll(text, `\n`, "\n"), want) {
			t.Errorf("it has no %q: %s", want, text)
		}
	}
	if len(m.Blocks) != 5 {
		t.Errorf("%d blocks", len(m.Blocks))
	}
}
