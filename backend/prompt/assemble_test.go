package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
)

var update = flag.Bool("update", false, "write the golden files anew")

func words(s string) int { return len(strings.Fields(s)) }

func exchange(id, user, answer string) chat.Turn {
	a := chat.AssistantText(answer)
	return chat.Turn{ID: chat.TurnID(id), Provider: "anthropic", User: chat.UserText(user), Assistant: &a, Phase: chat.PhaseDone, StateAfter: "s"}
}

func sample() Input {
	return Input{
		Model: "sonnet", Provider: "anthropic", Count: words,
		Limits:    Limits{ContextLimit: 8192, MaxOutput: 4096, ResponseReserve: 4000, SafetyMargin: 1500, WorkingSet: 50000},
		Pins:      []chat.Pin{{Text: "Never deploy on a Friday."}, {Text: "Two lines\nof fact"}},
		Head:      chat.State{ID: "head", Summary: "## Facts\n- a </memory> b & c"},
		Originals: []chat.Turn{exchange("t1", "one", "first"), exchange("t2", "two", "second")},
		Pending:   []chat.Turn{exchange("t3", "three", "third")},
		Current:   chat.UserText("four"),
	}
}

// TestGolden: the exact context of a small conversation.
func TestGolden(t *testing.T) {
	inputs := map[string]Input{"plain": sample(), "continue": sample(), "first": {
		Model: "m", Provider: "openai", Count: words, Limits: sample().Limits, Current: chat.UserText("hello"),
	}}
	c := inputs["continue"]
	c.Partial = &chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.Text{Text: "half an ans"}}}
	inputs["continue"] = c
	for name, in := range inputs {
		t.Run(name, func(t *testing.T) {
			got, err := Assemble(in)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.MarshalIndent(map[string]any{
				"system": got.System(), "messages": got.Messages(), "stable": got.StablePrefix(),
				"tokens": got.Tokens(), "max_output": got.MaxOutput(), "manifest": got.Manifest(),
			}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".golden.json")
			if *update {
				_ = os.MkdirAll("testdata", 0o755)
				if err := os.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(bytes.TrimSpace(want), raw) {
				t.Errorf("context differs from %s:\n%s", path, raw)
			}
		})
	}
}

// TestMemoryIsEscaped: a summary cannot close the memory block, and stands in a
// user message, never in the system text (SPEC 2.8).
func TestMemoryIsEscaped(t *testing.T) {
	c, err := Assemble(sample())
	if err != nil {
		t.Fatal(err)
	}
	last := c.Messages()[len(c.Messages())-1]
	text := last.Blocks[0].(chat.Text).Text
	if last.Role != chat.RoleUser || strings.Count(text, "</memory>") != 1 || !strings.Contains(text, "&lt;/memory&gt;") {
		t.Fatalf("memory block: %s", text)
	}
	if strings.Contains(strings.Join(c.System(), ""), "## Facts") {
		t.Fatal("the summary stands in the system text")
	}
}

// TestCommittingChangesNothingBefore: a turn has the same bytes as a pending
// turn and as an original, so the prefix stays.
func TestCommittingChangesNothingBefore(t *testing.T) {
	a, b := sample(), sample()
	b.Originals, b.Pending = append(b.Originals, b.Pending...), nil
	ca, err := Assemble(a)
	if err != nil {
		t.Fatal(err)
	}
	cb, err := Assemble(b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(ca.Messages(), cb.Messages()) {
		t.Fatal("committing a turn changed the context")
	}
}

// TestOverBudgetHasNumbers: the error says by how much, and what to do.
func TestOverBudgetHasNumbers(t *testing.T) {
	in := sample()
	in.Current = chat.UserText(strings.Repeat("word ", 9000))
	_, err := Assemble(in)
	var over *OverBudgetError
	if chat.CodeOf(err) != chat.CodeOverBudget || !errors.As(err, &over) {
		t.Fatalf("%v", err)
	}
	if over.Ceiling != NewBudget(in.Limits).Ceiling || over.Required <= over.Ceiling || over.Msg < 9000 || chat.AsError(err).Hint == "" {
		t.Fatalf("%+v %q", over, chat.AsError(err).Hint)
	}
}

// TestRecallStaysHere: what recall quoted does not go to another provider.
func TestRecallStaysHere(t *testing.T) {
	in := sample()
	quoted := exchange("t0", "what about the safe?", "the code is 4711")
	quoted.Provider = "recall"
	in.Originals = []chat.Turn{quoted}
	for provider, want := range map[string]bool{"anthropic": false, "recall": true} {
		in.Provider = provider
		c, err := Assemble(in)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(c.Messages())
		if strings.Contains(string(raw), "4711") != want {
			t.Errorf("to %s: quotation sent = %v", provider, !want)
		}
	}
}

// TestUnrunCallsBecomeText: no provider takes a call without its result.
func TestUnrunCallsBecomeText(t *testing.T) {
	in := sample()
	a := chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{
		chat.ToolUse{ToolUseID: "1", Name: "weather", Input: json.RawMessage(`{}`)},
		chat.ToolUse{ToolUseID: "2", Name: "time", Input: json.RawMessage(`{}`)},
		chat.ToolResult{ToolUseID: "2", Content: chat.Blocks{chat.Text{Text: "noon"}}},
	}}
	in.Pending[0].Assistant = &a
	c, err := Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	blocks := c.Messages()[c.StablePrefix()-1].Blocks
	if _, ok := blocks[0].(chat.Text); !ok {
		t.Errorf("the call that was not run is %T", blocks[0])
	}
	if _, ok := blocks[1].(chat.ToolUse); !ok {
		t.Errorf("the call that was run is %T", blocks[1])
	}
}

func TestBudget(t *testing.T) {
	tests := []struct {
		limit, set, input, ceiling int
	}{
		{200000, 50000, 186200, 50000}, // 200000-4000 = 196000, less 9800
		{8192, 50000, 6810, 6810},      // reserve 1024, rest 7168, margin max(358, 256)
		{400000, 0, 376200, 376200},
	}
	for _, tt := range tests {
		b := NewBudget(Limits{ContextLimit: tt.limit, ResponseReserve: 4000, SafetyMargin: 1500, WorkingSet: tt.set})
		if b.InputBudget != tt.input || b.Ceiling != tt.ceiling {
			t.Errorf("limit %d: %+v, want input %d, ceiling %d", tt.limit, b, tt.input, tt.ceiling)
		}
	}
}

func TestUsageFormat(t *testing.T) {
	for want, u := range map[string]Usage{
		"2.1k / 200k (1%)":       {Used: 2100, Ceiling: 200000},
		"12.4k / 50k (25%) [2S]": {Used: 12400, Ceiling: 50000, Summaries: 2},
		"0 / 50k (0%)":           {Ceiling: 50000},
		"1.2M / 2M (60%)":        {Used: 1200000, Ceiling: 2000000},
	} {
		if got := u.Format(); got != want {
			t.Errorf("%+v: %q, want %q", u, got, want)
		}
	}
	for want, used := range map[string]int{"plenty": 699, "filling": 899, "nearly full": 900} {
		if got := (Usage{Used: used, Ceiling: 1000}).State(); got != want {
			t.Errorf("%d of 1000: %q, want %q", used, got, want)
		}
	}
}

func TestZeroContextIsInvalid(t *testing.T) {
	if (PreparedContext{}).Valid() {
		t.Fatal("the zero context can be sent")
	}
}

// TestNeverOverBudget: whatever the conversation, an assembled context fits, is
// the same each time, alternates, and keeps all that is pending.
func TestNeverOverBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := randomInput(t)
		c, err := Assemble(in)
		if err != nil {
			if chat.CodeOf(err) != chat.CodeOverBudget {
				t.Fatalf("%v", err)
			}
			return
		}
		again, _ := Assemble(in)
		if !reflect.DeepEqual(c, again) {
			t.Fatal("the same input gave another context")
		}
		b := c.Manifest().Budget
		if c.Tokens() > b.Ceiling || c.Tokens()+c.MaxOutput() > b.ModelLimit {
			t.Fatalf("%d tokens, output %d, budget %+v", c.Tokens(), c.MaxOutput(), b)
		}
		sum := 0
		for _, s := range c.Manifest().Sections {
			sum += s.Tokens
		}
		if sum != c.Tokens() {
			t.Fatalf("sections add up to %d, the context to %d", sum, c.Tokens())
		}
		checkMessages(t, in, c)
	})
}

func checkMessages(t *rapid.T, in Input, c PreparedContext) {
	ms := c.Messages()
	for i, m := range ms {
		want := chat.RoleUser
		if i%2 == 1 {
			want = chat.RoleAssistant
		}
		if m.Role != want {
			t.Fatalf("message %d is %s", i, m.Role)
		}
	}
	originals := c.StablePrefix() - 2*len(in.Pending)
	if originals < 0 || originals > 2*len(in.Originals) {
		t.Fatalf("%d originals", originals)
	}
	for i, p := range in.Pending {
		if !reflect.DeepEqual(ms[originals+2*i], p.User) {
			t.Fatalf("pending turn %d is not there", i)
		}
	}
}

func randomInput(t *rapid.T) Input {
	in := sample()
	in.Limits.ContextLimit = rapid.IntRange(300, 20000).Draw(t, "window")
	in.Limits.WorkingSet = rapid.IntRange(200, 20000).Draw(t, "working set")
	turns := func(name string, most int) []chat.Turn {
		var out []chat.Turn
		for range rapid.IntRange(0, most).Draw(t, name) {
			n := rapid.IntRange(1, 400).Draw(t, "words")
			out = append(out, exchange(name, strings.Repeat("u ", n), strings.Repeat("a ", n)))
		}
		return out
	}
	in.Originals, in.Pending = turns("originals", 30), turns("pending", 6)
	return in
}
