package config

// Values of retrieval.embedder.
const (
	EmbedderLocal  = "local"
	EmbedderOpenAI = "openai"
	EmbedderOllama = "ollama"
)

const (
	defaultEmbeddingModel = "text-embedding-3-small" // SRD 18
	ollamaEmbeddingModel  = "nomic-embed-text"       // Ollama has no other by that name
)

// Embedding is the configured embedder with its server.
type Embedding struct {
	Embedder  string
	Model     string
	BaseURL   string // empty: the embedder's own
	Dimension int    // 0: the model's own
	// KeyName and KeyEnv are where its key is: the same place as that of a model of the
	// same server, so that a vendor's stored key never goes to another server.
	KeyName, KeyEnv string
}

// Embedding resolves [retrieval]'s keys of the embedder. Model is empty for local.
func (c *Config) Embedding() Embedding {
	r := c.Retrieval
	e := Embedding{Embedder: r.Embedder}
	if r.Embedder == EmbedderLocal {
		return e
	}
	server := Model{Provider: r.Embedder, BaseURL: r.EmbeddingBaseURL, APIKeyEnv: r.EmbeddingAPIKeyEnv}
	e.Model, e.BaseURL, e.Dimension = r.EmbeddingModel, r.EmbeddingBaseURL, r.EmbeddingDimension
	e.KeyName, e.KeyEnv = server.KeyName(), server.KeyEnv()
	if r.Embedder == EmbedderOllama && c.Origin("retrieval.embedding_model") == OriginDefault {
		e.Model = ollamaEmbeddingModel
	}
	return e
}
