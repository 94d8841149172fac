package config

// Values of retrieval.embedder.
const (
	EmbedderLocal  = "local" // a sentence encoder in the program
	EmbedderWords  = "words" // features of words, hashed
	EmbedderOpenAI = "openai"
	EmbedderOllama = "ollama"
)

// BuiltIn reports whether an embedder is part of the program: it needs no server, and no text leaves the program.
func BuiltIn(embedder string) bool { return embedder == EmbedderLocal || embedder == EmbedderWords }

const (
	// DefaultEmbeddingModel is OpenAI's default model.
	DefaultEmbeddingModel = "text-embedding-3-small" // SRD 18
	ollamaEmbeddingModel  = "nomic-embed-text"       // Ollama has only this one by that name
)

// Embedding is the configured embedder with its server.
type Embedding struct {
	Embedder  string
	Model     string
	BaseURL   string // empty: the embedder's own
	Dimension int    // 0: the model's default
	// AllowPlainHTTP allows sending the key to another machine over plain http.
	AllowPlainHTTP bool
	// KeyName and KeyEnv say where its key is: in the same place as that of a model on the same server, so that a
	// vendor's stored key is never sent to another server.
	KeyName, KeyEnv string
	// Fault is what is wrong with its settings in the configuration, which makes it unusable; empty: nothing.
	Fault string
}

// Prefixes of the settings that describe a server. What is wrong with one makes only that server unusable.
const (
	embeddingKeys = "retrieval.embedding_"
	rerankerKeys  = "retrieval.reranker_"
)

// Embedding resolves the keys of [retrieval] for the embedder. Model is empty for a built-in one.
func (c *Config) Embedding() Embedding {
	r := c.Retrieval
	if BuiltIn(r.Embedder) {
		return Embedding{Embedder: r.Embedder}
	}
	e := EmbeddingOf(r.Embedder, r.EmbeddingModel, r.EmbeddingBaseURL, r.EmbeddingAPIKeyEnv)
	e.Dimension, e.AllowPlainHTTP, e.Fault = r.EmbeddingDimension, r.AllowPlainHTTP, c.Faults.about(embeddingKeys)
	if r.Embedder == EmbedderOllama && c.Origin("retrieval.embedding_model") == OriginDefault {
		e.Model = ollamaEmbeddingModel
	}
	return e
}

// EmbeddingOf returns a model on a server, with the location of that server's key.
func EmbeddingOf(embedder, model, baseURL, keyEnv string) Embedding {
	server := Model{Provider: embedder, BaseURL: baseURL, APIKeyEnv: keyEnv}
	return Embedding{Embedder: embedder, Model: model, BaseURL: baseURL, KeyName: server.KeyName(), KeyEnv: server.KeyEnv()}
}

// Reranker is the configured reranker with the location of its server's key.
type Reranker struct {
	BaseURL, Model  string
	KeyName, KeyEnv string
	AllowPlainHTTP  bool
	Fault           string // what is wrong with its settings, which makes it unusable; empty: nothing
}

// Reranker resolves the keys of [retrieval] for the reranker; ok is false without one.
func (c *Config) Reranker() (r Reranker, ok bool) {
	settings := c.Retrieval
	server := Model{Provider: ProviderChatCompletions, BaseURL: settings.RerankerBaseURL, APIKeyEnv: settings.RerankerAPIKeyEnv}
	r = Reranker{
		BaseURL:        settings.RerankerBaseURL,
		Model:          settings.RerankerModel,
		KeyName:        server.KeyName(),
		KeyEnv:         server.KeyEnv(),
		AllowPlainHTTP: settings.AllowPlainHTTP,
		Fault:          c.Faults.about(rerankerKeys),
	}
	return r, r.BaseURL != "" || r.Fault != ""
}

// Values returns the settings that select an embedder.
func (e Embedding) Values() []Value {
	if BuiltIn(e.Embedder) {
		return []Value{{"retrieval.embedder", e.Embedder}}
	}
	return []Value{
		{"retrieval.embedder", e.Embedder}, {"retrieval.embedding_model", e.Model}, {"retrieval.embedding_base_url", e.BaseURL},
		{"retrieval.embedding_api_key_env", ""}, {"retrieval.embedding_dimension", "0"},
	}
}
