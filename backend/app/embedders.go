package app

import (
	"context"
	"net/http"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/embedding/ollama"
	"contextinfinity/backend/embedding/openai"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/models"
)

// embedders creates the configured embedder, and those of other identities as far as the configuration allows: texts
// are sent only to configured servers, even while vectors of a former server are still in use.
type embedders struct {
	config func() *config.Config
	keys   models.Keyring
	client *http.Client
	// encoder and words are the built-in ones.
	encoder, words embedding.Embedder

	mu     sync.Mutex
	cached map[embedderKey]embedding.Embedder // cached, because the dimension of an unknown model must be requested
}

// embedderKey has all settings that determine an embedder.
type embedderKey struct {
	config.Embedding
	key llm.Secret
	ask bool // request the dimension from the server
}

// Target returns the configured embedder.
func (e *embedders) Target(ctx context.Context) (embedding.Embedder, error) {
	c := e.config().Embedding()
	return e.make(ctx, c, c.Dimension > 0)
}

// For returns the embedder of an identity.
func (e *embedders) For(ctx context.Context, id chat.EmbedderID) (embedding.Embedder, error) {
	if id.Name == embedding.Local {
		if id.Model == e.words.Identity().Model {
			return e.words, nil
		}
		return e.encoder, nil
	}
	c := e.config().Embedding()
	if c.Embedder != id.Name {
		return nil, chat.Errorf(chat.CodeConfig, "embedder.for", "Vectors made by %s cannot be searched any more: no such server is configured.", id).
			WithHint("words are still searched; the configured embedder's vectors are being made")
	}
	ask := c.Dimension == id.Dimension
	if knownDimension := embedding.KnownModel(id.Model).Dimension; knownDimension > 0 {
		ask = knownDimension != id.Dimension
	}
	c.Model, c.Dimension = id.Model, id.Dimension
	return e.make(ctx, c, ask)
}

func (e *embedders) make(ctx context.Context, c config.Embedding, ask bool) (embedding.Embedder, error) {
	switch c.Embedder {
	case config.EmbedderLocal:
		return e.encoder, nil
	case config.EmbedderWords:
		return e.words, nil
	}
	if c.Fault != "" {
		return nil, chat.Errorf(chat.CodeConfig, "embedder.make", "The embedder's configuration has an error: %s.", c.Fault)
	}
	k := embedderKey{Embedding: c, ask: ask}
	if c.KeyName != "" || c.KeyEnv != "" {
		k.key, _ = e.keys.Key(c.KeyName, c.KeyEnv)
	}
	e.mu.Lock()
	cached, ok := e.cached[k]
	e.mu.Unlock()
	if ok {
		return cached, nil
	}
	created, err := connect(ctx, e.client, k)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cached == nil || len(e.cached) > 8 { // limited, so that old keys do not stay in memory
		e.cached = map[embedderKey]embedding.Embedder{}
	}
	e.cached[k] = created
	return created, nil
}

// connectTimeout limits requesting a model's dimension from a server.
const connectTimeout = 20 * time.Second

func connect(ctx context.Context, client *http.Client, k embedderKey) (embedding.Embedder, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if k.Embedder == config.EmbedderOllama {
		return ollama.New(ctx, ollama.Options{
			Client: client, BaseURL: k.BaseURL, Key: k.key, AllowPlainHTTP: k.AllowPlainHTTP, Model: k.Model, Dimension: k.Dimension, Ask: k.ask,
		})
	}
	return openai.New(ctx, openai.Options{
		Client: client, BaseURL: k.BaseURL, Key: k.key, AllowPlainHTTP: k.AllowPlainHTTP, Model: k.Model, Dimension: k.Dimension, Ask: k.ask,
	})
}
