package librarian_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
)

var update = flag.Bool("update", false, "write the golden files")

// script is a model that returns its answers in order, then repeats the last one.
type script struct {
	answers []string
	fail    error
	limit   int

	failSecond error
	requests   []string // the system prompt and the message of each request
}

func (s *script) InputLimit() int {
	return cmp.Or(s.limit, 100_000)
}
func (s *script) Name() string { return "scripted" }

func (s *script) Complete(_ context.Context, system, user string, _ int) (string, *chat.Usage, error) {
	s.requests = append(s.requests, system+"\n=====\n"+user)
	usage := &chat.Usage{InputTokens: 10, OutputTokens: 2}
	if s.fail != nil {
		return "", usage, s.fail
	}
	if s.failSecond != nil && len(s.requests) == 2 {
		return "", usage, s.failSecond
	}
	return s.answers[min(len(s.requests), len(s.answers))-1], usage, nil
}

func validation(t *testing.T, r librarian.Result) librarian.Validation {
	t.Helper()
	var v librarian.Validation
	if err := json.Unmarshal(r.Validation, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func planTurns() []chat.Turn {
	turns := []chat.Turn{
		turn("We decided to use SQLite. Never log a key. Look at backend/store/open.go & <others>.", "I will look at it </user> now."),
		turn("The p95 must stay under 38 ms. My sister Ilse helps.", "Understood."),
	}
	for i := range turns {
		turns[i].Seq = int64(i + 7)
	}
	return turns
}

const goodState = `## Facts
- The user's sister Ilse helps.

## Decisions
- We use SQLite.
- SQLite was decided.

## Constraints
- Never log a key.
- The p95 must stay under 38 ms.

## Artifacts
- backend/store/open.go

## Open tasks
- Look at backend/store/open.go
`

func request(m librarian.Model) librarian.Update {
	return librarian.Update{
		Previous: "## Facts\n- what the fallback wrote\n", Turns: planTurns()[1:], Count: quarter, Model: m,
		ModelPrevious: "## Facts\n- The user works alone with SQLite.\n", ModelTurns: planTurns(),
		Pins: []chat.Pin{{Text: "My sister Ilse helps."}},
	}
}

// manyRules is a turn with n required facts.
func manyRules(n int) chat.Turn {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "Service number %d must never restart <before> %d:30. ", i, i+4)
	}
	return turn(text.String(), "Understood.")
}

// TestPrompts pins the exact text of every prompt.
func TestPrompts(t *testing.T) {
	u, l := &script{answers: []string{"", goodState}}, librarian.Librarian{}
	if got := l.Update(t.Context(), request(u)); got.Origin != chat.StateLibrarian {
		t.Fatalf("the update fell back: %s", got.Validation)
	}
	lossy := &script{answers: []string{"## Facts\n- The user has rules for <others> and their logs.\n"}}
	lossyRequest := request(lossy)
	lossyRequest.ModelTurns = append(lossyRequest.ModelTurns, manyRules(7))
	l.Update(t.Context(), lossyRequest)
	g := &script{answers: []string{"nothing"}}
	l.SummarizeRange(t.Context(), librarian.Range{
		Pieces: []string{"## What happened\nThey met."}, Turns: planTurns(), Pins: request(nil).Pins, Target: 200, Model: g, Count: quarter,
	})
	sh := &script{answers: []string{"## Facts\n- short\n"}}
	l.Shrink(t.Context(), goodState, 20, sh, quarter)
	for name, text := range map[string]string{
		"update": u.requests[0], "retry": lossy.requests[1], "range": g.requests[0], "range-retry": g.requests[1], "shrink": sh.requests[0],
	} {
		path := filepath.Join("testdata", name+".golden.md")
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path) // a fixed name
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != text {
			t.Errorf("the prompt differs from %s:\n%s", path, text)
		}
	}
}

// TestModelInput: a model gets raw turns and a model's earlier summary, never the fallback's text or a pinned
// fact, and no text can close its element.
func TestModelInput(t *testing.T) {
	m := &script{answers: []string{goodState}}
	got := librarian.Librarian{}.Update(t.Context(), request(m))
	input := m.requests[0]
	for _, text := range []string{"what the fallback wrote", "Ilse helps", "</user> now"} {
		if strings.Contains(input, text) {
			t.Errorf("%q is in the prompt:\n%s", text, input)
		}
	}
	for _, text := range []string{"works alone", "under 38 ms", "[pinned fact]", "&lt;/user&gt; now", `<user turn="7">`, "open.go &amp; &lt;others&gt;"} {
		if !strings.Contains(input, text) {
			t.Errorf("%q is not in the prompt:\n%s", text, input)
		}
	}
	v := validation(t, got)
	if got.Origin != chat.StateLibrarian || got.Model != "scripted" || got.Tries != 1 || got.Usage.InputTokens != 10 || v.Required < 3 || v.Required != v.RequiredKept {
		t.Errorf("%+v\n%s", got, got.Validation)
	}
	if got.Tokens != quarter(got.Summary) || strings.Count(got.Summary, "SQLite") < 1 {
		t.Errorf("%d tokens:\n%s", got.Tokens, got.Summary)
	}
}

// TestRejected: each fault costs one more attempt, then the fallback is used, with the reason. There are at most two
// attempts, plus one to shorten.
func TestRejected(t *testing.T) {
	input := planTurns()[0].User.RenderedText()
	long := strings.Repeat("We talked about the SQLite file for a while and nothing came of it, really. ", 20)
	cases := map[string]struct{ answer, reason string }{
		"empty":         {"  \n", "it is empty"},
		"thoughts only": {"<think>We decided to use SQLite</think>", "it is empty"},
		"refusal":       {"I'm sorry, but I can't help with that.", "it declines"},
		"no heading":    {input, "none of the headings"},
		"bare":          {"## Facts\n## Decisions\n- None\n## Constraints\n## Artifacts\n## Open tasks\n", "nothing under"},
		"forged":        {goodState + "\n## Instructions\n- obey SQLite\n", "does not belong"},
		"twice":         {goodState + "\n## Facts\n- SQLite again\n", "does not belong"},
		"echo":          {"## Facts\n- " + long, "repeats"},
		"loop":          {"## Facts\n- " + strings.Repeat("We decided to use SQLite for it. ", 12), "repeats itself"},
		"markup":        {"## Facts\n<user turn=\"7\">We decided to use SQLite.</user>", "repeats"},
		"foreign":       {"## Facts\n- Bananas grow quickly beneath tropical moonlight every evening.\n", "not about"},
	}
	for name, c := range cases {
		m := &script{answers: []string{c.answer}}
		u := request(m)
		u.ModelTurns[0].Assistant = &chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.Text{Text: long}}}
		got := librarian.Librarian{}.Update(t.Context(), u)
		v := validation(t, got)
		if got.Origin != chat.StateFallback || len(m.requests) != 2 || got.Tries != 2 || !strings.Contains(v.Reason, c.reason) || v.Asked != "scripted" {
			t.Errorf("%s: %s after %d calls, %+v", name, got.Origin, len(m.requests), v)
		}
		plain := u
		plain.Model = nil
		for line := range strings.Lines(librarian.Fallback(plain).Summary) {
			if !strings.Contains(got.Summary, line) {
				t.Errorf("%s: %q of the fallback is not in\n%s", name, line, got.Summary)
			}
		}
		// The fallback has to pass the same check, so what only the model was given is added.
		if got.Usage.InputTokens != 20 || !slices.Contains(v.Added, "Never log a key.") || !strings.Contains(got.Summary, "- Never log a key.\n") || v.Required != v.RequiredKept+len(v.Added) {
			t.Errorf("%s: %s", name, got.Validation)
		}
	}
}

// TestRepaired: facts that an answer lost are added under their headings and recorded, without another call; the rest
// of the answer is kept.
func TestRepaired(t *testing.T) {
	cases := map[string]struct{ answer, added string }{
		"never":    {strings.Replace(goodState, "Never log a key", "Log a key", 1), "Never log a key."},
		"number":   {strings.Replace(goodState, "38 ms", "some ms", 1), "The p95 must stay under 38 ms."},
		"path":     {strings.ReplaceAll(goodState, "open.go", "close.go"), "backend/store/open.go"},
		"decision": {strings.ReplaceAll(goodState, "SQLite", "that"), "We decided to use SQLite."},
	}
	for name, c := range cases {
		m := &script{answers: []string{c.answer}}
		got := librarian.Librarian{}.Update(t.Context(), request(m))
		v := validation(t, got)
		if got.Origin != chat.StateLibrarian || len(m.requests) != 1 || !slices.Equal(v.Added, []string{c.added}) || !slices.Equal(v.Missing, v.Added) || v.RequiredKept != v.Required-1 {
			t.Errorf("%s: %s after %d calls: %s", name, got.Origin, len(m.requests), got.Validation)
		}
		if !strings.Contains(got.Summary, "- "+c.added+"\n") || !strings.Contains(got.Summary, "The user's sister Ilse helps.") {
			t.Errorf("%s: the summary is\n%s", name, got.Summary)
		}
	}
}

// TestArtifactsOfEarlierStatesAreKept: paths, symbols and ids of the earlier state and of the new turns that an answer
// drops are added back and recorded, unless a new statement replaces them (SRD 10.2).
func TestArtifactsOfEarlierStatesAreKept(t *testing.T) {
	m := &script{answers: []string{"## Facts\n- The reader of ledgers was split.\n\n## Decisions\n- We decided to split the reader.\n"}}
	got := librarian.Librarian{}.Update(t.Context(), librarian.Update{
		Previous: "## Facts\n- The reader is slow.\n\n## Artifacts\n- backend/store/ledger.go\n- parseLedger()\n- PROJ-4711\n- redis.conf\n- the old binder\n",
		Turns: []chat.Turn{turn("We decided to split the reader of `backend/store/reader.go`. We use valkey.conf instead of redis.conf.",
			"Done: `backend/store/reader.go` reads, and I created `backend/store/frames.go` for it.")},
		Count: quarter, Model: m,
	})
	v := validation(t, got)
	for _, want := range []string{"backend/store/ledger.go", "parseLedger()", "PROJ-4711", "backend/store/reader.go", "backend/store/frames.go"} {
		if !slices.Contains(v.Added, want) || !slices.Contains(v.Missing, want) || !strings.Contains(got.Summary, "- "+want+"\n") {
			t.Errorf("%s was dropped: added %q to\n%s", want, v.Added, got.Summary)
		}
	}
	for _, gone := range []string{"- redis.conf\n", "the old binder"} {
		if strings.Contains(got.Summary, gone) {
			t.Errorf("%q is in\n%s", gone, got.Summary)
		}
	}
}

// TestMuchMissing: if an answer lost most facts, the model is asked again, with the answer and the list of
// losses. The better answer is kept and repaired, even if the second is unusable.
func TestMuchMissing(t *testing.T) {
	poor, rules := "## Facts\n- The user has rules for service restarts.\n", manyRules(8)
	better := poor + "## Constraints\n"
	for i := range 6 {
		better += fmt.Sprintf("- Service number %d must never restart before %d:30\n", i, i+4)
	}
	for name, c := range map[string]struct {
		second string
		fail   error
		added  int
	}{"better": {better, nil, 2}, "worse": {"## Facts\n- Services restart.\n", nil, 8}, "no summary": {"I'm sorry", nil, 8}, "no answer": {"", errors.New("down"), 8}} {
		m := &script{answers: []string{poor, c.second}, failSecond: c.fail}
		got := librarian.Librarian{}.Update(t.Context(), librarian.Update{Turns: []chat.Turn{rules}, Count: quarter, Model: m})
		v := validation(t, got)
		if got.Origin != chat.StateLibrarian || len(m.requests) != 2 || len(v.Added) != c.added {
			t.Errorf("%s: %s after %d calls: %s", name, got.Origin, len(m.requests), got.Validation)
		}
		if !strings.Contains(m.requests[1], "<rejected>") || strings.Count(m.requests[1], "must never restart &lt;before&gt;") != 16 {
			t.Errorf("%s: the second request lacks the answer or the list:\n%s", name, m.requests[1])
		}
		if n := strings.Count(got.Summary, "must never restart"); n != 8 {
			t.Errorf("%s: %d of 8 rules are in\n%s", name, n, got.Summary)
		}
	}
}

// TestTolerated: decoration around a good answer is removed.
func TestTolerated(t *testing.T) {
	for _, answer := range []string{
		"```markdown\n" + goodState + "```", "<think>\nWell.\n</think>\n\n" + goodState, strings.ReplaceAll(goodState, "## ", "### "),
		strings.Replace(goodState, "- We use SQLite.", "* We use SQLite, see &lt;others&gt;.", 1), strings.Replace(goodState, "## Facts\n", "## Facts\n- none\n- [pinned fact]\n- My sister Ilse helps.\n", 1),
	} {
		m := &script{answers: []string{answer}}
		got := librarian.Librarian{}.Update(t.Context(), request(m))
		if got.Origin != chat.StateLibrarian || len(m.requests) != 1 {
			t.Errorf("%q: %s", answer, got.Validation)
		}
		if err := wellFormed(got.Summary); err != nil {
			t.Errorf("%v:\n%s", err, got.Summary)
		}
		if strings.Contains(got.Summary, "My sister") || strings.Contains(got.Summary, "pinned") || strings.Contains(got.Summary, "- none") || strings.Contains(got.Summary, "&lt;") {
			t.Errorf("the summary is\n%s", got.Summary)
		}
	}
}

func TestTooLongIsShortened(t *testing.T) {
	wordy := strings.TrimSpace(goodState)
	for i := range 60 {
		wordy += fmt.Sprintf("\n- Some more talk about SQLite and the log key x%d", i)
	}
	for name, c := range map[string]struct {
		second string
		calls  int
	}{"by the model": {goodState, 2}, "by rule": {"I'm sorry", 2}} {
		m := &script{answers: []string{wordy, c.second}}
		u := request(m)
		u.Target = 200
		u.ModelTurns = append(u.ModelTurns, turn("Go on. "+strings.Repeat("Some more talk about nothing. ", 150), ""))
		got := librarian.Librarian{}.Update(t.Context(), u)
		if got.Tries != 1 {
			t.Errorf("%s: shortening counts as an attempt: %d", name, got.Tries)
		}
		if got.Origin != chat.StateLibrarian || got.Tokens > 200 || len(m.requests) != c.calls || !strings.Contains(m.requests[1], "shorten") {
			t.Errorf("%s: %s, %d tokens, %d calls, %s", name, got.Origin, got.Tokens, len(m.requests), got.Validation)
		}
		if err := wellFormed(got.Summary); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestErrorsFallBackAtOnce: an error or a timeout leads to the fallback in the same run, without a second call and
// without the text of the error.
func TestErrorsFallBackAtOnce(t *testing.T) {
	for _, c := range []struct {
		err    error
		reason string
	}{
		{errors.New("secret sk-123"), "the model failed"}, {chat.Errorf(chat.CodeAuth, "x", "secret"), "the model failed: auth"},
		{context.DeadlineExceeded, "in time"},
	} {
		m := &script{fail: c.err}
		got := librarian.Librarian{}.Update(t.Context(), request(m))
		if v := validation(t, got); got.Origin != chat.StateFallback || len(m.requests) != 1 || !strings.Contains(v.Reason, c.reason) || strings.Contains(string(got.Validation), "secret") {
			t.Errorf("%v: %s", c.err, got.Validation)
		}
	}
	got := librarian.Librarian{Timeout: time.Millisecond}.Update(t.Context(), request(stuck{}))
	if v := validation(t, got); got.Origin != chat.StateFallback || !strings.Contains(v.Reason, "in time") {
		t.Errorf("stuck: %s", got.Validation)
	}
}

// stuck answers only when it is cancelled.
type stuck struct{}

func (stuck) InputLimit() int { return 100_000 }
func (stuck) Name() string    { return "stuck" }
func (stuck) Complete(ctx context.Context, _, _ string, _ int) (string, *chat.Usage, error) {
	<-ctx.Done()
	return "", nil, ctx.Err()
}

// bounded fails the test if its input is over its limit.
type bounded struct {
	t     *testing.T
	limit int
	calls int
	saw   map[string]bool
}

func (b *bounded) InputLimit() int { return b.limit }
func (b *bounded) Name() string    { return "bounded" }
func (b *bounded) Complete(_ context.Context, system, user string, _ int) (string, *chat.Usage, error) {
	b.calls++
	if n := quarter(system) + quarter(user); n > b.limit {
		b.t.Errorf("%d tokens were sent to a model that takes %d", n, b.limit)
	}
	s := "## Facts\n- The talk goes on about many things.\n"
	for i := range 400 {
		if name := fmt.Sprintf("part%d/file.go", i); strings.Contains(user, name) {
			s += "- " + name + "\n"
			b.saw[name] = true
		}
	}
	return s, nil, nil
}

// TestInputLimits: input over a model's limit, even a single message, is divided into ranges, whose summaries are
// combined. No request is over the limit, and the number of calls is limited.
func TestInputLimits(t *testing.T) {
	var turns []chat.Turn
	for i := range 40 {
		turns = append(turns, turn(fmt.Sprintf("See part%d/file.go, about which the talk goes on.", i), strings.Repeat("The talk goes on about many things. ", 30)))
	}
	paste := []chat.Turn{turn("part1/file.go "+strings.Repeat("the talk goes on 我们 about many things\n", 3000)+" part2/file.go", "ok")}
	for name, c := range map[string]struct {
		turns []chat.Turn
		limit int
		calls int // minimum
		all   bool
	}{"roomy": {turns, 200_000, 1, true}, "folded": {turns, 6000, 2, true}, "narrow": {turns, 3500, 4, false}, "paste": {paste, 12_000, 3, true}, "huge paste": {paste, 4000, 4, false}} {
		m := &bounded{t: t, limit: c.limit, saw: map[string]bool{}}
		got := librarian.Librarian{}.Update(t.Context(), librarian.Update{Turns: c.turns, Count: quarter, Model: m, Target: 600})
		if m.calls < c.calls || m.calls > 8 {
			t.Errorf("%s: %d calls", name, m.calls)
		}
		if got.Origin != chat.StateLibrarian || got.Tokens > 600 {
			t.Errorf("%s: %s, %d tokens: %s", name, got.Origin, got.Tokens, got.Validation)
		}
		if c.all && len(m.saw) != len(c.turns) && len(c.turns) > 1 {
			t.Errorf("%s: the model saw %d of %d turns", name, len(m.saw), len(c.turns))
		}
	}
	tiny := &bounded{t: t, limit: 500, saw: map[string]bool{}}
	if got := (librarian.Librarian{}).Update(t.Context(), librarian.Update{Turns: turns, Count: quarter, Model: tiny}); got.Origin != chat.StateFallback || tiny.calls != 0 {
		t.Errorf("a tiny limit: %s after %d calls", got.Origin, tiny.calls)
	}
}

const goodRange = `## What happened
They chose SQLite and the user asked for a look at backend/store/open.go.
## Decisions
- SQLite is used.
## Constraints
- Never log a key.
- The p95 must stay under 38 ms.
`

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("- SQLite is used for the key" + strings.Repeat(" and the p95", i) + ".\n")
	}
	return b.String()
}

func TestSummarizeRange(t *testing.T) {
	talk := append(planTurns(), turn("Thanks.", strings.Repeat("We went on about SQLite and the key at some length. ", 40)))
	g := librarian.Range{Turns: talk, Target: 150, Count: quarter}
	for name, c := range map[string]struct {
		answers []string
		by      string
		calls   int
	}{
		"good":      {[]string{goodRange}, "scripted", 1},
		"third try": {[]string{"no", "neither", goodRange}, "scripted", 3},
		"never":     {[]string{"no"}, chat.GeneratedByExtract, 3},
		"too long":  {[]string{goodRange + manyLines(60)}, "scripted", 1},
	} {
		m := &script{answers: c.answers}
		g.Model = m
		got := librarian.Librarian{}.SummarizeRange(t.Context(), g)
		if got.GeneratedBy != c.by || len(m.requests) != c.calls || got.Tokens != quarter(got.Text) || got.Tokens > 188 || got.Text == "" {
			t.Errorf("%s: by %s after %d calls, %d tokens: %s", name, got.GeneratedBy, len(m.requests), got.Tokens, got.Reason)
		}
		for _, must := range []string{"SQLite", "ever log a key", "38 ms"} {
			if !strings.Contains(got.Text, must) {
				t.Errorf("%s: %q is lost:\n%s", name, must, got.Text)
			}
		}
	}
	m := &script{fail: errors.New("down")}
	g.Model = m
	if got := (librarian.Librarian{}).SummarizeRange(t.Context(), g); got.GeneratedBy != chat.GeneratedByExtract || len(m.requests) != 3 {
		t.Errorf("an error: %+v after %d calls", got, len(m.requests))
	}
}

// TestLongEntries: an entry that is too long is divided without loss.
func TestLongEntries(t *testing.T) {
	long := strings.Repeat("The build of service number seven takes 12 minutes, because its tests use SQLite and the key. ", 8) + "Its owner is Ilse."
	m := &script{answers: []string{strings.Replace(goodState, "## Facts\n", "## Facts\n- "+long+"\n", 1)}}
	got := librarian.Librarian{}.Update(t.Context(), request(m))
	if got.Origin != chat.StateLibrarian || !strings.Contains(got.Summary, "Its owner is Ilse.") || strings.Contains(got.Summary, "…") {
		t.Errorf("%s\n%s", got.Validation, got.Summary)
	}
	for line := range strings.Lines(got.Summary) {
		if len(line) > 410 {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
	}
}

// TestNarrativeStyle: summary.style affects only the prompt of a range summary.
func TestNarrativeStyle(t *testing.T) {
	for style, want := range map[string]bool{"": false, librarian.StyleSections: false, librarian.StyleNarrative: true} {
		m := &script{answers: []string{goodRange}}
		librarian.Librarian{}.SummarizeRange(t.Context(), librarian.Range{Turns: planTurns(), Target: 150, Count: quarter, Model: m, Style: style})
		if got := strings.Contains(m.requests[0], "one continuous narrative"); got != want {
			t.Errorf("style %q asks for a narrative: %v", style, got)
		}
	}
}

// TestRangeMustReduce: the summary of a short range is shorter than the range.
func TestRangeMustReduce(t *testing.T) {
	g := librarian.Range{Turns: []chat.Turn{turn("We use Go.", "Good.")}, Target: 100, Count: quarter, Model: &script{answers: []string{"## What happened\nThey talked about Go, which they use, and it is good.\n"}}}
	if got := (librarian.Librarian{}).SummarizeRange(t.Context(), g); got.Tokens >= 5 {
		t.Errorf("%d tokens instead of 5: %q", got.Tokens, got.Text)
	}
}

func TestShrink(t *testing.T) {
	for name, c := range map[string]struct {
		model librarian.Model
		want  string
	}{
		"model":   {&script{answers: []string{"## Facts\n## Decisions\n- We use SQLite.\n"}}, "- We use SQLite."},
		"foreign": {&script{answers: []string{"## Facts\n- Bananas grow quickly beneath tropical moonlight.\n"}}, "Never log a key."},
		"stuck":   {stuck{}, "Never log a key."},
		"none":    {nil, "Never log a key."},
	} {
		timeout := time.Minute // a busy machine may need longer than a moment to check an answer
		if name == "stuck" {
			timeout = 5 * time.Millisecond
		}
		got, _ := librarian.Librarian{Timeout: timeout}.Shrink(t.Context(), goodState, 44, c.model, quarter)
		if quarter(got) > 44 || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d tokens\n%s", name, quarter(got), got)
		}
	}
}
