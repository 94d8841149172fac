package app

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/retrieval"
	"contextinfinity/test/harness"
)

// countedVectors records the searches of a vector index.
type countedVectors struct {
	retrieval.Vectors
	mu      sync.Mutex
	queries []retrieval.VectorQuery
}

func (c *countedVectors) Search(ctx context.Context, q retrieval.VectorQuery) ([]chat.VectorHit, error) {
	c.mu.Lock()
	c.queries = append(c.queries, q)
	c.mu.Unlock()
	return c.Vectors.Search(ctx, q)
}

// once requires that the index was searched once since the last call, within one session or (empty) in all. One session
// is searched in chromem-go (vectorindex.TestASessionIsSearchedInChromem).
func (c *countedVectors) once(t *testing.T, what string, session chat.SessionID) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queries) != 1 || c.queries[0].Session != session {
		t.Errorf("%s: %d searches of the index, want one in session %q: %+v", what, len(c.queries), session, c.queries)
	}
	c.queries = nil
}

// Every search asks both halves once: in the Memory tab, in the command line and for a turn. Each of these says which
// half found a passage: with the encoder of the program, and with a model on a server whose cosines are all high.
func TestBothHalvesAreAskedOnceAndNamed(t *testing.T) {
	t.Parallel()
	const said, question = "Yesterday the feline dozed upon the windowsill.", "Was a cat asleep?"
	for name, embedder := range map[string]string{
		"encoder": "",
		"server": "[retrieval]\nembedder = \"openai\"\nembedding_model = \"crowded\"\nembedding_base_url = \"" +
			newPlantedServer(t).URL + "\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			relay := harness.NewRelay(t, harness.ChatWire, func(n int) llmtest.Step { return harness.Reply(harness.ChatWire, n) }, nil)
			d := newFixture(t, harness.ChatWire.Windowed("m", relay.URL, 4096)+"[librarian]\nmodel = \"\"\n"+embedder)
			session := d.sendIn("", said)
			for i := range 24 { // among few units, two that are near are not outstanding
				session = d.sendIn(session, chatter(i))
			}
			index := &countedVectors{Vectors: d.Memory.Vectors}
			d.Memory.Vectors = index
			memory := api.NewMemory(&api.Core{Set: &d.Set, Hub: api.NewHub()})

			for asked, byWords := range map[string]bool{question: false, "windowsill": true} {
				found := must[api.MemorySearch](t)(memory.Search(api.MemoryFilter{Scope: "session", SessionID: session}, asked))
				index.once(t, "Memory tab", chat.SessionID(session))
				if len(found.Hits) == 0 || !strings.Contains(found.Hits[0].Chunk.Excerpt, "feline") {
					t.Fatalf("%q finds %+v", asked, found.Hits)
				}
				m := found.Hits[0].Match
				if hasWords := len(m.Words) > 0; hasWords != byWords || !byWords && (m.Similarity == nil || *m.Similarity < 0.9) ||
					strings.HasPrefix(m.Reason.String(), "more similar than ") == byWords {
					t.Errorf("%q: %q, words %q, similarity %v", asked, m.Reason, m.Words, m.Similarity)
				}
				out := d.OK("search", asked, "--session", session).Stdout
				index.once(t, "command line", chat.SessionID(session))
				if strings.Contains(out, "matched: windowsill") != byWords || !byWords && !strings.Contains(out, "more similar than ") {
					t.Errorf("search %q does not say which half found it: %s", asked, out)
				}
			}
			d.search(question)
			index.once(t, "command line, everywhere", "")

			d.send(session, "Was some cat asleep near a radiator or on the carpet?", "--model", "m", "--wait", "finalized")
			index.once(t, "turn", chat.SessionID(session))
			// A short question is also read as the continuation of the message before it.
			sent := d.send(session, question, "--model", "m", "--wait", "finalized")
			recalled := retrievedItems(must[api.ContextView](t)(api.NewInspect(&api.Core{Set: &d.Set, Hub: api.NewHub()}).Context(sent.TurnID)))
			at := slices.IndexFunc(recalled, func(x api.ContextItem) bool { return strings.Contains(x.Text, "feline") })
			if at < 0 || !strings.HasPrefix(recalled[at].Memory.Match.Reason.String(), "more similar than ") {
				t.Errorf("the request does not say why it was recalled: %d of %d", at, len(recalled))
				if at >= 0 {
					t.Errorf("%q", recalled[at].Memory.Match.Reason)
				}
			}
		})
	}
}
