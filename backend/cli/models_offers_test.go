package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"contextinfinity/backend/models"
)

// TestModelsOfAProvider: a server's models are listed with their limits, found by name, and added by id.
func TestModelsOfAProvider(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"data":[{"id":"acme/Zeta Large","max_model_len":65536,"supported_parameters":["tools"]},{"id":"small"}]}`))
	}))
	t.Cleanup(server.Close)
	h := newHome(t)
	h.configure(fmt.Sprintf("%s\n[models.small]\nprovider = \"chatcompletions\"\nbase_url = %q\nmodel_id = \"small\"\n", configText, server.URL+"/v1"))
	host := strings.TrimPrefix(server.URL, "http://")

	out := h.run("models", "list", "--provider", host).exits(0).out
	for _, want := range []string{"acme/Zeta Large", "65536", "tools", "small", "?"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	doc := h.run("models", "list", "--provider", host, "--search", "ZETA acme", "--json").exits(0).document()
	if list := doc["models"].([]any); len(list) != 1 || list[0].(map[string]any)["context_limit"] != float64(65536) {
		t.Errorf("%v", doc)
	}
	if out := h.run("models", "add", "--provider", host, "acme/Zeta Large").exits(0).out; out != "zeta-large\n" {
		t.Errorf("%q", out)
	}
	if out := h.run("models", "add", "--provider", host, "acme/Zeta Large").exits(0).out; out != "zeta-large\n" {
		t.Errorf("again: %q", out)
	}
	if out := h.run("models", "list", "--search", "zeta").exits(0).out; !strings.Contains(out, "zeta-large") || strings.Contains(out, "recall") {
		t.Errorf("%s", out)
	}
	if out := h.run("models", "providers").exits(0).out; !strings.Contains(out, host) {
		t.Errorf("%s", out)
	}
	h.run("models", "add", "--provider", "nowhere", "m").exits(1)
	h.run("models", "list", "--provider", "azure").exits(1)
	h.run("models", "add", "m").exits(2)
}

func TestModelPresets(t *testing.T) {
	t.Parallel()
	out := newHome(t).run("models", "presets").exits(0).out
	for _, p := range models.Presets() {
		if !strings.Contains(out, p.ID) || !strings.Contains(out, p.BaseURL) {
			t.Errorf("%s is missing in\n%s", p.ID, out)
		}
	}
}

// TestKeyOfAnotherProvider: it is neither tried nor stored.
func TestKeyOfAnotherProvider(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.runWith(strings.NewReader("gsk_0123456789\n"), "keys", "set", "anthropic", "--no-test").exits(1)
	if !strings.Contains(r.err, "Groq") || strings.Contains(r.err+r.out, "0123") {
		t.Errorf("%s%s", r.out, r.err)
	}
}
