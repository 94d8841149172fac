package recall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/prompt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var now = time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)

// memory returns fixed passages.
type memory struct {
	found  []Passage
	others []Passage // in the scope of the session only
	err    error
	turns  int
	query  Query
	wait   chan struct{}
	called chan struct{}
}

func (m *memory) Search(ctx context.Context, q Query) ([]Passage, error) {
	m.query = q
	if m.wait != nil {
		close(m.called)
		select {
		case <-m.wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if q.Scope == chat.ScopeSession {
		return append(m.others, m.found...), m.err
	}
	return m.found, m.err
}

func (m *memory) Turns(context.Context) (int, error) { return m.turns, nil }

func provider(m Memory) *Provider {
	p := New(m, clock.NewFake(now).Now, func() string { return "en" })
	p.zone, p.pacing = time.UTC, 0
	return p
}

var kyoto = []Passage{
	{TurnID: "T1", SessionID: "S1", SessionTitle: "Kyoto [trip] *2026*", Role: chat.RoleUser, Score: 1, At: now.AddDate(0, -2, 0),
		Text: "The ryokan near Gion costs 180 a night.\n\nWe said yes."},
	{TurnID: "T2", SessionID: "S2", SessionTitle: "", Role: chat.RoleAssistant, Score: 3, At: now.AddDate(0, 0, -1),
		Text: "```go\nfmt.Println(\"ryokan\")\n```"},
	{TurnID: "T3", SessionID: "S1", SessionTitle: "Kyoto [trip] *2026*", Role: chat.RoleAssistant, Score: 1, At: now.Add(-time.Hour),
		Text: "Booked: ryokan, 3 nights."},
	{TurnID: "T4", SessionID: "S3", Provider: Name, Score: 9, At: now, Text: "recall once said ryokan"},
	{TurnID: "T3", SessionID: "S1", Role: chat.RoleAssistant, Score: 1, At: now.Add(-time.Hour), Text: "Booked: ryokan, 3 nights."},
	{TurnID: "T5", SessionID: "S1", Role: chat.RoleUser, Score: 0.5, At: now.Add(-2 * time.Hour), Document: "plan_*.md", Text: "Day 3: ryokan."},
	{TurnID: "T6", SessionID: "S1", Role: chat.RoleAssistant, Score: 0.5, At: now.Add(-3 * time.Hour), Name: "Ann", Text: "The ryokan is **mine**."},
}

// ask passes a question through Encode, Stream and the decoder.
func ask(t *testing.T, p *Provider, question string, stream bool) ([]chat.RawEvent, llmtest.Played) {
	t.Helper()
	ep := llm.Endpoint{Provider: Name, Stream: stream, Branch: "B1"}
	body, err := p.Encode(llm.Request{Endpoint: ep, Context: llmtest.Ask(t, question)})
	if err != nil {
		t.Fatal(err)
	}
	var events []chat.RawEvent
	if err := p.Stream(t.Context(), ep, body, func(ev chat.RawEvent) error {
		events = append(events, ev)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return events, llmtest.Play(t, p, llm.ToolsDisabled, events)
}

func TestQuotes(t *testing.T) {
	m := &memory{found: kyoto, turns: 4}
	events, p := ask(t, provider(m), "What did we say about the ryokan?", true)
	llmtest.Golden(t, "quotes.md", p.Result.Text())
	if want := (Query{Text: "What did we say about the ryokan?", Branch: "B1", Limit: 6}); m.query != want {
		t.Errorf("the query is %+v", m.query)
	}
	r := p.Result
	if !r.Terminal || r.Status != chat.StepCompleted || r.Model != Name || len(r.Items) != 1 {
		t.Errorf("%+v", r)
	}
	again, _ := ask(t, provider(&memory{found: kyoto, turns: 4}), "What did we say about the ryokan?", true)
	if !reflect.DeepEqual(events, again) {
		t.Error("the same question and memory give different events")
	}
	_, unstreamed := ask(t, provider(m), "What did we say about the ryokan?", false)
	if unstreamed.Result.Text() != r.Text() || !unstreamed.Result.Terminal {
		t.Error("the answer differs without streaming")
	}
	cut := llmtest.Play(t, provider(m), llm.ToolsDisabled, events[:len(events)-1])
	if cut.Result.Terminal || cut.Result.Text() != r.Text() {
		t.Error("a cut stream counts as ended, or lost text")
	}
}

func TestNoResults(t *testing.T) {
	for name, c := range map[string]struct {
		memory   *memory
		question string
		want     string
	}{
		"nothing found":                 {&memory{turns: 3}, "ryokan?", english.notFound},
		"only another branch has it":    {&memory{turns: 3, others: kyoto[:1]}, "ryokan?", english.notFound + fmt.Sprintf(english.onSiblings, "T1")},
		"only a question on another":    {&memory{turns: 3, others: []Passage{{TurnID: "T1", Role: chat.RoleUser, Text: "Which ryokan?"}}}, "ryokan?", english.notFound},
		"empty history":                 {&memory{}, "Hello there", english.emptyHistory},
		"no words":                      {&memory{turns: 3}, "?!", english.noWords},
		"only answers of recall itself": {&memory{turns: 3, found: kyoto[3:4]}, "ryokan", english.notFound},
	} {
		if _, p := ask(t, provider(c.memory), c.question, true); p.Result.Text() != c.want {
			t.Errorf("%s: %q", name, p.Result.Text())
		}
	}
}

// TestNearestInMeaning: an answer without any word of the question says so, and quotes only the nearest.
func TestNearestInMeaning(t *testing.T) {
	var found []Passage
	for i := range 4 {
		found = append(found, Passage{TurnID: chat.TurnID(fmt.Sprint("T", i)), SessionID: "s", Role: chat.RoleUser, Text: fmt.Sprint("passage ", i), Score: 0.9 - float64(i)/10, ByMeaning: true})
	}
	_, p := ask(t, provider(&memory{turns: 5, found: found}), "do I own a pet?", true)
	if text := p.Result.Text(); !strings.Contains(text, english.byMeaning) || strings.Count(text, "> passage") != nearest {
		t.Errorf("%s", text)
	}
	found[3].ByMeaning = false
	_, p = ask(t, provider(&memory{turns: 5, found: found}), "do I own a pet?", true)
	if text := p.Result.Text(); strings.Contains(text, english.byMeaning) || strings.Count(text, "> passage") != len(found) {
		t.Errorf("%s", text)
	}
}

// TestAStatementIsSaved: the answer to a message that asks nothing begins with what happened to it.
func TestAStatementIsSaved(t *testing.T) {
	const fact = "My sister Anna lives in Lisbon."
	if _, p := ask(t, provider(&memory{turns: 3}), fact, true); p.Result.Text() != english.saved+english.nothingElse {
		t.Errorf("%q", p.Result.Text())
	}
	if _, p := ask(t, provider(&memory{turns: 3, found: kyoto}), fact, true); !strings.HasPrefix(p.Result.Text(), english.saved+"From your own history") {
		t.Errorf("%q", p.Result.Text())
	}
	if _, p := ask(t, provider(&memory{turns: 3, found: kyoto}), "Where does Anna live", true); strings.Contains(p.Result.Text(), english.saved) {
		t.Errorf("%q", p.Result.Text())
	}
}

// TestWithoutMemoryNothingIsSearched: as in a temporary chat.
func TestWithoutMemoryNothingIsSearched(t *testing.T) {
	p := provider(&memory{turns: 3, found: kyoto})
	ep := llm.Endpoint{Provider: Name, NoMemory: true}
	body, err := p.Encode(llm.Request{Endpoint: ep, Context: llmtest.Ask(t, "What did we say about the ryokan?")})
	if err != nil {
		t.Fatal(err)
	}
	var events []chat.RawEvent
	err = p.Stream(t.Context(), ep, body, func(ev chat.RawEvent) error {
		events = append(events, ev)
		return nil
	})
	if got := llmtest.Play(t, p, llm.ToolsDisabled, events).Result.Text(); err != nil || got != english.noMemory {
		t.Errorf("%q, %v", got, err)
	}
}

// TestTheLanguageOfTheWindow: the program's own sentences, the speakers and the dates are in the window's language at
// the time of the answer; quotations and titles are not changed.
func TestTheLanguageOfTheWindow(t *testing.T) {
	language := "de"
	p := provider(&memory{found: kyoto, turns: 4})
	p.language = func() string { return language }
	for language = range map[string]bool{"de": true, "zh-CN": true} {
		_, played := ask(t, p, "What did we say about the ryokan?", true)
		llmtest.Golden(t, "quotes_"+language+".md", played.Result.Text())
	}
	want := reflect.ValueOf(english)
	for _, translation := range []texts{german, chinese} {
		got := reflect.ValueOf(translation)
		for i := range want.NumField() {
			if want.Field(i).Kind() != reflect.String {
				continue
			}
			name, text, en := want.Type().Field(i).Name, got.Field(i).String(), want.Field(i).String()
			if text == "" || strings.Count(text, "%s") != strings.Count(en, "%s") || name != "attribution" && text == en {
				t.Errorf("%s in %q: %q", name, translation.user, text)
			}
		}
	}
}

func TestEncodeTakesOnlyTheQuestion(t *testing.T) {
	messages := []chat.Message{
		chat.UserText("Earlier"), chat.AssistantText("Answer"),
		{Role: chat.RoleUser, Blocks: chat.Blocks{
			chat.Text{Text: "<memory>\nsummary\n</memory>\n\n"}, chat.Text{Text: "Where is <it>?"},
		}},
	}
	body, err := provider(nil).Encode(llm.Request{Context: llmtest.Prepare(t, llmtest.Context{Messages: messages})})
	if want := `{"branch":"","limit":6,"query":"Where is <it>?","stream":false}`; err != nil || string(body) != want {
		t.Errorf("%s, %v", body, err)
	}
	if _, err := provider(nil).Encode(llm.Request{}); err == nil {
		t.Error("the zero context was encoded")
	}
}

// TestDocumentsAreNotPartOfTheQuestion: tested with the assembler itself, which turns documents into text.
func TestDocumentsAreNotPartOfTheQuestion(t *testing.T) {
	for name, d := range map[string]chat.Document{
		"whole": {File: "F", Name: `a "plan".md`, Text: "Fares to Osaka.\n", Complete: true, Tokens: 4},
		"part":  {File: "F", Name: "plan.md", Text: "Fares to Osaka.", Tokens: 90_000},
	} {
		c, err := prompt.Assemble(prompt.Input{
			Model: "recall", Provider: Name, Limits: prompt.Limits{ContextLimit: 100_000, MaxOutput: 1000},
			Count:   func(s string) int { return len(s) / 4 },
			Current: chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{chat.Text{Text: "Where is <it>?"}, d}},
		})
		if err != nil {
			t.Fatal(err)
		}
		body, err := provider(nil).Encode(llm.Request{Context: c})
		if want := `{"branch":"","limit":6,"query":"Where is <it>?","stream":false}`; err != nil || string(body) != want {
			t.Errorf("%s: %s, %v", name, body, err)
		}
	}
}

// withFacts returns a context of the assembler with pinned facts of a session and of its project.
func withFacts(t *testing.T, question string) prompt.PreparedContext {
	t.Helper()
	c, err := prompt.Assemble(prompt.Input{
		Model: "recall", Provider: Name, Limits: prompt.Limits{ContextLimit: 100_000, MaxOutput: 1000},
		Count: func(s string) int { return len(s) / 4 },
		Project: &prompt.Project{ID: "P", Name: "Bakery", Facts: []chat.ProjectFact{
			{ID: "F1", Text: "The oven is called Hildegard."}, {ID: "F2", Text: "Rye bread is baked on Mondays.\nNever on a Friday."},
		}},
		Pins:    []chat.Pin{{ID: "P1", Text: "The cat is called Leo."}, {ID: "P2", Text: "我们的烤箱叫希尔德加德。"}},
		Current: chat.UserText(question),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPinnedFactsAreQuoted: pinned facts that share words with the question come before passages, under their own
// heading; facts about something else are not quoted.
func TestPinnedFactsAreQuoted(t *testing.T) {
	const project, own = "### Pinned facts of this project\n\n> ", "### Pinned facts of this session\n\n> "
	for question, want := range map[string]string{
		"What is our oven called?":             project + "The oven is called Hildegard.\n",
		"What's the name of the OVENS?":        project + "The oven is called Hildegard.\n",
		"When do we bake rye?":                 project + "Rye bread is baked on Mondays.\n> Never on a Friday.\n",
		"Is my cat in the oven?":               project + "The oven is called Hildegard.\n\n" + own + "The cat is called Leo.\n",
		"我们的烤箱叫什么？":                            own + "我们的烤箱叫希尔德加德。\n",
		"Who are you, and what is it with us?": "",
		"How expensive was the hotel?":         "",
	} {
		p := provider(&memory{turns: 3})
		ep := llm.Endpoint{Provider: Name, Branch: "B1"}
		body, err := p.Encode(llm.Request{Endpoint: ep, Context: withFacts(t, question)})
		if err != nil {
			t.Fatal(err)
		}
		var events []chat.RawEvent
		if err := p.Stream(t.Context(), ep, body, func(ev chat.RawEvent) error { events = append(events, ev); return nil }); err != nil {
			t.Fatal(err)
		}
		got := llmtest.Play(t, p, llm.ToolsDisabled, events).Result.Text()
		if want == "" {
			want = english.notFound
		} else {
			want = fmt.Sprintf(english.introduction, "3 May 2026, 12:00") + "\n" + want
		}
		if got != want {
			t.Errorf("%s\n got %q\nwant %q", question, got, want)
		}
	}
	found, _, err := provider(&memory{found: kyoto[:1]}).answer(t.Context(), request{
		Query: "What does the oven cost?", Facts: []prompt.Fact{{Text: "The oven cost 900."}}, Limit: 6,
	})
	if fact, passage := strings.Index(found, "> The oven cost 900."), strings.Index(found, "180 a night"); err != nil || fact < 0 || passage < fact {
		t.Errorf("the fact does not precede the passage: %q, %v", found, err)
	}
}

func TestFailures(t *testing.T) {
	yield := func(chat.RawEvent) error { return nil }
	body := json.RawMessage(`{"query":"ryokan","limit":3,"stream":true}`)
	var e *llm.Error

	broken := chat.Errorf(chat.CodeCorrupt, "store.search", "the index is damaged")
	err := provider(&memory{err: broken}).Stream(t.Context(), llm.Endpoint{}, body, yield)
	if !errors.As(err, &e) || e.Code != chat.CodeCorrupt || !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	err = provider(&memory{}).Stream(t.Context(), llm.Endpoint{}, json.RawMessage(`{"limit":"x"}`), yield)
	if !errors.As(err, &e) || e.Code != chat.CodeInvalid {
		t.Errorf("%v", err)
	}
	full := errors.New("the disk is full")
	err = provider(&memory{}).Stream(t.Context(), llm.Endpoint{}, body, func(chat.RawEvent) error { return full })
	if !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

func TestCancel(t *testing.T) {
	body := json.RawMessage(`{"query":"ryokan","stream":true}`)
	t.Run("while searching", func(t *testing.T) {
		m := &memory{wait: make(chan struct{}), called: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-m.called; cancel() }()
		err := provider(m).Stream(ctx, llm.Endpoint{}, body, func(chat.RawEvent) error { return nil })
		var e *llm.Error
		if !errors.As(err, &e) || e.Code != chat.CodeCancelled {
			t.Errorf("%v", err)
		}
	})
	t.Run("while streaming", func(t *testing.T) {
		p := provider(&memory{found: kyoto})
		p.pacing = time.Hour // only a cancellation can end a pause
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		err := p.Stream(ctx, llm.Endpoint{}, body, func(chat.RawEvent) error {
			if n++; n == 3 {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v after %d events", err, n)
		}
	})
}

func TestExcerptShowsTheTerm(t *testing.T) {
	for name, text := range map[string]string{
		"latin":   strings.Repeat("lorem ipsum ", 500) + "the ryokan stood here " + strings.Repeat("dolor sit ", 500),
		"chinese": strings.Repeat("京都市", 900) + "ryokan" + strings.Repeat("旅館", 900),
		"letter":  strings.Repeat("a", 64<<10) + " ryokan",
	} {
		got := excerpt(text, []string{"ryokan"})
		if !strings.Contains(got, "ryokan") || len(got) > maxExcerpt+20 || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes: %q", name, len(got), got)
		}
	}
	if got := excerpt("short", nil); got != "short" {
		t.Errorf("%q", got)
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add(`{"type":"recall.delta","text":"a "}` + "\n" + `{"type":"recall.done"}`)
	f.Fuzz(func(t *testing.T, stream string) {
		var events []chat.RawEvent
		for line := range strings.SplitSeq(stream, "\n") {
			events = append(events, llmtest.Event(line))
		}
		llmtest.Play(t, provider(nil), llm.ToolsDisabled, events)
	})
}

func FuzzExcerpt(f *testing.F) {
	f.Add("What about 京都の旅館, Café?", "café")
	f.Fuzz(func(t *testing.T, text, term string) {
		if got := excerpt(text, []string{term}); !utf8.ValidString(got) || len(got) > maxExcerpt+20 {
			t.Fatalf("excerpt of %q around %q is %q", text, term, got)
		}
	})
}
