package models

import (
	"context"
	"net/url"

	"contextinfinity/backend/config"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/internal/loopback"
)

// EmbedderOption is a model embedder that could be used now.
type EmbedderOption struct {
	config.Embedding
	Server string  // "Ollama", "OpenAI"
	Host   string  // where texts would go
	Remote bool    // not on this machine
	Price  float64 // US dollars for a million tokens; 0 where none is known or it runs here
}

// ollamaServer is the name of Ollama among the servers of this machine.
const ollamaServer = "Ollama"

// EmbedderOptions are the embedding models of servers that answer on this machine, and
// OpenAI's if there is a key for it. Servers are asked for the names of their models only.
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
	if c.have(vendor.KeyName, vendor.KeyEnv) {
		out = append(out, option("OpenAI", vendor))
	}
	return out
}

// embeddingAt is a model of a local server. Ollama has an embedder of its own, which
// knows where it listens.
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

// EmbeddingHost is where an embedder's texts go, and whether that is another machine.
func EmbeddingHost(e config.Embedding) (host string, remote bool) {
	switch {
	case e.Embedder == config.EmbedderLocal:
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
