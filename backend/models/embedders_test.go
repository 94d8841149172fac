package models

import (
	"testing"

	"contextinfinity/backend/config"
)

// TestEmbeddingAt: a local server's model uses the adapter for the server's protocol, without a key.
func TestEmbeddingAt(t *testing.T) {
	for _, c := range []struct {
		server LocalServer
		want   config.Embedding
	}{
		{LocalServer{Name: "Ollama", BaseURL: "http://127.0.0.1:11434/v1"}, config.EmbeddingOf("ollama", "bge-m3", "", "")},
		{LocalServer{Name: "LM Studio", BaseURL: "http://127.0.0.1:1234/v1"}, config.EmbeddingOf("openai", "bge-m3", "http://127.0.0.1:1234/v1", "")},
	} {
		got := embeddingAt(c.server, "bge-m3")
		if got != c.want || got.KeyEnv != "" {
			t.Errorf("%s: %+v", c.server.Name, got)
		}
		if o := option(c.server.Name, got); o.Remote || o.Host != "this computer" || o.Price != 0 {
			t.Errorf("%s: %+v", c.server.Name, o)
		}
	}
}

func TestEmbeddingHost(t *testing.T) {
	for _, c := range []struct {
		embedder, base, host string
		remote               bool
	}{
		{"local", "", "", false}, {"openai", "", "api.openai.com", true}, {"ollama", "", "this computer", false},
		{"ollama", "http://box.lan:11434", "box.lan:11434", true}, {"openai", "http://[::1]:1234/v1", "this computer", false},
		{"openai", "http://localhost:8000", "this computer", false}, {"openai", "http://127.1.2.3/v1", "this computer", false},
		{"openai", "https://localhost.example/v1", "localhost.example", true}, {"openai", "http://%zz", "http://%zz", true},
	} {
		host, remote := EmbeddingHost(config.Embedding{Embedder: c.embedder, BaseURL: c.base})
		if host != c.host || remote != c.remote {
			t.Errorf("%s %q: %q, %v", c.embedder, c.base, host, remote)
		}
	}
	if o := option("OpenAI", config.EmbeddingOf("openai", "text-embedding-3-large", "", "")); o.Price != 0.13 {
		t.Errorf("%+v", o)
	}
}
