package models

import (
	"context"
	"net/url"

	"contextinfinity/backend/config"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/internal/loopback"
)

// EmbedderOption is an embedding model that is available now.
type EmbedderOption struct {
	config.Embedding
	Server string  // "Ollama", "OpenAI"
	Host   string  // where the texts would be sent
	Remote bool    // not on this machine
	Price  float64 // US dollars per million tokens; 0 if it is unknown, or the model runs on this machine
}

// ollamaServer is the name of Ollama among the local servers.
const ollamaServer = "Ollama"

// EmbedderOptions returns the embedding models of the model servers on this machine, and OpenAI's if there is a key
// for it. Only the names of the servers' models are requested.
func (c *Catalog) EmbedderOptions(ctx context.Context) []EmbedderOption {
	var out []EmbedderOption
	for _, s := range c.LocalServers(ctx) {
		for _, model := range s.Models {
			if embedding.IsEmbeddingModel(model) {
				out = append(out, option(s.Name, embeddingAt(s, model)))
			}
		}
	}
	vendor := config.EmbeddingOf(config.EmbedderOpenAI, config.DefaultEmbeddingModel, "", "")
	if c.hasKey(vendor.KeyName, vendor.KeyEnv) {
		out = append(out, option("OpenAI", vendor))
	}
	return out
}

// embeddingAt returns the configuration for a model of a local server. Ollama has its own kind of embedder, which
// needs no address.
func embeddingAt(s LocalServer, model string) config.Embedding {
	if s.Name == ollamaServer {
		return config.EmbeddingOf(config.EmbedderOllama, model, "", "")
	}
	return config.EmbeddingOf(config.EmbedderOpenAI, model, s.BaseURL, "")
}

func option(server string, e config.Embedding) EmbedderOption {
	o := EmbedderOption{Embedding: e, Server: server}
	o.Host, o.Remote = EmbeddingHost(e)
	if o.Remote {
		o.Price = embedding.KnownModel(e.Model).Price
	}
	return o
}

// EmbeddingHost returns the host to which an embedder sends texts, and whether it is another machine.
func EmbeddingHost(e config.Embedding) (host string, remote bool) {
	switch {
	case config.BuiltIn(e.Embedder):
		return "", false
	case e.BaseURL == "" && e.Embedder == config.EmbedderOllama:
		return "this computer", false
	case e.BaseURL == "":
		return "api.openai.com", true
	}
	u, err := url.Parse(e.BaseURL)
	if err != nil || u.Hostname() == "" {
		return e.BaseURL, true
	}
	if loopback.IsHost(u.Hostname()) {
		return "this computer", false
	}
	return u.Host, true
}
