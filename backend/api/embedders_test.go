package api

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/models"
)

// recordingEmbedder is an embedder that records the texts it was sent.
type recordingEmbedder struct{ texts []string }

func (h *recordingEmbedder) Identity() chat.EmbedderID {
	return chat.EmbedderID{Name: "ollama", Model: "m", Dimension: 1}
}

func (h *recordingEmbedder) Embed(_ context.Context, _ embedding.Kind, texts []string) ([][]float32, error) {
	h.texts = append(h.texts, texts...)
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = []float32{1}
	}
	return out, nil
}

type embedderEnv struct {
	*Embedders
	config  *config.Store
	sent    *recordingEmbedder
	changes int
}

var offered = []models.EmbedderOption{
	{Embedding: config.EmbeddingOf("ollama", "nomic-embed-text", "", ""), Server: "Ollama", Host: "this computer"},
	{Embedding: config.EmbeddingOf("openai", "text-embedding-3-small", "", ""), Server: "OpenAI", Host: "api.openai.com", Remote: true, Price: 0.02},
	{Embedding: config.EmbeddingOf("openai", "bge-m3", "https://embed.example/v1", ""), Server: "Example", Host: "embed.example", Remote: true},
}

func newEmbedderEnv(t *testing.T, units int, options []models.EmbedderOption) *embedderEnv {
	t.Helper()
	dir := t.TempDir()
	cfg, err := config.Open(config.Options{Path: filepath.Join(dir, "config.toml"), DataDir: dir, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	e := &embedderEnv{config: cfg, sent: &recordingEmbedder{}}
	c, _, _ := newTestChat(t)
	core := c.c
	core.Config = cfg
	core.Embedder = func(context.Context, config.Embedding) (embedding.Embedder, error) { return e.sent, nil }
	core.Hub.Listen(func(c chat.Change) {
		if c.Kind == chat.ChangeSettings {
			e.changes++
		}
	})
	e.Embedders = NewEmbedders(core)
	e.options = func(context.Context) []models.EmbedderOption { return options }
	e.totals = func(context.Context) (int, int64, error) { return units, int64(units) * 100, nil }
	return e
}

func (e *embedderEnv) view(t *testing.T) EmbeddersView {
	t.Helper()
	v, err := e.Embedders.Embedders()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// If the built-in embedder is in use and there is history, the offer is shown until the user responds.
func TestEmbedderIsOfferedOnce(t *testing.T) {
	if v := newEmbedderEnv(t, 0, offered).view(t); v.Offer != "" || len(v.Options) != 3 {
		t.Errorf("offered without history: %+v", v)
	}
	if v := newEmbedderEnv(t, 5, nil).view(t); v.Offer != "" || v.Options == nil || !v.Current.BuiltIn {
		t.Errorf("without options: %+v", v)
	}
	e := newEmbedderEnv(t, 5, offered)
	if v := e.view(t); v.Offer != v.Options[0].ID || v.Tokens != 500 || v.Units != 5 {
		t.Errorf("not offered: %+v", v)
	}
	if err := e.DismissOffer(); err != nil {
		t.Fatal(err)
	}
	if v := e.view(t); v.Offer != "" || len(v.Options) != 3 {
		t.Errorf("offered again: %+v", v)
	}
	if len(e.sent.texts) != 0 {
		t.Errorf("showing the offer sent %d texts", len(e.sent.texts))
	}
}

// The estimated cost is that of all tokens at the known price. Only samples are sent to measure the time.
func TestEmbedderEstimate(t *testing.T) {
	e := newEmbedderEnv(t, 10_000, offered)
	options := e.view(t).Options
	for i, want := range []float64{0, 0.02, -1} {
		got, err := e.Estimate(options[i].ID)
		if err != nil || got.Cost != want || got.Units != 10_000 || got.Tokens != 1_000_000 || got.Ms < 0 {
			t.Errorf("%s: %+v, %v, want a cost of %v", options[i].ID, got, err, want)
		}
	}
	for _, text := range e.sent.texts {
		if !strings.Contains(text, "tide tables") || len(text) > 500 {
			t.Fatalf("sent to measure: %q", text)
		}
	}
	if _, err := e.Estimate("openai|https://evil.example|m"); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("an address from the window is connected to: %v", err)
	}
}

// A switch sets all settings at once, counts as a response to the offer, and can be undone. If the server cannot be
// reached, nothing changes.
func TestEmbedderSwitch(t *testing.T) {
	e := newEmbedderEnv(t, 5, offered)
	for _, key := range []config.Value{{Name: "retrieval.embedding_dimension", Value: "256"}, {Name: "retrieval.embedding_base_url", Value: "https://old.example"}} {
		if err := e.config.Set(key.Name, key.Value); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Use("ollama||gone"); chat.CodeOf(err) != chat.CodeNotFound || e.config.Config().Retrieval.Embedder != config.EmbedderLocal {
		t.Errorf("an embedder that is not available was used: %v", err)
	}
	v, err := e.Use(e.view(t).Options[0].ID)
	if err != nil || v.Current.Model != "nomic-embed-text" || v.Current.Server != "Ollama" || v.Current.BuiltIn || v.Offer != "" || len(v.Options) != 2 || e.changes != 1 {
		t.Errorf("switched: %+v, %v, %d changes", v, err, e.changes)
	}
	if got := e.config.Config().Embedding(); got != offered[0].Embedding {
		t.Errorf("configured %+v", got)
	}
	v, err = e.UseBuiltIn()
	if err != nil || !v.Current.BuiltIn || v.Offer != "" || len(v.Options) != 3 {
		t.Errorf("switched back: %+v, %v", v, err)
	}
	e.c.ReadOnly = "The disk is full."
	if _, err := e.Use(offered[0].Model); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("switched while nothing can be written: %v", err)
	}
	if answered, _, err := e.c.Store.Setting(t.Context(), embedderAnswered); err != nil || answered != "true" {
		t.Errorf("%q, %v", answered, err)
	}
}
