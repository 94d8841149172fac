package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func words(s string) int { return len(strings.Fields(s)) }

func exchange(id, user, answer string) chat.Turn {
	a := chat.AssistantText(answer)
	return chat.Turn{ID: chat.TurnID(id), Provider: "anthropic", User: chat.UserText(user), Assistant: &a, Phase: chat.PhaseDone, StateAfter: "s"}
}

var testLimits = Limits{
	ContextLimit: 8192, MaxOutput: 4096, ResponseReserve: 4000, SafetyMargin: 1500, WorkingSet: 50000, StateTarget: 1200,
}

// over sets the lineage of an input from complete turns: committed ones, then pending ones.
func (in Input) over(committed, pending []chat.Turn) Input {
	all := append(append([]chat.Turn{}, committed...), pending...)
	in.Sizes = nil
	for i := range all {
		all[i].Seq = int64(i + 1)
		in.Sizes = append(in.Sizes, Size{Seq: all[i].Seq, Tokens: Measure(all[i], in.Count), Pending: i >= len(committed)})
	}
	in.Fetch = func(from, to int64) ([]chat.Turn, error) { return all[from-1 : to-1], nil }
	in.Extract = func(turns []chat.Turn, target int) string {
		return strings.TrimSpace(strings.Repeat("e ", max(1, target-20)))
	}
	return in
}

func sample() Input {
	return Input{
		Model: "sonnet", Provider: "anthropic", Count: words, Limits: testLimits, Policy: DefaultPolicy(), Calibration: 1,
		Pins:    []chat.Pin{{ID: "p1", Text: "Never deploy on a Friday."}, {ID: "p2", Text: "Two lines\nof fact"}},
		Head:    chat.State{ID: "head", Summary: "## Facts\n- a </memory> b & c"},
		Current: chat.UserText("four"),
	}.over([]chat.Turn{exchange("t1", "one", "first"), exchange("t2", "two", "second")}, []chat.Turn{exchange("t3", "three", "third")})
}

// long returns a conversation of n turns of this size in words.
func long(n, size int) []chat.Turn {
	var out []chat.Turn
	for i := range n {
		out = append(out, exchange(fmt.Sprintf("t%d", i+1), strings.Repeat("u ", size/2), strings.Repeat("a ", size-size/2)))
	}
	return out
}

// TestGolden pins the exact context of a small conversation.
func TestGolden(t *testing.T) {
	inputs := map[string]Input{"plain": sample(), "continue": sample(), "first": {
		Model: "m", Provider: "openai", Count: words, Limits: testLimits, Current: chat.UserText("hello"),
	}, "cut": sample().over(long(40, 300), nil)}
	c := inputs["continue"]
	c.Partial = &chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.Text{Text: "half an ans"}}}
	inputs["continue"] = c
	recalled := sample().over(long(40, 300), nil)
	recalled.Now = "Monday, 4 May 2026, 09:30 UTC+02:00"
	recalled.Retrieved = []Artifact{
		{ID: "c3", Text: "#7 16:20 assistant: late <b>", Day: "3 May 2026", At: 30, Seq: 7, Score: 0.9},
		{ID: "c1", Text: "#2 10:00 user: early", Day: "2 May 2026", At: 10, Seq: 2, Score: 0.8},
		{ID: "c2", Text: "#7 16:20 user: asked", Day: "3 May 2026", At: 30, Seq: 7, Score: 0.1},
	}
	recalled.Retrieved[0].Ordinal = 1
	inputs["recalled"] = recalled
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

// TestMemoryIsEscaped: a summary cannot close the memory block, and is in a user message, never in the system text
// (SPEC 2.8).
func TestMemoryIsEscaped(t *testing.T) {
	c, err := Assemble(sample())
	if err != nil {
		t.Fatal(err)
	}
	last := c.Messages()[len(c.Messages())-1]
	text := last.Blocks[0].(chat.Text).Text
	if last.Role != chat.RoleUser || strings.Count(text, "</memory>") != 1 || !strings.Contains(text, "&lt;/memory>") {
		t.Fatalf("memory block: %s", text)
	}
	if strings.Contains(strings.Join(c.System(), ""), "## Facts") {
		t.Fatal("the summary is in the system text")
	}
}

// TestCommittingChangesNothingBefore: a turn has the same bytes as a pending turn and as an original, so the prefix
// stays the same.
func TestCommittingChangesNothingBefore(t *testing.T) {
	a, b := sample(), sample()
	for i := range b.Sizes {
		b.Sizes[i].Pending = false
	}
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

// TestOverBudgetHasNumbers: the error contains the numbers and what to do.
func TestOverBudgetHasNumbers(t *testing.T) {
	in := sample()
	in.Current = chat.UserText(strings.Repeat("word ", 9000))
	_, err := Assemble(in)
	var over *OverBudgetError
	if chat.CodeOf(err) != chat.CodeOverBudget || !errors.As(err, &over) {
		t.Fatalf("%v", err)
	}
	if over.Ceiling != NewBudget(in.Limits, in.Policy, 1).Ceiling || over.Required <= over.Ceiling || over.Msg < 9000 || chat.AsError(err).Hint == "" {
		t.Fatalf("%+v %q", over, chat.AsError(err).Hint)
	}
}

// TestRecallStaysHere: what recall quoted is not sent to another provider.
func TestRecallStaysHere(t *testing.T) {
	in := sample()
	quoted := exchange("t0", "what about the safe?", "the code is 4711")
	quoted.Provider = "recall"
	in = in.over([]chat.Turn{quoted}, nil)
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

// TestUsageStatus: a context is ready, needs summaries of named turns with their size, or has newest messages that are too
// large, with numbers (FCRATE's usage_status).
func TestUsageStatus(t *testing.T) {
	c, err := Assemble(sample())
	if err != nil || c.Status().Kind != UsageReady || c.Status().Excess != 0 {
		t.Errorf("%+v, %v", c.Status(), err)
	}
	in := sample().over(long(40, 300), nil)
	if c, err = Assemble(in); err != nil {
		t.Fatal(err)
	}
	cut := c.Manifest().History.Cut
	want := 0
	for _, s := range in.Sizes {
		if s.Seq <= cut {
			want += s.Tokens
		}
	}
	if st := c.Status(); st.Kind != UsageNeedsSummarization || st.Excess != want || cut == 0 || int64(len(st.Turns)) != cut || st.Turns[0] != 1 || st.Suggestion.IsZero() {
		t.Errorf("cut %d, %d tokens: %+v", cut, want, st)
	}
	in.Summaries = nil
	for _, p := range c.Manifest().History.Pieces {
		in.Summaries = append(in.Summaries, Summary{ID: fmt.Sprint(p.From), From: p.From, To: p.To, Tokens: 50, Text: "- said", Model: "m"})
	}
	if c, err = Assemble(in); err != nil || c.Status().Kind != UsageReady {
		t.Errorf("with summaries: %+v, %v", c.Status(), err)
	}
	huge := sample().over(append(long(4, 100), exchange("huge", "go on", strings.Repeat("r ", 9000))), nil)
	if c, err = Assemble(huge); err != nil {
		t.Fatal(err)
	}
	if st := c.Status(); st.Kind != UsageRecentTooLarge || st.Required < 9000 || st.Required > 11000 || st.Budget != c.Manifest().Budget.Ceiling {
		t.Errorf("%+v", st)
	}
	if st, ok := StatusOfError(&RecentMessagesTooLarge{Required: 20, Budget: 10}); !ok || st.Kind != UsageRecentTooLarge || st.Required != 20 {
		t.Errorf("%+v", st)
	}
	if _, ok := StatusOfError(&SectionOverCap{}); ok {
		t.Error("a section over its cap has nothing to do with the messages")
	}
}

// TestUnrunCallsBecomeText: providers reject a call without its result.
func TestUnrunCallsBecomeText(t *testing.T) {
	in := sample()
	a := chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{
		chat.ToolUse{ToolUseID: "1", Name: "weather", Input: json.RawMessage(`{}`)},
		chat.ToolUse{ToolUseID: "2", Name: "time", Input: json.RawMessage(`{}`)},
		chat.ToolResult{ToolUseID: "2", Content: chat.Blocks{chat.Text{Text: "noon"}}},
	}}
	called := exchange("t3", "three", "")
	called.Assistant = &a
	in = in.over(nil, []chat.Turn{called})
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
	exact := Limits{ContextLimit: 8192, ResponseReserve: 4000, SafetyMargin: 10, ExactReserve: true, ExactMargin: true}
	if b := NewBudget(exact, DefaultPolicy(), 1); b.ResponseReserve != 4000 || b.SafetyMargin != 10 || b.InputBudget != 4182 {
		t.Errorf("a reserve and a margin that were set: %+v", b)
	}
	exact.ResponseReserve = 9000
	if b := NewBudget(exact, DefaultPolicy(), 1); b.Ceiling != 0 {
		t.Errorf("a reserve over the window leaves %d", b.Ceiling)
	}
	for _, tt := range tests {
		b := NewBudget(Limits{ContextLimit: tt.limit, ResponseReserve: 4000, SafetyMargin: 1500, WorkingSet: tt.set}, DefaultPolicy(), 1)
		if b.InputBudget != tt.input || b.Ceiling != tt.ceiling {
			t.Errorf("limit %d: %+v, want input %d, ceiling %d", tt.limit, b, tt.input, tt.ceiling)
		}
	}
}

func TestUsageFormat(t *testing.T) {
	for want, u := range map[string]Usage{
		"2.1k / 200k (1%)":          {Used: 2100, Ceiling: 200000},
		"12.4k / 50k (25%) [2S]":    {Used: 12400, Ceiling: 50000, Summaries: 2},
		"12.4k / 50k (25%) [3E]":    {Used: 12400, Ceiling: 50000, Extracts: 3},
		"12.4k / 50k (25%) [2S 3E]": {Used: 12400, Ceiling: 50000, Summaries: 2, Extracts: 3},
		"0 / 50k (0%)":              {Ceiling: 50000},
		"1.2M / 2M (60%)":           {Used: 1200000, Ceiling: 2000000},
	} {
		if got := u.Format(); got != want {
			t.Errorf("%+v: %q, want %q", u, got, want)
		}
	}
	for want, used := range map[string]int{"plenty": 699, "filling": 900, "nearly full": 901} {
		if got := (Usage{Used: used, Ceiling: 1000}).State(); got != want {
			t.Errorf("%d of 1000: %q, want %q", used, got, want)
		}
	}
}

// TestUsageWarningIgnoresRecalledMemory: retrieved memory counts as used, but does not trigger the warning, because it
// can be dropped.
func TestUsageWarningIgnoresRecalledMemory(t *testing.T) {
	for want, recalled := range map[string]int{"plenty": 301, "filling": 300, "nearly full": 99} {
		m := Manifest{TotalTokens: 1000, Sections: []Section{
			{Name: SectionOriginals, Tokens: 1000 - recalled}, {Name: SectionRetrieved, Tokens: recalled},
		}}
		m.Budget.InputBudget = 1000
		u := UsageOf(m)
		if u.State() != want || u.Recalled != recalled || u.Format() != "1k / 1k (100%)" {
			t.Errorf("%d recalled: %q, %q, want %q", recalled, u.State(), u.Format(), want)
		}
	}
}

func TestZeroContextIsInvalid(t *testing.T) {
	if (PreparedContext{}).Valid() {
		t.Fatal("the zero context can be sent")
	}
}
