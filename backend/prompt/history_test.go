package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
)

// grow assembles every request of a conversation in order, each with the history plan of the previous one.
func grow(t require, in Input, turns []chat.Turn) []PreparedContext {
	t.Helper()
	var out []PreparedContext
	for i := range turns {
		step := in.over(turns[:i], nil)
		step.Current = turns[i].User
		if i > 0 {
			step.Previous = &HistoryRecord{}
			*step.Previous = out[i-1].Manifest().History
		}
		c, err := Assemble(step)
		if err != nil {
			t.Fatalf("turn %d: %v", i+1, err)
		}
		out = append(out, c)
	}
	return out
}

type require interface {
	Helper()
	Fatalf(format string, args ...any)
}

// stableBytes returns sections 1 to 6 of a request.
func stableBytes(c PreparedContext) string {
	raw, _ := json.Marshal(c.System())
	for _, m := range c.Messages()[:c.StablePrefix()] {
		b, _ := json.Marshal(m)
		raw = append(raw, b...)
	}
	return string(raw)
}

// TestPrefix: between two advances of the cut, sections 1 to 6 of a request are a byte prefix of the next one, and
// the cut advances at most once in 20 turns.
func TestPrefix(t *testing.T) {
	in := sample()
	in.Limits.ContextLimit = 200000
	cs := grow(t, in, long(200, 400))
	advances, last := 0, -20
	for i := 1; i < len(cs); i++ {
		if cs[i].Manifest().History.Cut != cs[i-1].Manifest().History.Cut {
			advances++
			if i-last < 20 {
				t.Errorf("the cut advanced at turn %d, %d turns after the last time", i+1, i-last)
			}
			last = i
			continue
		}
		if !strings.HasPrefix(stableBytes(cs[i]), stableBytes(cs[i-1])) {
			t.Fatalf("turn %d does not share the prefix of the turn before", i+1)
		}
	}
	if advances < 2 {
		t.Fatalf("the cut advanced %d times in 200 turns, so the test proves nothing", advances)
	}
}

// TestSummariesWaitForTheAdvance: a summary that becomes ready between two advances is used only from the next one
// on, so that the prefix stays the same.
func TestSummariesWaitForTheAdvance(t *testing.T) {
	in := sample()
	turns := long(60, 300)
	n := 30
	cut := func(n int) int64 {
		plan, _, err := PlanOf(in.over(turns[:n], nil))
		if err != nil {
			t.Fatal(err)
		}
		return plan.Cut
	}
	for cut(n) == 0 || cut(n) != cut(n+1) {
		n++
	}
	first, err := Assemble(in.over(turns[:n], nil))
	if err != nil {
		t.Fatal(err)
	}
	h := first.Manifest().History
	if len(h.Pieces) == 0 || h.Pieces[0].Summary != "" {
		t.Fatalf("pieces %+v", h.Pieces)
	}
	next := in.over(turns[:n+1], nil)
	next.Previous = &h
	next.Summaries = []Summary{{ID: "s1", From: h.Ranges[0].From, To: h.Ranges[0].To, Tokens: 50, Text: "a good summary"}}
	second, err := Assemble(next)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(stableBytes(second), stableBytes(first)) {
		t.Fatal("a new summary changed the prefix")
	}
	next.Previous = nil
	third, err := Assemble(next)
	if err != nil {
		t.Fatal(err)
	}
	if third.Manifest().History.Pieces[0].Summary != "s1" {
		t.Fatalf("the new summary is not used: %+v", third.Manifest().History.Pieces)
	}
}

// TestChoose: summaries that match exactly, combinations of summaries with extracts in the gaps, and nothing beyond
// the cut.
func TestChoose(t *testing.T) {
	b := NewBudget(Limits{ContextLimit: 200000, WorkingSet: 50000}, DefaultPolicy(), 1)
	plan := Plan{Cut: 20, Ranges: []Range{{From: 1, To: 11, Target: 100}, {From: 11, To: 21, Target: 100}}}
	p := DefaultPolicy()
	p.SummaryMin = 10
	tests := []struct {
		name   string
		usable []Summary
		want   []Piece
	}{
		{"none", nil, []Piece{{From: 1, To: 11, Target: 100}, {From: 11, To: 21, Target: 100}}},
		{"exact", []Summary{{ID: "a", From: 1, To: 11, Tokens: 90}}, []Piece{{From: 1, To: 11, Summary: "a"}, {From: 11, To: 21, Target: 100}}},
		{"beyond the cut", []Summary{{ID: "a", From: 11, To: 22, Tokens: 90}}, []Piece{{From: 1, To: 11, Target: 100}, {From: 11, To: 21, Target: 100}}},
		{"far too long", []Summary{{ID: "a", From: 1, To: 11, Tokens: 9000}}, []Piece{{From: 1, To: 11, Target: 100}, {From: 11, To: 21, Target: 100}}},
		{"tiled", []Summary{{ID: "a", From: 1, To: 9, Tokens: 70}}, []Piece{{From: 1, To: 9, Summary: "a"}, {From: 9, To: 11, Target: 20}, {From: 11, To: 21, Target: 100}}},
	}
	for _, tt := range tests {
		if got, _ := Choose(plan, tt.usable, nil, b, p); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestWindows: a conversation of 300 turns fits windows of every size.
func TestWindows(t *testing.T) {
	for _, window := range []int{4096, 8192, 32768, 200000} {
		in := sample()
		in.Limits.ContextLimit = window
		for i, c := range grow(t, in, long(300, 300)) {
			if b := c.Manifest().Budget; c.Tokens() > b.Ceiling {
				t.Fatalf("window %d, turn %d: %d tokens of %d", window, i+1, c.Tokens(), b.Ceiling)
			}
		}
	}
}

// TestModes: "srd" sends no committed originals, "off" sends nothing derived.
func TestModes(t *testing.T) {
	in := sample()
	in.Policy.History = HistorySRD
	c, err := Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Manifest().Sections {
		if s.Name == SectionOriginals || s.Name == SectionSummaries {
			t.Errorf("srd sends %s", s.Name)
		}
	}
	in.Policy.History = HistoryOff
	if c, err = Assemble(in); err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Manifest().Sections {
		if s.Name == SectionState || s.Name == SectionSummaries || s.Name == SectionRetrieved {
			t.Errorf("plain chat sends %s", s.Name)
		}
	}
	_, err = Assemble(in.over(long(100, 300), nil))
	if chat.CodeOf(err) != chat.CodeOverBudget {
		t.Errorf("plain chat over budget: %v", err)
	}
}

// TestShrinker is SRD 22.4: over the limit, the context shrinks in the order of SRD 7.3, logs each step, and always has
// the same result. No message is shortened before all of that has been done, and then only in place of the error.
func TestShrinker(t *testing.T) {
	for name, tt := range map[string]struct {
		message int // words
		recent  int // words of the newest committed turn, which stays original
		memory  bool
		want    string
	}{
		"memory is enough":      {message: 4600, recent: 300, memory: true, want: "012"},
		"pending turns too":     {message: 4930, recent: 300, memory: true, want: "0123"},
		"everything":            {message: 5700, recent: 300, memory: true, want: "01234"},
		"in place of the error": {message: 3000, recent: 9000, want: "345"},
	} {
		t.Run(name, func(t *testing.T) {
			in := shrinkable(tt.message, tt.recent)
			if !tt.memory {
				in.Retrieved = nil
			}
			checkShrinker(t, in, tt.want)
		})
	}
}

// shrinkable is a conversation with something for every step of the shrinker.
func shrinkable(message, recent int) Input {
	in := sample().over(append(long(7, 300), exchange("recent", "go on", strings.Repeat("r ", recent))), long(1, 400))
	in.Policy.MinKeep = 1
	in.Head.Summary = strings.Repeat("s ", 900)
	in.Retrieved = []Artifact{
		{ID: "high", Text: strings.Repeat("h ", 600), Summary: "h short", Score: 0.9},
		{ID: "low", Text: strings.Repeat("l ", 600), Score: 0.1},
		{ID: "mid", Text: strings.Repeat("m ", 600), Summary: "m short", Score: 0.5},
	}
	in.Current = chat.UserText(strings.Repeat("w ", message))
	return in
}

func checkShrinker(t *testing.T, in Input, want string) {
	t.Helper()
	c, err := Assemble(in)
	var shrink *NeedsSummaryShrink
	if errors.As(err, &shrink) && shrink.Target < shrink.Have {
		in.HeadShrunk = strings.Repeat("s ", 60)
		c, err = Assemble(in)
	}
	if err != nil {
		t.Fatal(err)
	}
	second, _ := Assemble(in)
	if !reflect.DeepEqual(c, second) {
		t.Fatal("shrinking is not deterministic")
	}
	var order []string
	for _, s := range c.Manifest().Shrink {
		if n := s[:1]; len(order) == 0 || order[len(order)-1] != n {
			order = append(order, n)
		}
	}
	if got := strings.Join(order, ""); got != want {
		t.Fatalf("steps in the order %s: %q", got, c.Manifest().Shrink)
	}
	if last := c.Messages()[len(c.Messages())-1]; !strings.HasSuffix(last.RenderedText(), in.Current.RenderedText()) {
		t.Error("the message itself was touched")
	}
}

// TestRecentMessagesTooLarge: if so many messages must stay unsummarized that they cannot fit even when shortened,
// the result is a typed error with numbers.
func TestRecentMessagesTooLarge(t *testing.T) {
	in := sample()
	in.Policy.PreserveRecent = 400
	_, err := Assemble(in.over(long(200, 100), nil))
	var recent *RecentMessagesTooLarge
	if !errors.As(err, &recent) || recent.Required <= recent.Budget || chat.AsError(err).Hint == "" {
		t.Fatalf("%v", err)
	}
	one := &RecentMessagesTooLarge{Required: 20, Budget: 10, Messages: 1}
	if got := one.Error(); got != "the newest message, which is never summarized, needs 20 tokens, but the limit is 10" {
		t.Errorf("%s", got)
	}
}

// TestRedaction: redaction happens before hashing and is counted, and an item shows the text that is sent.
func TestRedaction(t *testing.T) {
	in := sample()
	in.Redact = func(s string) (string, []Redaction) {
		if !strings.Contains(s, "hunter2") {
			return s, nil
		}
		return strings.ReplaceAll(s, "hunter2", "[redacted]"), []Redaction{{Rule: "password", Bytes: 7}}
	}
	in.Current = chat.UserText("my password is hunter2")
	c, err := Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(c.Messages())
	if strings.Contains(string(raw), "hunter2") || len(c.Manifest().Redactions) != 1 {
		t.Fatalf("redactions %v in %s", c.Manifest().Redactions, raw)
	}
}

// TestRedactionSeesWhatIsSent: a zero-width character inside a secret does not hide it from a rule, neither in a tool
// result nor in retrieved memory.
func TestRedactionSeesWhatIsSent(t *testing.T) {
	in := sample()
	in.Redact = func(s string) (string, []Redaction) {
		if !strings.Contains(s, "hunter2") {
			return s, nil
		}
		return strings.ReplaceAll(s, "hunter2", "[redacted]"), []Redaction{{Rule: "password", Bytes: 7}}
	}
	hidden := "it is hun\u200bter2"
	in.Retrieved = []Artifact{{ID: "c1", Text: hidden, Score: 1}}
	in.Cycle = []chat.Message{
		{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.ToolUse{ToolUseID: "a", Name: "read", Input: json.RawMessage(`{}`)}}},
		{Role: chat.RoleUser, Blocks: chat.Blocks{chat.ToolResult{ToolUseID: "a", Content: chat.Blocks{chat.Text{Text: hidden}}}}},
	}
	c, err := Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal([]any{c.System(), c.Messages()})
	if strings.Contains(string(raw), "hun") || strings.Count(string(raw), "[redacted]") != 2 {
		t.Errorf("%s", raw)
	}
}

// TestEveryByteIsAccountedFor: the texts of the items, concatenated, are the context.
func TestEveryByteIsAccountedFor(t *testing.T) {
	in := sample().over(long(40, 300), long(1, 50))
	in.Retrieved = []Artifact{{ID: "c1", Text: "remember </memory>", Score: 1}}
	c, err := Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	var sent, shown strings.Builder
	for _, s := range c.System() {
		sent.WriteString(s)
	}
	for _, m := range c.Messages() {
		for _, b := range m.Blocks {
			sent.WriteString(b.(chat.Text).Text)
		}
	}
	bySource := map[string]string{}
	for _, x := range c.Texts() {
		if chat.HashText(x.Text) != x.SHA256 || len(x.Text) != x.Bytes {
			t.Fatalf("item %+v does not match its hash", x.Part)
		}
		bySource[x.Section] += x.Text
	}
	for _, name := range []string{SectionSystem, SectionPinned, SectionSummaries, SectionOriginals, SectionPending, SectionState, SectionRetrieved, SectionMessage} {
		shown.WriteString(bySource[name])
	}
	if sent.Len() != shown.Len() || sent.String() != shown.String() {
		t.Fatalf("%d bytes are sent, %d shown", sent.Len(), shown.Len())
	}
}

// TestProperties: whatever the conversation, a context fits, is deterministic, alternates roles, and keeps pending
// turns and pairs complete; the cut never moves back while the budget is the same.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := sample()
		in.Limits.ContextLimit = rapid.IntRange(2000, 40000).Draw(t, "window")
		in.Limits.WorkingSet = rapid.IntRange(1500, 40000).Draw(t, "working set")
		in.Policy.PreserveRecent = rapid.IntRange(0, 6).Draw(t, "preserve")
		var turns []chat.Turn
		for range rapid.IntRange(1, 40).Draw(t, "turns") {
			turns = append(turns, long(1, rapid.IntRange(2, 400).Draw(t, "words"))...)
		}
		pending := rapid.IntRange(0, min(4, len(turns))).Draw(t, "pending")
		cut := int64(0)
		for n := pending; n <= len(turns); n++ {
			step := in.over(turns[:n-pending], turns[n-pending:n])
			c, err := Assemble(step)
			var shrink *NeedsSummaryShrink
			if errors.As(err, &shrink) || chat.CodeOf(err) == chat.CodeOverBudget {
				continue
			}
			if err != nil {
				t.Fatalf("%v", err)
			}
			checkContext(t, step, c, pending)
			if len(c.Manifest().Shrink) == 0 {
				if current := c.Manifest().History.Cut; current < cut {
					t.Fatalf("the cut moved back from %d to %d", cut, current)
				}
				cut = c.Manifest().History.Cut
			}
		}
	})
}

func checkContext(t *rapid.T, in Input, c PreparedContext, pending int) {
	second, _ := Assemble(in)
	if !reflect.DeepEqual(c, second) {
		t.Fatalf("the same input produced a different context")
	}
	b := c.Manifest().Budget
	if c.Tokens() > b.Ceiling || c.Tokens()+c.MaxOutput() > max(b.ModelLimit, c.Tokens()+1) {
		t.Fatalf("%d tokens, output %d, budget %+v", c.Tokens(), c.MaxOutput(), b)
	}
	sum := 0
	for _, s := range c.Manifest().Sections {
		sum += s.Tokens
		if s.Name == SectionPending && len(s.Items) != 2*(pending-len(c.Manifest().DroppedPending)) {
			t.Fatalf("%d items of %d pending turns, %d dropped", len(s.Items), pending, len(c.Manifest().DroppedPending))
		}
	}
	if sum != c.Tokens() {
		t.Fatalf("sections add up to %d, the context to %d", sum, c.Tokens())
	}
	for i, m := range c.Messages() {
		if want := []chat.Role{chat.RoleUser, chat.RoleAssistant}[i%2]; m.Role != want {
			t.Fatalf("message %d is %s", i, m.Role)
		}
	}
}

// TestALargerWindowRestoresOriginals: a conversation that a small window represents by summaries is sent in full to a model
// with a large window, without any further work.
func TestALargerWindowRestoresOriginals(t *testing.T) {
	in := sample().over(long(40, 300), nil)
	small, err := Assemble(in)
	if err != nil || small.Manifest().History.Cut == 0 {
		t.Fatalf("cut %d, %v", small.Manifest().History.Cut, err)
	}
	for _, p := range small.Manifest().History.Pieces {
		in.Summaries = append(in.Summaries, Summary{ID: fmt.Sprint(p.From), From: p.From, To: p.To, Tokens: 50, Text: "- said", Model: "m"})
	}
	in.Limits.ContextLimit = 200_000
	large, err := Assemble(in)
	if err != nil || large.Manifest().History.Cut != 0 || len(large.Messages()) != 2*len(in.Sizes)+1 {
		t.Errorf("%d messages of %d turns, cut %d, %v", len(large.Messages()), len(in.Sizes), large.Manifest().History.Cut, err)
	}
}

// TestRangeTarget: a summary's target is 0.15 of what it replaces, within 64 and 2048 tokens.
func TestRangeTarget(t *testing.T) {
	b := NewBudget(Limits{ContextLimit: 400_000, ResponseReserve: 4000, SafetyMargin: 1500}, DefaultPolicy(), 1)
	for tokens, want := range map[int]int{100: 64, 1000: 150, 100_000: 2048} {
		if got := RangeTarget(tokens, b, DefaultPolicy()); got != want {
			t.Errorf("of %d tokens: %d, want %d", tokens, got, want)
		}
	}
}

// TestASmallerReserveLeavesMoreInput: what is not reserved for the answer can be used for the input.
func TestASmallerReserveLeavesMoreInput(t *testing.T) {
	wide := Limits{ContextLimit: 32_000, ResponseReserve: 1000, SafetyMargin: 1500, ExactReserve: true}
	narrow := wide
	narrow.ResponseReserve = 8000
	if a, b := NewBudget(wide, DefaultPolicy(), 1), NewBudget(narrow, DefaultPolicy(), 1); a.InputBudget <= b.InputBudget {
		t.Errorf("a smaller output limit leaves %d tokens, a larger one %d", a.InputBudget, b.InputBudget)
	}
}
