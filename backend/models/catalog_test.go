package models_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/anthropic"
	"contextinfinity/backend/llm/chatcompletions"
	"contextinfinity/backend/llm/openai"
	"contextinfinity/backend/llm/recall"
	"contextinfinity/backend/models"
	"contextinfinity/backend/prompt"
)

// keys finds keys in a map, by name or variable.
type keys map[string]string

func (k keys) Key(name, env string) (llm.Secret, bool) {
	for _, n := range []string{name, env} {
		if v, ok := k[n]; ok && n != "" {
			return llm.Secret(v), true
		}
	}
	return "", false
}

func limits(_ string, context, output int) models.Limits {
	if context == 0 {
		return models.Limits{ContextLimit: 8192, MaxOutput: 4096, Source: "unknown window"}
	}
	return models.Limits{ContextLimit: context, MaxOutput: max(output, 1), Source: "configured"}
}

// settings opens a configuration file with this content.
func settings(t *testing.T, content string) *config.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Open(config.Options{Path: path, DataDir: t.TempDir(), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func catalog(t *testing.T, content string, k keys) *models.Catalog {
	t.Helper()
	cfg := settings(t, content)
	client := models.NewHTTPClient(func() string { return "" })
	t.Cleanup(client.CloseIdleConnections)
	return models.New(models.Deps{
		Config: cfg.Config, Keys: k, Limits: limits,
		Providers: []llm.Provider{anthropic.New(client), openai.New(client), chatcompletions.New(client), recall.New(nil, nil, nil)},
	})
}

const local = `
[models.local]
provider = "chatcompletions"
base_url = "http://127.0.0.1:9/v1"
model_id = "m"
context_limit = 16000
max_output = 2000
stream = false
`

func TestResolve(t *testing.T) {
	c := catalog(t, local, keys{})
	m, err := c.Resolve(context.Background(), "")
	if err != nil || m.Endpoint.Name != "local" || m.Endpoint.Stream || m.Limits.ContextLimit != 16000 || m.Provider.Name() != "chatcompletions" {
		t.Fatalf("%+v %v", m.Endpoint, err)
	}
	if m, err = c.Resolve(context.Background(), "recall"); err != nil || m.Provider.Name() != "recall" {
		t.Fatalf("%+v %v", m.Endpoint, err)
	}
	_, err = c.Resolve(context.Background(), "nobody")
	if chat.CodeOf(err) != chat.CodeConfig || !strings.Contains(err.Error(), "nobody") || chat.AsError(err).Hint == "" {
		t.Fatalf("an unknown model: %v", err)
	}
}

// TestParallelCallsOfAProvider: a provider's own setting takes precedence over tools.allow_parallel (SRD 11.2, 11.3).
func TestParallelCallsOfAProvider(t *testing.T) {
	for text, want := range map[string][2]bool{ // OpenAI, Anthropic
		"":                                 {false, false},
		"[tools]\nallow_parallel = true\n": {true, true},
		"[tools]\nallow_parallel = true\n[openai]\nparallel_tool_calls = false\n[anthropic]\ndisable_parallel_tool_use = true\n":  {false, false},
		"[tools]\nallow_parallel = false\n[openai]\nparallel_tool_calls = true\n[anthropic]\ndisable_parallel_tool_use = false\n": {true, true},
	} {
		models := "[models.o]\nprovider = \"openai\"\nmodel_id = \"o\"\n[models.a]\nprovider = \"anthropic\"\nmodel_id = \"a\"\n"
		c := catalog(t, models+text, keys{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"})
		for i, name := range []string{"o", "a"} {
			m, err := c.Resolve(t.Context(), name)
			if err != nil || m.Endpoint.ParallelToolCalls != want[i] {
				t.Errorf("%s with %q: parallel %v, %v", name, text, m.Endpoint.ParallelToolCalls, err)
			}
		}
	}
}

func TestDefaultWithoutModelsIsRecall(t *testing.T) {
	if got := catalog(t, "", keys{}).Default(); got != "recall" {
		t.Fatalf("without models and keys the default is %q", got)
	}
}

func TestVendorModelsComeWithTheirKey(t *testing.T) {
	c := catalog(t, "", keys{"OPENAI_API_KEY": "sk-secret"})
	m, err := c.Resolve(context.Background(), "")
	if err != nil || m.Endpoint.Provider != "openai" || m.Endpoint.Key.Reveal() != "sk-secret" {
		t.Fatalf("%+v %v", m.Endpoint, err)
	}
	for _, p := range c.KeySources() {
		if p.Name == "openai" && (p.Env != "OPENAI_API_KEY" || len(p.Models) == 0) {
			t.Fatalf("%+v", p)
		}
	}
}

func TestModelWithoutItsKey(t *testing.T) {
	c := catalog(t, "[models.gpt]\nprovider = \"openai\"\nmodel_id = \"gpt-5.2\"\n", keys{})
	_, err := c.Resolve(context.Background(), "gpt")
	if chat.CodeOf(err) != chat.CodeAuth || chat.AsError(err).Hint == "" {
		t.Fatalf("%v", err)
	}
	for _, in := range c.List() {
		if in.Name == "gpt" && (in.Usable || in.UnusableReason.IsZero()) {
			t.Fatalf("%+v", in)
		}
	}
}

// A server at a custom address is used without a key, unless a variable is configured for one.
func TestWhichServersNeedAKey(t *testing.T) {
	c := catalog(t, `[models.mine]
provider = "chatcompletions"
model_id = "a"
base_url = "http://127.0.0.1:11434/v1"
[models.guarded]
provider = "chatcompletions"
model_id = "a"
base_url = "http://127.0.0.1:8000/v1"
api_key_env = "MY_KEY"
`, keys{})
	want := map[string]bool{"anthropic": true, "openai": true, "127.0.0.1:11434": false, "127.0.0.1:8000": true}
	for _, p := range c.KeySources() {
		if needed, ok := want[p.Name]; !ok || needed != p.Needed {
			t.Errorf("%+v", p)
		}
		delete(want, p.Name)
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
}

// A key is not sent unencrypted over the network unless that is allowed for the model; a server without a key needs
// no permission.
func TestAKeyOverPlainHTTP(t *testing.T) {
	const lan = "[models.lan]\nprovider = \"chatcompletions\"\nmodel_id = \"m\"\nbase_url = \"http://192.0.2.7:8000/v1\"\n"
	withKey := keys{"192.0.2.7:8000": "sk-lan-key"}
	c := catalog(t, lan, withKey)
	_, err := c.Resolve(context.Background(), "lan")
	if e := chat.AsError(err); chat.CodeOf(err) != chat.CodeConfig || !strings.Contains(err.Error(), "allow_plain_http") || !strings.Contains(e.Hint, "[models.lan]") {
		t.Errorf("resolved: %v", err)
	}
	for _, in := range c.List() {
		if in.Name == "lan" && (in.Usable || !strings.Contains(in.UnusableReason.String(), "plain http")) {
			t.Errorf("%+v", in)
		}
	}
	if c.Default() != "recall" {
		t.Errorf("the default is %q", c.Default())
	}
	if r := c.Test(context.Background(), "chatcompletions", "sk-typed", "http://192.0.2.7:8000/v1"); r.OK || !strings.Contains(r.Message.String(), "nothing was sent") {
		t.Errorf("the key was tried: %+v", r)
	}
	if m, err := catalog(t, lan+"allow_plain_http = true\n", withKey).Resolve(context.Background(), "lan"); err != nil || !m.Endpoint.AllowPlainHTTP {
		t.Errorf("allowed: %+v, %v", m.Endpoint, err)
	}
	if _, err := catalog(t, lan, keys{}).Resolve(context.Background(), "lan"); err != nil {
		t.Errorf("without a key: %v", err)
	}
	if _, err := catalog(t, strings.Replace(lan, "http:", "https:", 1), withKey).Resolve(context.Background(), "lan"); err != nil {
		t.Errorf("over https: %v", err)
	}
}

func TestKeyIsTried(t *testing.T) {
	const good = "sk-good-0123456789"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+good {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":{"message":"Incorrect API key provided: ` + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + `"}}`))
			return
		}
		_, _ = w.Write([]byte(`{"data":[{"id":"a"},{"id":"b"}]}`))
	}))
	defer server.Close()
	c := catalog(t, "", keys{})
	if r := c.Test(context.Background(), "openai", good, server.URL+"/v1"); !r.OK || len(r.Models) != 2 || r.Provider != "openai" {
		t.Fatalf("%+v", r)
	}
	r := c.Test(context.Background(), "openai", "sk-bad-9876543210", server.URL+"/v1")
	if r.OK || !strings.Contains(r.Message.String(), "refused") || strings.Contains(r.Message.String(), "sk-bad") {
		t.Fatalf("%+v", r)
	}
	if r := c.Test(context.Background(), "chatcompletions", "", server.URL+"/v1"); r.OK || !strings.HasPrefix(r.Message.String(), "It asks for a key") {
		t.Fatalf("without a key: %+v", r)
	}
	if r := c.Test(context.Background(), "openai", good, "http://127.0.0.1:9/v1"); r.OK || r.Message.IsZero() {
		t.Fatalf("an absent server: %+v", r)
	}
	if r := c.Test(context.Background(), "recall", "", ""); !r.OK {
		t.Fatalf("%+v", r)
	}
}

// TestAKeyIsSentOnlyToItsVendor: if no provider is named, a key is sent only to the vendor whose format it has.
func TestAKeyIsSentOnlyToItsVendor(t *testing.T) {
	const old = "sk-0123456789abcdefghijT3BlbkFJ0123456789abcdefghij"
	for key, want := range map[string]string{
		"sk-ant-api03-x": "anthropic", " sk-proj-x": "openai", "sk-svcacct-x": "openai", old: "openai", // sent
		"gsk_x": "groq", "sk-or-v1-x": "openrouter", "xai-x": "xai", "AIzaSyx": "gemini", "hf_x": "huggingface", // recognized, not sent
		"sk-0123456789abcdef0123456789abcdef": "", "sk-x": "", "0123456789abcdef": "", "": "", // of unknown origin
	} {
		var requests []string
		c := models.New(models.Deps{
			Config: func() *config.Config { return &config.Config{} }, Keys: keys{},
			Providers: []llm.Provider{&recordingProvider{name: "openai", requests: &requests}, &recordingProvider{name: "anthropic", requests: &requests}},
		})
		r := c.Test(context.Background(), "", key, "")
		sent := want == "openai" || want == "anthropic"
		if r.Provider != want || r.OK != sent || r.Message.IsZero() || strings.Contains(r.Message.String(), "0123456789") {
			t.Errorf("%q: %+v, want %s", key, r, want)
		}
		if elsewhere := want != "" && !sent; elsewhere != strings.HasPrefix(r.Server, "https://") || elsewhere != (r.Vendor != "") {
			t.Errorf("%q is offered for %q at %q", key, r.Vendor, r.Server)
		}
		if sent && (len(requests) != 1 || requests[0] != want+" "+strings.TrimSpace(key)) || !sent && len(requests) != 0 {
			t.Errorf("%q was sent to %q", key, requests)
		}
	}
}

// recordingProvider is a provider that records the key of each request.
type recordingProvider struct {
	llm.Provider
	name     string
	requests *[]string
}

func (p *recordingProvider) Name() string { return p.name }

func (p *recordingProvider) ListModels(_ context.Context, ep llm.Endpoint) ([]string, error) {
	*p.requests = append(*p.requests, p.name+" "+ep.Key.Reveal())
	return []string{"a"}, nil
}

// Reserve and margin apply exactly as set, even if they are set to their defaults; reserve_max_output reserves the
// model's complete output limit.
func TestReserveAppliesAsSet(t *testing.T) {
	model := "[models.m]\nprovider = \"chatcompletions\"\nmodel_id = \"x\"\nbase_url = \"http://127.0.0.1:1/v1\"\ncontext_limit = 8192\nmax_output = 3000\n"
	for content, want := range map[string][3]int{ // reserve, margin, input
		"": {1024, 358, 6810},
		"[budget]\nresponse_reserve_tokens = 4000\n":                             {4000, 256, 3936},
		"[budget]\nsafety_margin_tokens = 0\n":                                   {1024, 0, 7168},
		"[budget]\nresponse_reserve_tokens = 100\nsafety_margin_tokens = 1500\n": {100, 1500, 6592},
		"[budget]\nreserve_max_output = true\n":                                  {3000, 259, 4933},
	} {
		m, err := catalog(t, content+model, nil).Resolve(t.Context(), "m")
		if err != nil {
			t.Fatal(err)
		}
		if b := prompt.NewBudget(m.Limits, prompt.DefaultPolicy(), 1); b.ResponseReserve != want[0] || b.SafetyMargin != want[1] || b.InputBudget != want[2] {
			t.Errorf("%q: %+v, want %v", content, b, want)
		}
	}
}
