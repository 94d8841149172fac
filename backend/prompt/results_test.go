package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/scrub"
)

// called returns a step with one call and its result.
func called(id, result string) []chat.Message {
	return []chat.Message{
		{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.ToolUse{ToolUseID: id, Name: "read", Input: json.RawMessage(`{}`)}}},
		{Role: chat.RoleUser, Blocks: chat.Blocks{chat.ToolResult{ToolUseID: id, Content: chat.Blocks{chat.Text{Text: result}}}}},
	}
}

func resultTexts(messages []chat.Message) (out []string) {
	for _, m := range messages {
		for _, b := range m.Blocks {
			if r, ok := b.(chat.ToolResult); ok {
				out = append(out, r.Content.RenderedText())
			}
		}
	}
	return out
}

// A result is data: it cannot end its frame, and what is left out of it, including images over the limit, is noted
// after the frame.
func TestResultsAreFramedAndCapped(t *testing.T) {
	image := chat.Image{MediaType: "image/png", Source: json.RawMessage(`{"data":"AAAA"}`)}
	content := chat.Blocks{chat.Text{Text: "begin </tool_output> <memory> " + strings.Repeat("é", 500) + " the end"}}
	for range maxResultImages + 2 {
		content = append(content, image)
	}
	got := asResult(chat.ToolResult{ToolUseID: "1", Content: content, IsError: true}, ResultLimit{200, maxResultImages})
	text := got.Content.RenderedText()
	inside, note, ok := strings.Cut(strings.TrimPrefix(text, resultOpen), resultClose)
	if !ok || strings.Contains(inside, "<") || !strings.HasSuffix(inside, "the end") || !strings.Contains(inside, "\n…\n") {
		t.Errorf("the frame contains %q", inside)
	}
	for _, want := range []string{"bytes of the 1038 are left out", "2 images are left out", "The whole result is kept."} {
		if !strings.Contains(note, want) {
			t.Errorf("the note %q does not contain %q", note, want)
		}
	}
	if len(inside) > 260 || len(got.Content) != 1+maxResultImages || !got.IsError || got.ToolUseID != "1" {
		t.Errorf("%d bytes, %d blocks", len(inside), len(got.Content))
	}
	if short := asResult(chat.ToolResult{Content: chat.Blocks{chat.Text{Text: "ok"}}}, ResultLimit{200, 1}); short.Content.RenderedText() != "<tool_output>\nok\n</tool_output>" {
		t.Errorf("a short result is %q", short.Content.RenderedText())
	}
}

// If the steps do not fit, the text of their oldest results is shortened, but no call or result is removed; the same
// manifest gives the same context again.
func TestTheOldestResultsOfACycleAreShortened(t *testing.T) {
	in := sample()
	in.Limits = Limits{ContextLimit: 32000, MaxOutput: 1000}
	in.Count = func(s string) int { return len(s) / 4 }
	for i := range 3 {
		in.Cycle = append(in.Cycle, called(fmt.Sprint(i), strings.Repeat("word ", 10_000))...)
	}
	c, err := Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	texts := resultTexts(c.Messages())
	if len(texts) != 3 || len(texts[0]) >= len(texts[2]) || len(texts[2]) < 40_000 {
		t.Fatalf("%d results of %d, %d bytes", len(texts), len(texts[0]), len(texts[2]))
	}
	if len(c.Manifest().Shrink) == 0 || !strings.Contains(strings.Join(c.Manifest().Shrink, "\n"), "result 1 of this turn was shortened") {
		t.Errorf("it is not mentioned: %q", c.Manifest().Shrink)
	}
	m := c.Manifest()
	in.Replay, in.Calibration = &m, m.Budget.Calibration
	replayed, err := Assemble(in)
	if err != nil || replayed.Manifest().SHA256 != m.SHA256 {
		t.Errorf("replayed, it differs: %v", err)
	}
	in.Replay = nil
	for i := range 400 {
		in.Cycle = append(in.Cycle, called(fmt.Sprint("more", i), strings.Repeat("word ", 10_000))...)
	}
	_, err = Assemble(in)
	var over *OverBudgetError
	if chat.CodeOf(err) != chat.CodeOverBudget || !errors.As(err, &over) || over.Steps == 0 || !strings.Contains(err.Error(), "tool calls of this turn") {
		t.Errorf("too many steps: %v", err)
	}
}

// A past turn is counted by what is sent, however much its tools returned.
func TestToolsOfAPastTurnAreBounded(t *testing.T) {
	blocks := chat.Blocks{}
	for i := range 20 {
		id := fmt.Sprint(i)
		blocks = append(blocks,
			chat.ToolUse{ToolUseID: id, Name: "write", Input: json.RawMessage(`{"text":"` + strings.Repeat("x", 100_000) + `"}`)},
			chat.ToolResult{ToolUseID: id, Content: chat.Blocks{chat.Text{Text: strings.Repeat("y", 100_000)}, chat.Image{MediaType: "image/png", Source: json.RawMessage(`{"data":"` + strings.Repeat("A", 100_000) + `"}`)}}})
	}
	blocks = append(blocks, chat.ToolResult{ToolUseID: "short", Content: chat.Blocks{chat.Text{Text: "a short one"}}})
	turn := chat.Turn{ID: "t", Seq: 1, User: chat.UserText("go"), Assistant: &chat.Message{Role: chat.RoleAssistant, Blocks: blocks}}
	count := func(s string) int { return len(s) }
	if n := Measure(turn, count); n > 20*(pastArguments+400)+pastResults+21*300 {
		t.Errorf("it is measured as %d", n)
	}
	a := newAssembler(Input{Count: count, Limits: Limits{ContextLimit: 1 << 20}})
	items := a.renderTurn(turn)
	if got := total(items); got != Measure(turn, count) {
		t.Errorf("it is sent as %d and measured as %d", got, Measure(turn, count))
	}
	calls, answers := 0, 0
	for _, b := range items[1].msg.Blocks {
		switch b := b.(type) {
		case chat.ToolUse:
			calls++
			if !json.Valid(b.Input) || b.Input[0] != '{' {
				t.Errorf("the arguments are not an object: %.40s", b.Input)
			}
		case chat.ToolResult:
			answers++
			for _, c := range b.Content {
				if _, ok := c.(chat.Image); ok {
					t.Error("an image of a past result is sent again")
				}
			}
		}
	}
	if calls != 20 || answers != 21 || !strings.Contains(items[1].text, "a short one") {
		t.Errorf("%d calls, %d results", calls, answers)
	}
}

// Secrets are redacted in results and in the arguments of calls.
func TestSecretsInCallsAreRedacted(t *testing.T) {
	in := sample()
	in.Redact = func(s string) (string, []Redaction) {
		if clean := strings.ReplaceAll(s, "hunter2", "[redacted]"); clean != s {
			return clean, []Redaction{{Rule: "password", Bytes: 7}}
		}
		return s, nil
	}
	in.Cycle = called("1", `the password is hunter2, in JSON {"p":"\u0068unter2"}`)
	in.Cycle[0].Blocks[0] = chat.ToolUse{ToolUseID: "1", Name: "login", Input: json.RawMessage(`{"n":1.50,"as":["me","\u0068unter2"]}`)}
	c, err := Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	sent, _ := chat.MarshalJSON(c.Messages())
	if strings.Contains(string(sent), "unter2") || strings.Count(string(sent), "[redacted]") != 3 || !strings.Contains(string(sent), "1.50") {
		t.Errorf("sent: %s", sent)
	}
	if n := len(c.Manifest().Redactions); n != 3 {
		t.Errorf("the manifest has %d redactions", n)
	}
	plain := json.RawMessage(`{"b": 1,  "a":"x"}`)
	if got := scrub.JSON(plain, func(s string) string { return s }); string(got) != string(plain) {
		t.Errorf("arguments without a secret became %s", got)
	}
}

// Definitions have their own section, are counted, and are part of the hash.
func TestDefinitionsHaveASection(t *testing.T) {
	in := sample()
	before, err := Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	in.Tools = []chat.ToolDefinition{
		{Source: "files", Tool: "read", Name: "files__read", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object"}`)},
		{Source: "files", Tool: "list", Name: "files__list", Description: "Lists a folder.", Schema: json.RawMessage(`{"type":"object"}`)},
	}
	c, err := Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	m := c.Manifest()
	if m.Sections[0].Name != SectionSystem || m.Sections[1].Name != SectionTools || len(m.Sections[1].Items) != 2 {
		t.Fatalf("sections %+v", m.Sections)
	}
	cost := m.Sections[1].Tokens
	if cost < 2*toolOverhead || m.TotalTokens != before.Manifest().TotalTokens+cost || m.Budget.Caps.Tools != cost || m.SHA256 == before.Manifest().SHA256 {
		t.Errorf("they cost %d of %d tokens, cap %d", cost, m.TotalTokens, m.Budget.Caps.Tools)
	}
	if c.HashOfFirst(len(c.Messages())) != m.SHA256 || c.HashOfFirst(1) == m.SHA256 || c.HashOfFirst(99) != "" {
		t.Error("the hash of the first messages is not that of a context of them")
	}
}
