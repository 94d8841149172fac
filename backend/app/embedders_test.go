package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/embedding/encoder"
	"contextinfinity/backend/embedding/words"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/turn"
	"contextinfinity/backend/vectorindex"
	"contextinfinity/test/harness"
)

// embedderEnv is an environment with conversations, and the configured components that make, store and search vectors.
type embedderEnv struct {
	*env
	embedders *embedders
	manager   *embedding.Manager
	index     *vectorindex.Index
}

func newEmbedderEnv(t *testing.T, config string) *embedderEnv {
	t.Helper()
	e := &embedderEnv{env: openEnv(t, t.TempDir(), config, tuning{})}
	e.embedders = &embedders{config: e.Config.Config, keys: e.Keys, client: &http.Client{}, encoder: encoder.New(), words: words.New()}
	t.Cleanup(e.embedders.client.CloseIdleConnections)
	e.manager = embedding.NewManager(embedding.ManagerDeps{
		Store: e.Store, Target: e.embedders.Target, For: e.embedders.For, Redact: e.outbound.text,
	})
	e.index = vectorindex.New(vectorindex.Options{Source: e.Store})
	t.Cleanup(e.index.Close)
	return e
}

// say sends each text as a turn to recall, and indexes it.
func (e *embedderEnv) say(texts ...string) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	b := e.session("Things")
	for _, s := range texts {
		h, err := e.Turns.Send(ctx, turn.Message{Branch: b.ID, Content: chat.UserText(s), Model: "recall"})
		if err == nil {
			_, err = h.Wait(ctx)
		}
		if err == nil {
			_, err = e.Jobs.Drain(ctx)
		}
		if err != nil {
			e.t.Fatal(err)
		}
	}
}

// complete makes all vectors of the configured embedder and returns its namespace.
func (e *embedderEnv) complete() chat.Namespace {
	e.t.Helper()
	for more := true; more; {
		var err error
		if more, err = e.manager.Step(context.Background()); err != nil {
			e.t.Fatal(err)
		}
	}
	ns, ok, err := e.Store.Serving(context.Background())
	if err != nil || !ok || ns.Done != ns.Total || ns.Total == 0 {
		e.t.Fatalf("serving %+v, %v, %v", ns, ok, err)
	}
	return ns
}

// nearest returns the text of the best result of a search by vectors, and its similarity.
func (e *embedderEnv) nearest(ns chat.Namespace, question string) (text string, cosine float64) {
	e.t.Helper()
	ctx := context.Background()
	embedder, err := e.manager.For(ctx, ns)
	if err != nil {
		e.t.Fatal(err)
	}
	vectors, err := embedder.Embed(ctx, embedding.Query, []string{question})
	if err != nil {
		e.t.Fatal(err)
	}
	scope, err := e.Store.ScopeFilter(ctx, chat.Within{Scope: chat.ScopeAll})
	if err != nil {
		e.t.Fatal(err)
	}
	hits, err := e.index.Search(ctx, retrieval.VectorQuery{Namespace: ns, Vector: vectors[0], Scope: scope, Limit: 1})
	if err != nil || len(hits) != 1 {
		e.t.Fatalf("%d hits, %v", len(hits), err)
	}
	return e.unitText(ns, hits[0].N), hits[0].Cosine
}

// unitText returns the indexed text of a unit.
func (e *embedderEnv) unitText(ns chat.Namespace, n int64) string {
	e.t.Helper()
	units, err := e.Store.Units(context.Background(), chat.Within{Scope: chat.ScopeAll}, []int64{n})
	if err != nil || len(units) != 1 {
		e.t.Fatalf("%d units, %v", len(units), err)
	}
	chunks, err := e.Store.ChunkTexts(context.Background(), []chat.ChunkID{units[0].Chunk})
	if err != nil || len(chunks) != 1 {
		e.t.Fatalf("%d chunks, %v", len(chunks), err)
	}
	return chunks[0].Source[units[0].Start:units[0].End]
}

// TestWhatIsMeantIsTheFirstHit: a message that shares no word with the question is found first, with the embedded
// encoder, and not the reply to it.
func TestWhatIsMeantIsTheFirstHit(t *testing.T) {
	t.Parallel()
	e := newEmbedderEnv(t, "")
	said := []string{"My pup Rex chewed the sofa again.", "The invoices are due on Friday.", "Python lists grow as needed."}
	for i := range 12 {
		said = append(said, fmt.Sprintf("Row %d of the table needs another column for totals.", i))
	}
	e.say(said...)
	ns := e.complete()
	if got, _ := e.nearest(ns, "do I own a pet?"); got != said[0] {
		t.Errorf("%q is found first", got)
	}
	// A namespace that is filled afterwards, from the stored texts, has the same vectors.
	later, err := e.Store.OpenNamespace(t.Context(), chat.EmbedderID{Name: "none", Model: "m", Dimension: 3, Version: 1})
	if err != nil {
		t.Fatal(err)
	}
	units, err := e.Store.Unembedded(t.Context(), later.ID, 1000)
	if err != nil || !slices.ContainsFunc(units, func(u chat.UnitText) bool { return u.Said() == said[0] }) {
		t.Errorf("%d units, %v: none says %q", len(units), err, said[0])
	}
}

// A third-party server returns a distinct vector for each text, and each text is found by its own vector.
func TestVectorsOfAProvider(t *testing.T) {
	t.Parallel()
	e := newEmbedderEnv(t, "[retrieval]\nembedder = \"openai\"\nembedding_base_url = \""+harness.ProviderURL(t)+"/v1\"\n")
	texts := make([]string, 12)
	for i := range texts {
		texts[i] = fmt.Sprintf("Thing %d is kept on shelf %d.", i, 7*i)
	}
	e.say(texts...)
	ns := e.complete()
	if got := ns.Embedder.String(); got != "openai/text-embedding-3-small/1536/v1" {
		t.Errorf("embedder %s", got)
	}
	units, err := e.Store.Unembedded(t.Context(), ns.ID, 1)
	if err != nil || len(units) != 0 {
		t.Fatalf("%d units have no vector, %v", len(units), err)
	}
	// A namespace without vectors lists the texts that are embedded.
	other, err := e.Store.OpenNamespace(t.Context(), chat.EmbedderID{Name: "none", Model: "m", Dimension: 3, Version: 1})
	if err != nil {
		t.Fatal(err)
	}
	units, err = e.Store.Unembedded(t.Context(), other.ID, 1000)
	if err != nil || len(units) < len(texts) {
		t.Fatalf("%d units, %v", len(units), err)
	}
	for _, u := range units {
		if got, cosine := e.nearest(ns, u.Said()); cosine < 0.999 || !strings.HasSuffix(u.Text, got) {
			t.Errorf("%q finds %q at %.4f", u.Text, got, cosine)
		}
	}
}

// meanings are phrases that the planted server treats as equal in meaning: their vectors have the same direction,
// although they have no word in common.
var meanings = [][]string{
	{"feline dozed", "cat asleep"}, {"automobile broke down", "car repair"}, {"precipitation all week", "rainy days"},
}

// plantedVector returns a vector in the direction of a text's meaning, with a small component that depends on the text.
func plantedVector(text string, dimension int) []float32 {
	v := make([]float32, dimension)
	for i, c := range []byte(text) {
		v[10+(i*31+int(c))%(dimension-10)] += 0.02
	}
	for i, words := range meanings {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
			v[i] = 1
		}
	}
	return v
}

// plantedServer speaks OpenAI's or Ollama's protocol and records what it was sent.
type plantedServer struct {
	*httptest.Server
	mu     sync.Mutex
	inputs []string
}

func newPlantedServer(t *testing.T) *plantedServer {
	s := &plantedServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		s.inputs = append(s.inputs, in.Input...)
		s.mu.Unlock()
		type item struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var items []item
		var plain [][]float32
		for i, text := range in.Input {
			v := plantedVector(text, 40)
			if in.Model == "crowded" {
				v[9] = 2 // what all its texts have in common: every cosine is high
			}
			items, plain = append(items, item{i, v}), append(plain, v)
		}
		if strings.HasSuffix(r.URL.Path, "/api/embed") {
			_ = json.NewEncoder(w).Encode(map[string]any{"model": "m", "embeddings": plain})
			return
		}
		slices.Reverse(items) // clients must sort them by index
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": items})
	}))
	t.Cleanup(s.Close)
	return s
}

// newBreakableServer serves planted vectors until it is broken; then it rejects each call.
func newBreakableServer(t *testing.T) (*httptest.Server, *atomic.Bool) {
	broken := new(atomic.Bool)
	planted := newPlantedServer(t)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			http.Error(w, `{"error":{"message":"no model is loaded"}}`, http.StatusBadRequest)
			return
		}
		planted.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy, broken
}

func (s *plantedServer) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.inputs)
}

// Without a shared word, a text is found by its vector, with either protocol and the real store, manager and index.
func TestMeaningWithoutWords(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"openai", "ollama"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newPlantedServer(t)
			e := newEmbedderEnv(t, fmt.Sprintf("[retrieval]\nembedder = %q\nembedding_model = \"planted\"\nembedding_base_url = %q\n", kind, s.URL))
			e.say("Yesterday the feline dozed upon the windowsill.", "My automobile broke down near Ulm.", "We had precipitation all week.",
				"The shelf is green.", "My password is AKIAIOSFODNN7EXAMPLE, keep it.")
			ns := e.complete()
			if want := kind + "/planted/40/v1"; ns.Embedder.String() != want {
				t.Errorf("embedder %s, want %s: the dimension is the server's", ns.Embedder, want)
			}
			for question, want := range map[string]string{
				"Was a cat asleep?": "feline", "Who does car repair?": "automobile", "Were there rainy days?": "precipitation",
			} {
				if got, cosine := e.nearest(ns, question); !strings.Contains(got, want) || math.IsNaN(cosine) {
					t.Errorf("%q finds %q at %.3f, want the passage with %q", question, got, cosine, want)
				}
			}
			for _, text := range s.sent() {
				if strings.Contains(text, "AKIAIOSFODNN7EXAMPLE") {
					t.Errorf("a secret left for the embedder: %q", text)
				}
			}
		})
	}
}

// After the embedder was changed, all texts are indexed again: the old vectors are searched until the new ones are
// complete. With the local embedder nothing is sent to a server.
func TestEmbedderIsChanged(t *testing.T) {
	t.Parallel()
	s := newPlantedServer(t)
	e := newEmbedderEnv(t, "[retrieval]\nembedder = \"ollama\"\nembedding_model = \"planted\"\nembedding_base_url = \""+s.URL+"\"\n")
	e.say("Yesterday the feline dozed upon the windowsill.", "The shelf is green.")
	old := e.complete()
	sent := len(s.sent())
	if sent == 0 {
		t.Fatal("nothing was sent to the configured server")
	}
	if err := e.Config.Set("retrieval.embedder", "local"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.manager.For(t.Context(), old); chat.CodeOf(err) != chat.CodeConfig {
		t.Errorf("the former server would still be asked: %v", err)
	}
	ns := e.complete()
	if ns.Embedder.Name != "local" {
		t.Errorf("serving %s", ns.Embedder)
	}
	if got, _ := e.nearest(ns, "which shelf was green"); !strings.Contains(got, "shelf") {
		t.Errorf("found %q", got)
	}
	if n := len(s.sent()); n != sent {
		t.Errorf("%d texts went to a server that is not configured any more", n-sent)
	}
	all, err := e.manager.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range all {
		if other.ID != ns.ID && (other.State != chat.NamespaceRetired || other.Done != 0) {
			t.Errorf("%s is %s with %d vectors", other.Embedder, other.State, other.Done)
		}
	}
}

// Recall does not wait for an embedding server that does not answer: it still answers from what is indexed, and a
// stop or close ends the request to the server at once.
func TestRecallDoesNotWaitForASilentServer(t *testing.T) {
	requested, waiting := make(chan struct{}, 64), atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the end of the connection is not noticed
		waiting.Add(1)
		defer waiting.Add(-1)
		requested <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	e := newEmbedderEnv(t, "[retrieval]\nembedder = \"ollama\"\nembedding_model = \"planted\"\nembedding_base_url = \""+s.URL+"\"\n")
	before := indexTimeout
	t.Cleanup(func() { indexTimeout = before })
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	b := e.session("Things")
	ask := func(words string) *turn.Handle {
		t.Helper()
		h, err := e.Turns.Send(ctx, turn.Message{Branch: b.ID, Content: chat.UserText(words), Model: "recall"})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	indexTimeout = 0
	if got, err := ask("The shelf is green.").Wait(ctx); err != nil || got.Phase != chat.PhaseResponseFinalized {
		t.Fatalf("%s, %v", got.Phase, err)
	}
	got, err := ask("What is green?").Wait(ctx)
	if err != nil || got.Phase != chat.PhaseResponseFinalized {
		t.Fatalf("%s, %v", got.Phase, err)
	}
	<-requested // the first turn is being indexed, and the server does not answer
	indexTimeout = time.Hour
	h := ask("And what is blue?")
	if _, err := e.Turns.Stop(ctx, h.Turn.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if waiting.Load() == 0 {
		t.Error("the answers waited for the server")
	}
}
