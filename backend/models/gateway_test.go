package models_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/anthropic"
	"contextinfinity/backend/models"
)

// A gateway gets the key in the header that it wants, the configured headers, and the query of its address. The secrets
// in headers are hidden in what it answers, in errors, and wherever an endpoint is printed.
func TestGateways(t *testing.T) {
	const stored, inEnvironment = "stored-secret-4711", "environment-secret-4712"
	var got *http.Request
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(status)
		if status != http.StatusOK {
			fmt.Fprintf(w, `{"error":{"message":"no access for %s and %s"}}`, stored, inEnvironment)
			return
		}
		fmt.Fprintf(w, "data: {\"text\":\"%s\"}\n\ndata: {\"text\":\"%s\"}\n\ndata: {\"text\":\"%s\"}\n\n", stored[:9], stored[9:], inEnvironment)
	}))
	defer server.Close()
	k := keys{strings.TrimPrefix(server.URL, "http://"): "the-key-4713", "header/gate": stored, "GATE": inEnvironment}
	client := models.NewHTTPClient(func() string { return "" })
	t.Cleanup(client.CloseIdleConnections)
	cfg := settings(t, `
[models.gate]
provider = "anthropic"
model_id = "m"
base_url = "`+server.URL+`/proxy/v1?api-version=2026-01-01"
key_header = "authorization"
headers = ["X-Team: blue", "X-Gate: ${secret:gate}", "X-Env: v1 ${env:GATE}"]
`)
	c := models.New(models.Deps{Config: cfg.Config, Keys: k, Limits: limits, Providers: []llm.Provider{anthropic.New(client)}})
	m, err := c.Resolve(context.Background(), "gate")
	if err != nil {
		t.Fatal(err)
	}
	var answer strings.Builder
	send := func() error {
		return m.Provider.Stream(t.Context(), m.Endpoint, []byte("{}"), func(ev chat.RawEvent) error {
			answer.Write(ev.Data)
			return nil
		})
	}
	if err := send(); err != nil {
		t.Fatal(err)
	}
	if got.URL.String() != "/proxy/v1/messages?api-version=2026-01-01" {
		t.Errorf("the address %s", got.URL)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer the-key-4713", "X-Api-Key": "", "X-Team": "blue", "X-Gate": stored,
		"X-Env": "v1 " + inEnvironment, "Anthropic-Version": "2023-06-01",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Header.Get(name), want)
		}
	}
	hidden := func(what, text string) {
		t.Helper()
		for _, secret := range []string{stored, stored[9:], inEnvironment, "the-key"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s contains %s: %s", what, secret, text)
			}
		}
	}
	hidden("the answer", answer.String())
	hidden("the endpoint", fmt.Sprintf("%v %+v", m.Endpoint, m.Endpoint))
	status = http.StatusForbidden
	var failure *llm.Error
	if err := send(); !errors.As(err, &failure) || !strings.Contains(failure.Message, "no access for [redacted] and [redacted]") {
		t.Errorf("the refusal: %v", err)
	}
	// Listing its models reaches it in the same way.
	status = http.StatusOK
	c.Test(t.Context(), "anthropic", "", server.URL+"/proxy/v1")
	if got.Header.Get("X-Gate") != stored || got.Header.Get("Authorization") != "Bearer the-key-4713" || got.Header.Get("X-Api-Key") != "" {
		t.Errorf("the listing: %v", got.Header)
	}
	var names []string
	for _, source := range c.KeySources() {
		names = append(names, source.Name)
	}
	if !strings.Contains(strings.Join(names, " "), "header/gate") {
		t.Errorf("keys that can be set: %v", names)
	}
	if r := c.Test(t.Context(), "header/gate", "new", ""); !r.OK {
		t.Errorf("a secret of a header: %+v", r)
	}
}
