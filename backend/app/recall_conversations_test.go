package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/importing"
	"contextinfinity/backend/retrieval"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// recallDir contains conversations to import, each with questions that a person asks about it later.
const recallDir = "testdata/recall"

// laterQuestion is asked after a conversation has ended. Answer lists strings from the passages that answer it, of which
// one is enough. By is the author of the first passage.
type laterQuestion struct {
	Ask    string
	Answer []string
	By     chat.Role
	Stale  string // from an earlier passage that the answer corrects, if any
}

// answeredBy reports whether a text contains the answer, however the text is wrapped or escaped.
func (q laterQuestion) answeredBy(text string) bool {
	text = oneLine(html.UnescapeString(text))
	return slices.ContainsFunc(q.Answer, func(a string) bool { return strings.Contains(text, oneLine(a)) })
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// importedChat is one imported conversation with all of its turns indexed.
type importedChat struct {
	*fixture
	t         *testing.T
	name      string
	turns     int
	session   chat.SessionID
	branch    chat.BranchID
	memory    *api.Memory
	questions []laterQuestion
	results   map[string]results // of the Memory tab, by question
}

// results are the results in the Memory tab, best first, with the complete text of each.
type results struct {
	hits  []api.MemoryHit
	texts []string
}

// importChat imports a conversation into a new store. No model is called: the state summary is the deterministic
// fallback, and contexts for the configured model are assembled but not sent.
func importChat(t *testing.T, name string) *importedChat {
	t.Helper()
	return importFile(t, name, filepath.Join(recallDir, name+".jsonl"))
}

// importFile imports a conversation from a file, with the questions of the named conversation, under the configuration.
func importFile(t *testing.T, name, file string, config ...string) *importedChat {
	t.Helper()
	ctx := context.Background()
	d := newFixture(t, harness.ChatWire.Windowed("m", "http://127.0.0.1:9", 128000)+"[librarian]\nmodel = \"\"\n"+strings.Join(config, ""))
	report, err := d.Imports.Import(ctx, file, importing.Options{})
	if err != nil || len(report.SessionIDs) != 1 || len(report.Skipped) != 0 {
		t.Fatalf("import: %+v %v", report, err)
	}
	if _, err := d.Jobs.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	session, err := d.Store.Session(ctx, report.SessionIDs[0])
	if err != nil {
		t.Fatal(err)
	}
	if n, err := d.Store.Unindexed(ctx, session.ID); err != nil || n != 0 {
		t.Fatalf("%d turns are not indexed: %v", n, err)
	}
	c := &importedChat{
		fixture: d, t: t, name: name, turns: report.Turns, session: session.ID, branch: session.ActiveBranch,
		results: map[string]results{},
	}
	core := &api.Core{Set: &d.Set, Hub: api.NewHub()}
	c.memory = api.NewMemory(core)
	c.readQuestions()
	return c
}

// line is a message of a stored conversation.
type line struct {
	Conv    string    `json:"conv"`
	Date    time.Time `json:"date"`
	Speaker string    `json:"speaker"`
	Text    string    `json:"text"`
}

// writeContinued writes a file with a conversation that continues about other topics for at least size bytes, and
// returns its path. The texts of the other conversations are repeated, with a new day for each.
func writeContinued(t *testing.T, name string, size int, others ...string) string {
	t.Helper()
	var all []line
	readJSONLines(t, filepath.Join(recallDir, name+".jsonl"), &all)
	day := all[len(all)-1].Date
	for after := 0; after < size; {
		for _, other := range others {
			var more []line
			readJSONLines(t, filepath.Join(recallDir, other+".jsonl"), &more)
			day = day.Add(24 * time.Hour)
			for i, l := range more {
				l.Conv, l.Date = name, day.Add(time.Duration(i)*time.Minute)
				all, after = append(all, l), after+len(l.Text)
			}
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, l := range all {
		if err := enc.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), name+".jsonl")
	harness.WriteFile(t, file, out.Bytes())
	return file
}

// readQuestions reads the questions. It checks that the conversation contains the answer to each, written by the named
// author, and that the question does not contain its answer.
func (c *importedChat) readQuestions() {
	c.t.Helper()
	var said []struct{ Speaker, Text string }
	readJSONLines(c.t, filepath.Join(recallDir, c.name+".jsonl"), &said)
	readJSONLines(c.t, filepath.Join(recallDir, c.name+".questions.jsonl"), &c.questions)
	for _, q := range c.questions {
		for i, answer := range q.Answer {
			found := false
			for _, m := range said {
				found = found || strings.Contains(m.Text, answer) && (i > 0 || m.Speaker == string(q.By))
			}
			if !found || strings.Contains(q.Ask, answer) {
				c.t.Errorf("%s: %q has no answer %q from the %s", c.name, q.Ask, answer, q.By)
			}
		}
	}
}

func readJSONLines[T any](t *testing.T, path string, dst *[]T) {
	t.Helper()
	for line := range strings.Lines(string(harness.ReadFile(t, path))) {
		var value T
		if err := json.Unmarshal([]byte(line), &value); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		*dst = append(*dst, value)
	}
}

// score asks every question and requires that at least goal of them pass. It reports each failure with the results that
// the Memory tab ranks above the answer.
func (c *importedChat) score(label string, goal int, passes func(laterQuestion) bool) {
	c.t.Helper()
	var failed []string
	for _, q := range c.questions {
		if !passes(q) {
			failed = append(failed, fmt.Sprintf("  %s\n    answer: %s\n%s", q.Ask, clipLine(q.Answer[0]), c.rankedAbove(q)))
		}
	}
	n := len(c.questions)
	result := fmt.Sprintf("%s: %s: %d of %d, goal %d", c.name, label, n-len(failed), n, goal)
	if n-len(failed) < goal {
		c.t.Errorf("%s\n%s", result, strings.Join(failed, ""))
		return
	}
	c.t.Log(result)
}

// context assembles the next request as if the question were sent now. original reports whether the answer is in the
// history of the request, packed whether it is anywhere outside the question.
func (c *importedChat) context(q laterQuestion, ceiling int) (packed, original bool) {
	c.t.Helper()
	p, budget, err := c.app.Turns.Preview(context.Background(), c.branch, "m", chat.UserText(q.Ask))
	for range 20 { // retried, because on a busy machine a search may take longer than a turn waits
		if err != nil || !strings.HasPrefix(p.Manifest().Inputs.RetrievalError, "Memory did not answer within") {
			break
		}
		p, budget, err = c.app.Turns.Preview(context.Background(), c.branch, "m", chat.UserText(q.Ask))
	}
	if err != nil || budget.Ceiling > ceiling || p.Tokens() > ceiling {
		c.t.Fatalf("%d tokens under a ceiling of %d, want at most %d: %v", p.Tokens(), budget.Ceiling, ceiling, err)
	}
	if failure := p.Manifest().Inputs.RetrievalError; failure != "" {
		c.t.Fatal(failure)
	}
	for _, item := range p.Texts() {
		if item.Source == "message" || !q.answeredBy(item.Text) {
			continue
		}
		packed, original = true, original || item.Source == "turn"
	}
	return packed, original
}

// packsInContext requires that at least goal answers are in a context with this working set. At most originals of them
// may be there because their turn is still part of the history; the others prove that memory works.
func (c *importedChat) packsInContext(workingSet, goal, originals int) {
	c.t.Helper()
	if err := c.app.Config.Set("budget.working_set_tokens", strconv.Itoa(workingSet)); err != nil {
		c.t.Fatal(err)
	}
	inHistory := 0
	c.score(fmt.Sprintf("in the context of a working set of %d", workingSet), goal, func(q laterQuestion) bool {
		packed, original := c.context(q, workingSet)
		if original {
			inHistory++
		}
		return packed
	})
	c.t.Logf("%s: working set %d: %d answers are in the history", c.name, workingSet, inHistory)
	if inHistory > originals {
		c.t.Errorf("%s: %d answers are in the history of a working set of %d, want at most %d, so the test proves nothing about memory",
			c.name, inHistory, workingSet, originals)
	}
}

// packsByRetrieval requires that at least goal answers are among the passages that a search packs into maxTokens.
func (c *importedChat) packsByRetrieval(maxTokens, goal int) {
	c.t.Helper()
	c.score(fmt.Sprintf("packed by a search alone into %d tokens", maxTokens), goal, func(q laterQuestion) bool {
		found, err := c.Memory.Search(context.Background(), retrieval.Query{
			Text: q.Ask, Within: chat.Within{Scope: chat.ScopeSession, Session: c.session, Branch: c.branch}, MaxTokens: maxTokens,
			AllowWordsOnly: true, Count: func(s string) int { return counter{}.Count("", s) },
		})
		if err != nil || found.Tokens > maxTokens {
			c.t.Fatalf("%d tokens, %v", found.Tokens, err)
		}
		return slices.ContainsFunc(found.Artifacts, func(a retrieval.Artifact) bool { return q.answeredBy(a.Text) })
	})
}

// listed returns the results of the Memory tab for a question.
func (c *importedChat) listed(q laterQuestion) results {
	c.t.Helper()
	if r, ok := c.results[q.Ask]; ok {
		return r
	}
	found := must[api.MemorySearch](c.t)(c.memory.Search(api.MemoryFilter{
		Scope: string(chat.ScopeSession), SessionID: string(c.session), BranchID: string(c.branch), Limit: 30,
	}, q.Ask))
	r := results{hits: found.Hits, texts: make([]string, len(found.Hits))}
	for i, h := range found.Hits {
		r.texts[i] = must[api.ChunkDetail](c.t)(c.memory.Chunk(h.Chunk.ID)).Text
	}
	c.results[q.Ask] = r
	return r
}

// ranksFirst requires that at least goal answers are in the first two results of the Memory tab.
func (c *importedChat) ranksFirst(goal int) {
	c.t.Helper()
	c.score("first or second in the Memory tab", goal, func(q laterQuestion) bool {
		texts := c.listed(q).texts
		return slices.ContainsFunc(texts[:min(2, len(texts))], q.answeredBy)
	})
}

// rankedAbove describes the results that the Memory tab ranks above the answer.
func (c *importedChat) rankedAbove(q laterQuestion) string {
	const limit = 5
	r := c.listed(q)
	rank := slices.IndexFunc(r.texts, q.answeredBy)
	var b strings.Builder
	for i, h := range r.hits[:min(limit, len(r.hits))] {
		if i == rank {
			break
		}
		fmt.Fprintf(&b, "    %d. turn %d, %s: %s\n", i+1, h.Chunk.TurnSeq, h.Chunk.Role, clipLine(r.texts[i]))
	}
	if rank < 0 {
		return b.String() + "    the answer is not listed\n"
	}
	return b.String() + fmt.Sprintf("    the answer is at rank %d\n", rank+1)
}

// clipLine returns the beginning of a text as one line.
func clipLine(s string) string {
	runes := []rune(oneLine(s))
	return string(runes[:min(100, len(runes))])
}

// An engineer's conversation of 80 turns, with tables, commands and corrections, and questions in other words. The
// assistant's answers are recalled as well as the user's messages.
func TestRepliesAreRemembered(t *testing.T) {
	t.Parallel()
	c := importChat(t, "working")
	if c.turns != 80 || len(c.questions) != 30 {
		t.Fatalf("%d turns, %d questions", c.turns, len(c.questions))
	}
	c.packsInContext(8000, 28, 8)
	c.packsByRetrieval(6000, 28)
	c.packsByRetrieval(1500, 26)
	c.ranksFirst(26)
}

// The same conversation continues about other topics, until the history of a large working set contains few of the
// answers.
func TestRepliesAreRememberedInLargeContexts(t *testing.T) {
	t.Parallel()
	if !testtier.Exhaustive() {
		t.Skip("only in the exhaustive form")
	}
	c := importFile(t, "working", writeContinued(t, "working", 240_000, "household", "corrections", "pairs"))
	c.packsInContext(32000, 28, 8)
	c.packsInContext(50000, 28, 8)
	c.packsByRetrieval(6000, 28)
	c.ranksFirst(24) // words alone have 26: these questions use the words of their answers (docs/recall.md)
}

// A conversation about a household, in another style and partly in German.
func TestRepliesAreRememberedAtHome(t *testing.T) {
	t.Parallel()
	c := importChat(t, "household")
	if c.turns != 40 || len(c.questions) != 15 {
		t.Fatalf("%d turns, %d questions", c.turns, len(c.questions))
	}
	c.packsInContext(4000, 14, 5)
	c.packsInContext(8000, 14, 15)
	c.packsByRetrieval(1500, 13)
	c.ranksFirst(13)
}

// Each of twenty questions, which share only common words, finds its own answer.
func TestUniquePairsRankFirst(t *testing.T) {
	t.Parallel()
	c := importChat(t, "pairs")
	if c.turns != 20 || len(c.questions) != 20 {
		t.Fatalf("%d turns, %d questions", c.turns, len(c.questions))
	}
	c.ranksFirst(19)
}

// Plans for a bakery change, each time in other words. The new value is one of the first two results, above the old
// value, which often matches the question better.
func TestCorrectionsRankAboveWhatTheyCorrect(t *testing.T) {
	t.Parallel()
	c := importChat(t, "corrections")
	if c.turns != 22 || len(c.questions) != 9 {
		t.Fatalf("%d turns, %d questions", c.turns, len(c.questions))
	}
	c.packsByRetrieval(1500, 9)
	c.ranksFirst(8)
	c.score("above the value that it corrects", 5, func(q laterQuestion) bool {
		texts := c.listed(q).texts
		now, old := slices.IndexFunc(texts, q.answeredBy), slices.IndexFunc(texts, func(s string) bool { return strings.Contains(s, q.Stale) })
		return now >= 0 && (old < 0 || now < old)
	})
}

// found counts the questions whose answer is packed into so many tokens, and those of which it is the first or second hit,
// with this weight of vectors.
func (c *importedChat) found(weight float64, maxTokens int) (packed, first int) {
	c.t.Helper()
	deps := c.Memory.Deps
	deps.Settings = func() retrieval.Settings {
		settings := c.Memory.Settings()
		settings.VectorWeight, settings.KeywordWeight = weight, 1-weight
		return settings
	}
	engine := retrieval.New(deps)
	for _, q := range c.questions {
		found, err := engine.Search(c.t.Context(), retrieval.Query{
			Text: q.Ask, Within: chat.Within{Scope: chat.ScopeLineage, Session: c.session, Branch: c.branch}, MaxTokens: maxTokens,
		})
		if err != nil || found.Embedder == "" {
			c.t.Fatalf("%+v, %v", found.Warning, err)
		}
		if slices.ContainsFunc(found.Artifacts, func(a retrieval.Artifact) bool { return q.answeredBy(a.Text) }) {
			packed++
		}
		if hits := found.Hits[:min(2, len(found.Hits))]; slices.ContainsFunc(hits, func(h retrieval.Hit) bool { return q.answeredBy(h.Text) }) {
			first++
		}
	}
	return packed, first
}

// TestVectorsLoseNothing: conversations in German, in Chinese and about code, of which an English encoder knows little,
// are continued by one in English, of which it knows all. Their answers are found as well as by words alone.
func TestVectorsLoseNothing(t *testing.T) {
	t.Parallel()
	for _, name := range testtier.Sample([]string{"german", "chinese", "code"}, 1) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := importFile(t, name, writeContinued(t, name, 1, "working"))
			if len(c.questions) < 20 {
				t.Fatalf("%d questions", len(c.questions))
			}
			words, wordsFirst := c.found(0, 300)
			both, bothFirst := c.found(c.Memory.Settings().VectorWeight, 300)
			t.Logf("%d questions: packed %d, first or second %d; by words alone %d and %d", len(c.questions), both, bothFirst, words, wordsFirst)
			if both < words || bothFirst < wordsFirst || words < len(c.questions)-2 {
				t.Errorf("%d questions: packed %d, first or second %d; by words alone %d and %d",
					len(c.questions), both, bothFirst, words, wordsFirst)
			}
		})
	}
}
