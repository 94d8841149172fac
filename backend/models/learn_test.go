package models_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/chatcompletions"
	"contextinfinity/backend/models"
)

// memoryStore is a models.Memory.
type memoryStore struct{ raw []byte }

func (k *memoryStore) Load() []byte    { return k.raw }
func (k *memoryStore) Save(raw []byte) { k.raw = raw }

// catalogAt returns a catalog with one model at a server, and its own clock.
func catalogAt(t *testing.T, url, more string, now *time.Time, memory models.Memory) *models.Catalog {
	t.Helper()
	cfg := settings(t, fmt.Sprintf("[models.own]\nprovider = \"chatcompletions\"\nmodel_id = \"m\"\nbase_url = %q\n%s", url+"/v1", more))
	client := models.NewHTTPClient(func() string { return "" })
	t.Cleanup(client.CloseIdleConnections)
	c := models.New(models.Deps{
		Config: cfg.Config, Keys: keys{}, Limits: limits, Now: func() time.Time { return *now },
		Providers: []llm.Provider{chatcompletions.New(client)}, Local: []models.LocalAddress{},
	})
	if memory != nil {
		c.Remember(memory)
	}
	return c
}

// startServer starts a server with changing responses that counts its requests.
func startServer(t *testing.T, answer func(path string) string) (url string, requests *atomic.Int64) {
	t.Helper()
	requests = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		body := answer(r.URL.Path)
		if body == "" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

func window(t *testing.T, c *models.Catalog) (int, string) {
	t.Helper()
	m, err := c.Resolve(context.Background(), "own")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range c.List() {
		if in.Name == "own" {
			return m.Limits.ContextLimit, in.Source
		}
	}
	return 0, ""
}

// TestTheWindowComesFromTheServer: the context window is requested from the server, again when it may have changed, and
// is shown as unknown if the server does not report it.
func TestTheWindowComesFromTheServer(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	size := 32768
	url, requests := startServer(t, func(path string) string {
		return fmt.Sprintf(`{"data":[{"id":"m","owned_by":"vllm","max_model_len":%d}]}`, size)
	})
	c := catalogAt(t, url, "", &now, nil)
	if got, source := window(t, c); got != 32768 || source != models.SourceServer {
		t.Fatalf("%d from %q", got, source)
	}
	size = 16384
	if got, _ := window(t, c); got != 32768 || requests.Load() != 1 {
		t.Fatalf("%d after %d requests", got, requests.Load())
	}
	now = now.Add(time.Minute)
	if got, _ := window(t, c); got != 16384 {
		t.Fatalf("the window of a restarted server is %d", got)
	}
	if got, source := window(t, catalogAt(t, url, "context_limit = 5000\n", &now, nil)); got != 5000 || source != "configured" {
		t.Fatalf("%d from %q", got, source)
	}
	silent, requests := startServer(t, func(string) string { return `{"data":[{"id":"m"}]}` })
	for range 3 {
		if got, source := window(t, catalogAt(t, silent, "", &now, nil)); got != 8192 || source != models.SourceUnknown {
			t.Fatalf("%d from %q", got, source)
		}
	}
	down := catalogAt(t, "http://127.0.0.1:1", "", &now, nil)
	for range 3 {
		if got, source := window(t, down); got != 8192 || source != models.SourceUnknown {
			t.Fatalf("%d from %q", got, source)
		}
	}
	if requests.Load() != 3 {
		t.Fatalf("%d requests", requests.Load())
	}
}

// TestUnloadedModelKeepsItsWindow: Ollama unloads a model after minutes and then reports only its default. The window
// of the loaded model counts, in the program's next run too.
func TestUnloadedModelKeepsItsWindow(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	ps := `{"models":[{"name":"m","context_length":32768}]}`
	url, _ := startServer(t, func(path string) string {
		switch path {
		case "/v1/models":
			return `{"data":[{"id":"m","owned_by":"library"}]}`
		case "/api/show":
			return `{"capabilities":["completion","vision"],"model_info":{"llama.context_length":131072}}`
		case "/api/ps":
			return ps
		}
		return ""
	})
	memory := &memoryStore{}
	if got, _ := window(t, catalogAt(t, url, "", &now, memory)); got != 32768 {
		t.Fatal(got)
	}
	ps, now = `{"models":[]}`, now.Add(time.Hour)
	c := catalogAt(t, url, "", &now, memory)
	if got, _ := window(t, c); got != 32768 {
		t.Fatal(got)
	}
	if in := c.List()[0]; in.Abilities.Images != llm.AbilityYes || in.Abilities.Tools != llm.AbilityNo {
		t.Fatalf("%+v", in.Abilities)
	}
	for setting, want := range map[string]bool{"": true, "tools = \"yes\"\n": false} {
		c := catalogAt(t, url, setting, &now, memory)
		if m, err := c.Resolve(t.Context(), c.List()[0].Name); err != nil || m.NoTools != want {
			t.Errorf("%q: no tools %v, %v", setting, m.NoTools, err)
		}
	}
	if in := catalogAt(t, url, "images = \"no\"\n", &now, memory).List()[0]; in.Abilities.Images != llm.AbilityNo {
		t.Fatalf("%+v", in.Abilities)
	}
	memory.raw = []byte(`["not", "ours"]`)
	if got, _ := window(t, catalogAt(t, url, "", &now, memory)); got != 4096 {
		t.Fatal(got)
	}
}

func TestOffers(t *testing.T) {
	now := time.Now()
	url, _ := startServer(t, func(string) string {
		return `{"data":[{"id":"zeta","max_model_len":1000},{"id":"m","max_model_len":2000},{"id":"nomic-embed-text"},{"id":"v","type":"embeddings"}]}`
	})
	c := catalogAt(t, url, "", &now, nil)
	host := strings.TrimPrefix(url, "http://")
	got, err := c.Offers(context.Background(), host)
	if err != nil || len(got) != 2 || got[0].ID != "m" || got[0].Configured != "own" || got[1].ID != "zeta" || got[1].Configured != "" || got[1].Window != 1000 || got[1].Priced {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := c.Offers(context.Background(), "nowhere"); chat.CodeOf(err) != chat.CodeNotFound {
		t.Fatal(err)
	}
	if _, err := c.Offers(context.Background(), "azure"); chat.CodeOf(err) != chat.CodeInvalid {
		t.Fatal(err)
	}
}

func TestPrices(t *testing.T) {
	c := catalog(t, `[models.mine]
provider = "openai"
model_id = "gpt-5.2"
price_input = 10.0
price_output = 20.0
[models.input]
provider = "openai"
model_id = "gpt-5.2"
price_input = 10.0
[models.output]
provider = "openai"
model_id = "gpt-5.2"
price_output = 20.0
[models.listed]
provider = "openai"
model_id = "gpt-5.4-mini-2026-03-05"
[models.later]
provider = "openai"
model_id = "gpt-5.9"
[models.half]
provider = "openai"
model_id = "gpt-5.9"
price_input = 10.0
[models.routed]
provider = "chatcompletions"
model_id = "gpt-5.2"
base_url = "http://127.0.0.1:1/v1"
[models.deep]
provider = "chatcompletions"
model_id = "deepseek-v4-pro"
base_url = "https://api.deepseek.com/v1"
`, keys{"openai": "k"})
	u := chat.Usage{InputTokens: 1_000_000, CachedInputTokens: 500_000, OutputTokens: 100_000}
	for name, want := range map[string]float64{
		"mine": 12, "input": 5 + 0.0875 + 1.4, "output": 0.875 + 0.0875 + 2, "half": -1, "listed": 0.375 + 0.0375 + 0.45, "later": -1, "routed": -1, "deep": 0.87 + 0.0725 + 0.348, "recall": -1,
	} {
		cost, ok := c.Cost(name, u)
		got := cost.USD
		if ok != (want >= 0) || ok && (got-want > 1e-9 || want-got > 1e-9) {
			t.Errorf("%s: %v %v, want %v", name, got, ok, want)
		}
	}
	for _, in := range c.List() {
		listed := in.Name == "listed" || in.Name == "input" || in.Name == "output" // at least in part
		if in.Name == "mine" && in.Price.Estimate() || listed && (!in.Price.Estimate() || !strings.HasPrefix(in.Price.Source, "list 20")) {
			t.Errorf("%+v", in.Price)
		}
	}
	if _, ok := catalog(t, "[cost]\nestimate = false\n[models.listed]\nprovider = \"openai\"\nmodel_id = \"gpt-5.2\"\n", keys{"openai": "k"}).Cost("listed", u); ok {
		t.Error("an estimate although it is switched off")
	}
}

// TestPresets: every preset can be found by name and has a valid address and protocol, and its keys are recognized by
// their format.
func TestPresets(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range models.Presets() {
		if seen[p.ID] || p.Name == "" || p.Host() == "" || p.Protocol == "" || p.Local != (p.Env == "") || p.Local == strings.HasPrefix(p.BaseURL, "https://") {
			t.Errorf("%+v", p)
		}
		seen[p.ID] = true
		for _, prefix := range p.KeyPrefixes {
			for _, other := range []string{"openai", "anthropic", "api.mistral.ai"} {
				if models.Misplaced(other, prefix+"abc").IsZero() {
					t.Errorf("a key of %s may go to %s", p.Name, other)
				}
			}
			if why := models.Misplaced(p.Host(), prefix+"abc"); !why.IsZero() {
				t.Errorf("%s: %s", p.Name, why)
			}
			if why := models.Misplaced("gateway.example", prefix+"abc"); !why.IsZero() {
				t.Errorf("the user's own server: %s", why)
			}
		}
	}
	for _, id := range strings.Fields("openrouter groq mistral gemini deepseek xai azure together ollama lmstudio llamacpp vllm") {
		if !seen[id] {
			t.Errorf("%s is missing", id)
		}
	}
	if models.Misplaced("openai", "sk-ant-x").IsZero() || !models.Misplaced("openai", "sk-plain").IsZero() || !models.Misplaced("anthropic", "").IsZero() {
		t.Error("the vendors' own keys")
	}
}

// TestKeyOfAnotherProviderIsNotSent: a key whose format belongs to another provider is not sent, even if the user named
// the provider.
func TestKeyOfAnotherProviderIsNotSent(t *testing.T) {
	c := catalog(t, "", keys{})
	for _, provider := range []string{"openai", "groq", "api.mistral.ai"} {
		if r := c.Test(context.Background(), provider, "sk-ant-0123456789", ""); r.OK || !strings.Contains(r.Message.String(), "not sent") || strings.Contains(r.Message.String(), "0123") {
			t.Errorf("%s: %+v", provider, r)
		}
	}
}

// A key in the environment for a known service makes that service available.
func TestAKeyInTheEnvironmentMakesItsServiceAvailable(t *testing.T) {
	c := catalog(t, "", keys{"GROQ_API_KEY": "gsk_x"})
	found := false
	for _, p := range c.KeySources() {
		found = found || p.Name == "api.groq.com" && p.Env == "GROQ_API_KEY" && p.BaseURL == "https://api.groq.com/openai/v1"
	}
	if !found {
		t.Errorf("%+v", c.KeySources())
	}
	var m config.Model
	m.Provider, m.BaseURL, m.APIKeyEnv = "chatcompletions", "https://api.groq.com/openai/v1", "GROQ_API_KEY"
	if m.KeyName() != "api.groq.com" || !m.NeedsKey() {
		t.Errorf("%+v", m)
	}
}

// TestAModelThatCalledToolsCan: a model whose server does not report whether it can call tools has proved it with its
// first call, in the program's next run too, and after the server's next description. The configuration takes precedence.
func TestAModelThatCalledToolsCan(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	url, _ := startServer(t, func(string) string { return `{"data":[{"id":"m","owned_by":"vllm","max_model_len":32768}]}` })
	memory := &memoryStore{}
	can := func(c *models.Catalog) llm.Ability {
		c.Refresh(context.Background())
		for _, in := range c.List() {
			if in.Name == "own" {
				return in.Abilities.Tools
			}
		}
		return ""
	}
	called := func(c *models.Catalog) bool {
		m, err := c.Resolve(context.Background(), "own")
		if err != nil {
			t.Fatal(err)
		}
		return m.CalledTools()
	}
	c := catalogAt(t, url, "", &now, memory)
	if got := can(c); got != "" {
		t.Fatalf("before the first call: %q", got)
	}
	if !called(c) || called(c) {
		t.Fatal("the first call is not reported as new, or the second one is")
	}
	now = now.Add(time.Hour) // the server is asked again
	if got := can(c); got != llm.AbilityYes {
		t.Fatalf("after its first call: %q", got)
	}
	if got := can(catalogAt(t, url, "", &now, memory)); got != llm.AbilityYes {
		t.Fatalf("in the next run: %q", got)
	}
	forbidden := catalogAt(t, url, "tools = \"no\"\n", &now, memory)
	if called(forbidden) || can(forbidden) != llm.AbilityNo {
		t.Fatal("the configuration does not take precedence")
	}
	// The server cannot be reached, so only the call is known.
	memory = &memoryStore{}
	down := catalogAt(t, "http://127.0.0.1:1", "", &now, memory)
	if !called(down) || can(catalogAt(t, "http://127.0.0.1:1", "", &now, memory)) != llm.AbilityYes {
		t.Fatal("a call is not recorded without a description of the server")
	}
}

// TestWhatAServerRefusesIsRemembered: for this model of this server, in the next message and in the next run.
func TestWhatAServerRefusesIsRemembered(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	url, _ := startServer(t, func(string) string { return `{"data":[{"id":"m","max_model_len":9000}]}` })
	memory := &memoryStore{}
	refused := func(c *models.Catalog) []string {
		m, err := c.Resolve(t.Context(), "own")
		if err != nil {
			t.Fatal(err)
		}
		return m.Endpoint.Refused
	}
	c := catalogAt(t, url, "", &now, memory)
	m, err := c.Resolve(t.Context(), "own")
	if err != nil || len(m.Endpoint.Refused) != 0 {
		t.Fatalf("%v, %v", m.Endpoint.Refused, err)
	}
	for range 2 {
		m.Refuses("stream_options")
	}
	now = now.Add(48 * time.Hour) // its description is asked for again
	for name, c := range map[string]*models.Catalog{"this run": c, "the next one": catalogAt(t, url, "", &now, memory)} {
		if got := refused(c); len(got) != 1 || got[0] != "stream_options" {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := refused(catalogAt(t, url, "", &now, nil)); len(got) != 0 {
		t.Errorf("without memory: %v", got)
	}
}
