package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/store"
	"contextinfinity/backend/turn"
	"contextinfinity/test/testtier"
)

// fakeMemory returns the given chunks and records the queries.
type fakeMemory struct {
	store *store.Store

	mu       sync.Mutex
	results  []chat.ChunkID
	err      error
	hangs    bool
	queries  []retrieval.Query
	attached [][]chat.ChunkID
	brief    bool // passages are packed as their summaries
}

func (m *fakeMemory) Search(ctx context.Context, q retrieval.Query) (retrieval.Result, error) {
	m.mu.Lock()
	m.queries = append(m.queries, q)
	results, err, hangs := m.results, m.err, m.hangs
	m.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return retrieval.Result{}, ctx.Err()
	}
	if err != nil {
		return retrieval.Result{}, err
	}
	out, err := m.artifacts(ctx, results, q.Count)
	return retrieval.Result{Artifacts: out, Candidates: 40, Timing: retrieval.Timing{Embed: 3}}, err
}

func (m *fakeMemory) Attached(ctx context.Context, ids []chat.ChunkID, _ int, count func(string) int) ([]retrieval.Artifact, error) {
	m.mu.Lock()
	m.attached = append(m.attached, ids)
	m.mu.Unlock()
	return m.artifacts(ctx, ids, count)
}

func (m *fakeMemory) artifacts(ctx context.Context, ids []chat.ChunkID, count func(string) int) ([]retrieval.Artifact, error) {
	texts, err := m.store.ChunkTexts(ctx, ids)
	var out []retrieval.Artifact
	for i, c := range texts {
		a := retrieval.Artifact{Hit: retrieval.Hit{ChunkText: c, Rank: i + 1, Score: 1 / float64(i+1), Similarity: 0.9 - 0.2*float64(i), Measured: 0.9 - 0.2*float64(i), Keyword: 0.7}}
		a.Form, a.Slices = chat.PackedSlice, []chat.Span{{Start: c.Start, End: min(c.End, c.Start+30)}}
		if m.brief {
			a.Form, a.Slices = chat.PackedSummary, nil
		}
		a.Text = retrieval.Render(c, a.Form, a.Slices)
		a.Tokens = prompt.ArtifactCost(a.Text, count)
		out = append(out, a)
	}
	return out, err
}

func (m *fakeMemory) questions() []retrieval.Query {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]retrieval.Query{}, m.queries...)
}

// shortWindow is too small for the conversation of withMemory.
const shortWindow = 3150

// withMemory is an environment with a conversation whose beginning is no longer in the prompt, and a memory that finds
// the words of the first two turns.
func withMemory(t testing.TB) *env {
	t.Helper()
	memory := &fakeMemory{}
	w := &env{t: t, dir: testtier.Memory(t), provider: &scripted{}, published: &recorder{}, window: shortWindow, retrieve: 600, memory: memory}
	w.settings = turn.Settings{
		IdleTimeout: time.Minute, FrameEvery: time.Millisecond, Policy: prompt.DefaultPolicy(), ToolsMode: llm.ToolsDisabled,
		Backoff: func(int) time.Duration { return time.Millisecond },
	}
	w.open()
	var err error
	if w.session, w.branch, err = w.store.CreateSession(t.Context(), chat.NewSession{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	for i := range 7 {
		w.provider.script(call{events: []string{text(fmt.Sprintf("The key %d hangs behind the clock. ", i) + strings.Repeat("answer ", 300)), done}})
		w.send(fmt.Sprintf("Where is the <key> number%d? ", i) + strings.Repeat("word ", 60))
		if _, err := w.jobs.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	memory.results = append(w.chunksOf("number1"), w.chunksOf("number2")...)
	if len(memory.results) < 2 {
		t.Fatalf("the first turns have %d chunks", len(memory.results))
	}
	memory.queries = nil
	return w
}

// chunksOf returns the chunks that contain a word.
func (w *env) chunksOf(word string) []chat.ChunkID {
	w.t.Helper()
	in := chat.Within{Scope: chat.ScopeLineage, Branch: w.branch.ID, Role: chat.RoleUser}
	found, err := w.store.SearchUnits(w.t.Context(), []string{word}, in, 1)
	if err != nil || len(found) == 0 {
		w.t.Fatalf("%q is not found: %v", word, err)
	}
	units, err := w.store.Units(w.t.Context(), in, []int64{found[0].N})
	if err != nil || len(units) != 1 {
		w.t.Fatalf("%v %v", units, err)
	}
	return []chat.ChunkID{units[0].Chunk}
}

func (w *env) manifest(id chat.TurnID) prompt.Manifest {
	w.t.Helper()
	raw, err := w.store.Manifest(w.t.Context(), id)
	var m prompt.Manifest
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// The passages that memory finds are in the memory block of the last message, are recorded with their scores, and are
// rebuilt byte for byte.
func TestMemoryIsInTheContext(t *testing.T) {
	w := withMemory(t)
	got := w.send("Tell me about both keys and the clock.")
	w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
	q := w.memory.questions()
	m := w.manifest(got.ID)
	if len(q) != 1 || q[0].Within.Scope != chat.ScopeLineage || q[0].Within.Branch != w.branch.ID || q[0].Within.Before != m.History.Cut+1 || m.History.Cut == 0 {
		t.Fatalf("asked %+v, cut %d", q, m.History.Cut)
	}
	packed := 0
	for _, p := range m.Chunks() {
		packed += p.Tokens
	}
	if free := m.Budget.Ceiling - m.TotalTokens + packed; q[0].MaxTokens > free || q[0].MaxTokens < min(600, free)-prompt.MemoryCost(words{}.count)-6 {
		t.Errorf("%d tokens may be packed, %d are free", q[0].MaxTokens, free)
	}
	sent := w.provider.requests()
	body := sent[len(sent)-1]
	for _, want := range []string{"[Selected passages, oldest first]\\n[", "<m>#2 ", "<m>#3 ", "Where is the &lt;key> number1?", "Where is the &lt;key> number2?"} {
		if !strings.Contains(body, want) {
			t.Errorf("the request lacks %q", want)
		}
	}
	packedParts := m.Chunks()
	if len(packedParts) != 2 || packedParts[0].Form != chat.PackedSlice || packedParts[0].Similarity != 0.9 || packedParts[0].Tokens == 0 {
		t.Fatalf("%+v", packedParts)
	}
	for i, p := range packedParts {
		uses, err := w.store.ChunkUses(t.Context(), chat.ChunkID(p.ID))
		if err != nil || len(uses) != 1 || uses[0].Turn != got.ID || uses[0].Rank != i+1 || uses[0].Packed != p.Form {
			t.Errorf("%s: %+v %v", p.ID, uses, err)
		}
	}
	rows, err := w.store.Metrics(t.Context(), w.branch.ID, 50)
	if err != nil {
		t.Fatal(err)
	}
	x := metricsOf(rows, got.ID)
	if x.Candidates != 40 || x.Selected != 2 || x.PackedTokens != packedParts[0].Tokens+packedParts[1].Tokens || x.SimilarityMin != 0.7 || x.SimilarityMax != 0.9 || x.RetrievalFailed {
		t.Errorf("metrics %+v", x)
	}
	w.clean()
}

// A passage's summary by the librarian takes the place of the one made by rule in later contexts. Contexts from before are
// rebuilt with the summary that they contained.
func TestASummaryByTheLibrarianChangesNoEarlierContext(t *testing.T) {
	w := withMemory(t)
	w.memory.brief = true
	describe := func(i int) {
		t.Helper()
		n := chat.ChunkSummary{Chunk: w.memory.results[i], Text: fmt.Sprintf("Written about key %d.", i), GeneratedBy: "m"}
		if err := w.store.PutChunkSummary(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	written := func(id chat.TurnID) (out []bool) {
		t.Helper()
		parts := w.manifest(id).Chunks()
		slices.SortFunc(parts, func(a, b prompt.Part) int { return a.Rank - b.Rank })
		for _, p := range parts {
			if p.Form != chat.PackedSummary {
				t.Errorf("packed as %s", p.Form)
			}
			out = append(out, p.Librarian)
		}
		return out
	}
	describe(0)
	before := w.send("Tell me about both keys and the clock.")
	describe(1)
	after := w.send("Tell me about both keys again.")
	if got := [][]bool{written(before.ID), written(after.ID)}; !reflect.DeepEqual(got, [][]bool{{true, false}, {true, true}}) {
		t.Fatalf("the librarian wrote %v of the summaries", got)
	}
	sent := w.provider.requests()
	first, second := sent[len(sent)-2], sent[len(sent)-1]
	if !strings.Contains(first, "Written about key 0.") || strings.Contains(first, "Written about key 1.") ||
		!strings.Contains(second, "Written about key 1.") {
		t.Errorf("sent:\n%s\n%s", first, second)
	}
	w.clean()
}

func metricsOf(rows []chat.TurnMetricsRow, id chat.TurnID) chat.TurnMetrics {
	for _, r := range rows {
		if r.TurnID == id {
			return r.Metrics
		}
	}
	return chat.TurnMetrics{}
}

// Memory is searched once: another attempt and a continuation use the same result. After a size refusal it is selected
// again for the smaller room, and the X-ray lists the steps of every attempt (SRD 7.2, 7.3).
func TestMemoryIsChosenOnce(t *testing.T) {
	unavailable := &llm.Error{Code: chat.CodeUnavailable, Status: 503, Message: "busy", Retry: true}
	tooLarge := &llm.Error{Code: chat.CodeTooLarge, Status: 400, Message: "prompt is too long"}
	for name, c := range map[string]struct {
		calls    []call
		searches int
	}{
		"another attempt":   {[]call{{err: unavailable}, {err: unavailable}}, 1},
		"a smaller context": {[]call{{err: tooLarge}, {err: tooLarge}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := withMemory(t)
			p := &w.settings.Policy
			p.PreserveRecent, p.CompactAt, p.CompactTo = 2, 0.95, 0.9 // there is history that can be shortened
			w.window = shortWindow + 100
			w.provider.script(c.calls...)
			got := w.send("Tell me about both keys and the clock.")
			w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
			asked := w.memory.questions()
			if len(asked) != c.searches {
				t.Errorf("memory was searched %d times", len(asked))
			}
			m := w.manifest(got.ID)
			refusals := 0
			for _, step := range m.Shrink {
				if strings.HasPrefix(step, "the provider refused this request of ") {
					refusals++
				}
			}
			if refusals != c.searches-1 || refusals > 0 && asked[0].MaxTokens == asked[1].MaxTokens && m.Shrink[0] == m.Shrink[len(m.Shrink)-1] {
				t.Errorf("after %d refusals for size: %q", c.searches-1, m.Shrink)
			}
			if c.searches > 1 && strings.HasPrefix(m.Shrink[len(m.Shrink)-1], "the provider") {
				t.Errorf("the steps of the last attempt are missing: %q", m.Shrink)
			}
			w.clean()
		})
	}
	t.Run("a continuation", func(t *testing.T) {
		w := withMemory(t)
		w.provider.script(call{events: []string{text("half")}, err: unavailable})
		got := w.send("Tell me about both keys and the clock.")
		w.is(got, chat.PhaseResponding, chat.OutcomeIncomplete, "half")
		before := w.manifest(got.ID).Chunks()
		w.memory.results = nil // a second search would find nothing
		h, err := w.engine.Continue(t.Context(), got.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		got = w.wait(h)
		w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "halfok")
		if after := w.manifest(got.ID).Chunks(); len(w.memory.questions()) != 1 || len(before) != 2 || !reflect.DeepEqual(before, after) {
			t.Errorf("searched %d times; before %+v, after %+v", len(w.memory.questions()), before, after)
		}
		w.clean()
	})
}

// If memory fails, the turn is still answered, and its manifest contains the reason (SRD 8.3).
func TestMemoryFailureStopsNoTurn(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		hangs bool
		want  string
	}{
		"a coded error": {err: chat.Errorf(chat.CodeUnavailable, "embedding.ask", "The embedder does not answer."), want: "The embedder does not answer."},
		"any error":     {err: errors.New("boom at 0x7f"), want: "Memory could not be searched."},
		"no answer":     {hangs: true, want: "Memory did not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := withMemory(t)
			w.memory.err, w.memory.hangs = c.err, c.hangs
			if c.hangs {
				w.settings.RecallTimeout = time.Millisecond
			}
			got := w.send("Tell me about both keys and the clock.")
			w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
			m := w.manifest(got.ID)
			if !strings.HasPrefix(m.Inputs.RetrievalError, c.want) || len(m.Chunks()) != 0 {
				t.Errorf("the manifest says %q, with %d chunks", m.Inputs.RetrievalError, len(m.Chunks()))
			}
			rows, err := w.store.Metrics(t.Context(), w.branch.ID, 50)
			if err != nil || !metricsOf(rows, got.ID).RetrievalFailed {
				t.Errorf("metrics %+v %v", metricsOf(rows, got.ID), err)
			}
			w.clean()
		})
	}
}

// Memory is not searched if the result could not be used.
func TestMemoryIsNotSearched(t *testing.T) {
	w := withMemory(t)
	for name, c := range map[string]struct {
		change  func()
		message string
	}{
		"plain chat":        {func() { w.settings.Policy.History = prompt.HistoryOff; w.window = 60000 }, "The keys and the clock?"},
		"no budget":         {func() { w.retrieve = 0 }, "The keys and the clock?"},
		"all in the prompt": {func() { w.window = 60000 }, "The keys and the clock?"},
		"no words":          {func() {}, "?!"},
	} {
		w.settings.Policy, w.window, w.retrieve = prompt.DefaultPolicy(), shortWindow, 600
		c.change()
		if got := w.send(c.message); got.Phase != chat.PhaseResponseFinalized {
			t.Fatalf("%s: %+v", name, got.Failure)
		}
		if n := len(w.memory.questions()); n != 0 {
			t.Errorf("%s: memory was searched", name)
		}
	}
	w.settings.Policy, w.window, w.retrieve, w.settings.EmbedsRemotely = prompt.DefaultPolicy(), shortWindow, 600, true
	if _, _, err := w.engine.Preview(t.Context(), w.branch.ID, "", chat.UserText("The keys and the clock?")); err != nil || len(w.memory.questions()) != 0 {
		t.Errorf("a preview asked a server: %v", err)
	}
	w.settings.EmbedsRemotely = false
	p, _, err := w.engine.Preview(t.Context(), w.branch.ID, "", chat.UserText("The keys and the clock?"))
	if err != nil || len(p.Manifest().Chunks()) != 2 {
		t.Errorf("a preview shows %d memories: %v", len(p.Manifest().Chunks()), err)
	}
}

// Memory that the user attached is ranked first, marked, and in chronological order; it does not become part of the
// conversation.
func TestAttachedMemory(t *testing.T) {
	w := withMemory(t)
	attached := w.chunksOf("number3")[0]
	w.memory.results = append(w.memory.results, attached) // also found by the search; it must not appear twice
	message := chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{chat.Text{Text: "What of this and both keys?"}, chat.Memory{Chunk: attached}}}
	h, err := w.engine.Send(t.Context(), turn.Message{Branch: w.branch.ID, Content: message})
	if err != nil {
		t.Fatal(err)
	}
	got := w.wait(h)
	chunks := w.manifest(got.ID).Chunks()
	if len(chunks) != 3 || chunks[2].ID != string(attached) || !chunks[2].Attached || chunks[2].Rank != 1 || chunks[1].Attached || chunks[0].Rank != 2 {
		t.Fatalf("%+v", chunks)
	}
	w.memory.results = nil
	w.send("And now, of all of this, what?")
	sent := w.provider.requests()
	if strings.Contains(sent[len(sent)-1], string(attached)) || strings.Contains(sent[len(sent)-1], `"memory"`) {
		t.Error("the attached memory is in the conversation that follows")
	}
	w.clean()
	if _, err := w.engine.Send(t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{chat.Memory{Chunk: attached}}}}); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("a message with only a memory: %v", err)
	}
}

// In plain chat nothing is retrieved automatically, but attached memory is sent.
func TestAttachedMemoryInPlainChat(t *testing.T) {
	w := withMemory(t)
	attached := w.chunksOf("number3")[0]
	w.settings.Policy.History, w.window = prompt.HistoryOff, 60000
	message := chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{chat.Text{Text: "What of this and both keys?"}, chat.Memory{Chunk: attached}}}
	p, _, err := w.engine.Preview(t.Context(), w.branch.ID, "", message)
	if err != nil {
		t.Fatal(err)
	}
	h, err := w.engine.Send(t.Context(), turn.Message{Branch: w.branch.ID, Content: message})
	if err != nil {
		t.Fatal(err)
	}
	m := w.manifest(w.wait(h).ID)
	if chunks := m.Chunks(); len(chunks) != 1 || chunks[0].ID != string(attached) || !chunks[0].Attached || len(w.memory.questions()) != 0 {
		t.Fatalf("%d questions, %+v", len(w.memory.questions()), chunks)
	}
	if p.Manifest().SHA256 != m.SHA256 {
		t.Error("the preview differs from what was sent")
	}
	w.clean()
}

// A question that names nothing is searched alone and with the one before it; of a long one, the beginning and end are
// used.
func TestMemoryQueries(t *testing.T) {
	w := withMemory(t)
	w.send("How tall is the lighthouse of Alexandria?")
	w.send("And the second one?")
	long := "lighthouse " + strings.Repeat("x ", 2000) + strings.Repeat("漢", 3000) + " Alexandria"
	w.window = 60000 // the message itself must fit; the cut moves back
	w.settings.Scope = chat.ScopeAll
	w.send(long)
	q := w.memory.questions()
	if len(q) != 3 || !strings.Contains(q[1].Previous, "Alexandria") || q[1].Text != "And the second one?" || q[0].Previous+q[2].Previous != "" || strings.Contains(q[0].Text, "number") {
		t.Fatalf("asked %d times: %q", len(q), q[1].Text)
	}
	if s := q[2].Text; len(s) > 9000 || !strings.HasPrefix(s, "lighthouse") || !strings.HasSuffix(s, "Alexandria") || strings.ContainsRune(s, '\uFFFD') || q[2].Within.Session != w.session.ID {
		t.Errorf("%d bytes are requested", len(s))
	}
}
