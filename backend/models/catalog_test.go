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
	"contextinfinity/backend/llm/chatcompletions"
	"contextinfinity/backend/llm/openai"
	"contextinfinity/backend/llm/recall"
	"contextinfinity/backend/models"
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

func catalog(t *testing.T, file string, k keys) *models.Catalog {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Open(config.Options{Path: path, DataDir: t.TempDir(), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	client := models.NewHTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	return models.New(models.Deps{
		Config: cfg.Config, Keys: k, Limits: limits,
		Providers: []llm.Provider{openai.New(client), chatcompletions.New(client), recall.New(nil, nil)},
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

func TestNoModelIsRecall(t *testing.T) {
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
	for _, p := range c.KeyPlaces() {
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
		if in.Name == "gpt" && (in.Usable || in.Why == "") {
			t.Fatalf("%+v", in)
		}
	}
}

// A server of one's own is asked without a key, unless it was told which variable holds one.
func TestWhoNeedsAKey(t *testing.T) {
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
	for _, p := range c.KeyPlaces() {
		if needed, ok := want[p.Name]; !ok || needed != p.Needed {
			t.Errorf("%+v", p)
		}
		delete(want, p.Name)
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
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
	if r.OK || !strings.Contains(r.Message, "refused") || strings.Contains(r.Message, "sk-bad") {
		t.Fatalf("%+v", r)
	}
	if r := c.Test(context.Background(), "chatcompletions", "", server.URL+"/v1"); r.OK || !strings.HasPrefix(r.Message, "It asks for a key") {
		t.Fatalf("without a key: %+v", r)
	}
	if r := c.Test(context.Background(), "openai", good, "http://127.0.0.1:9/v1"); r.OK || r.Message == "" {
		t.Fatalf("an absent server: %+v", r)
	}
	if r := c.Test(context.Background(), "recall", "", ""); !r.OK {
		t.Fatalf("%+v", r)
	}
}

func TestDetectProvider(t *testing.T) {
	for key, want := range map[string]string{"sk-ant-api03-x": "anthropic", " sk-proj-x": "openai"} {
		if got := models.DetectProvider(key); got != want {
			t.Errorf("%q is a key of %s, want %s", key, got, want)
		}
	}
}
