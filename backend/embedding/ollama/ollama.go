// Package ollama turns text into vectors through a local Ollama server's /api/embed (SPEC 8). It sends a request
// once; embedding.Retried does the retries.
package ollama

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/embedding/internal/remote"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// Name is the adapter's name in an identity and in retrieval.embedder.
const Name = "ollama"

// DefaultBase is Ollama's default address.
const DefaultBase = "http://localhost:11434"

// Options name the server and the model.
type Options struct {
	Client  *http.Client // nil: a suitable default
	BaseURL string       // empty: DefaultBase
	Key     llm.Secret   // for a server behind a gateway; usually empty
	// AllowPlainHTTP allows sending the key to another machine over plain http.
	AllowPlainHTTP bool
	Model          string
	// Dimension of the vectors; 0: the model's own. Ask requests it from the server.
	Dimension int
	Ask       bool
}

// Embedder implements embedding.Embedder.
type Embedder struct {
	o      Options
	server wire.Server
	known  embedding.Model
	id     chat.EmbedderID
}

// New creates the embedder. The dimension of an unknown model is found by embedding one word.
func New(ctx context.Context, o Options) (*Embedder, error) {
	o.BaseURL = cmp.Or(o.BaseURL, DefaultBase)
	u, err := wire.CheckBase(o.BaseURL)
	if err != nil {
		return nil, remote.Failure(Name, err)
	}
	// People paste the address of its other protocol, or of the endpoint itself.
	u.Path = strings.TrimRight(u.Path, "/")
	for _, tail := range []string{"/embed", "/api", "/v1"} {
		u.Path = strings.TrimSuffix(u.Path, tail)
	}
	u.RawPath = ""
	server := wire.Server{
		Client: wire.Client(o.Client), Base: u.String(),
		Endpoint: llm.Endpoint{Key: o.Key, AllowPlainHTTP: o.AllowPlainHTTP},
	}
	e := &Embedder{o: o, server: server, known: embedding.KnownModel(o.Model)}
	e.id = chat.EmbedderID{Name: Name, Model: o.Model, Dimension: o.Dimension, Version: e.known.Version}
	e.id.Dimension = cmp.Or(e.id.Dimension, e.known.Dimension)
	if e.id.Dimension == 0 {
		e.id.Dimension, err = remote.Probe(ctx, e)
	}
	return e, err
}

// Identity implements embedding.Embedder.
func (e *Embedder) Identity() chat.EmbedderID { return e.id }

type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Truncate   bool     `json:"truncate"`
	Dimensions int      `json:"dimensions,omitempty"`
}

// Embed implements embedding.Embedder.
func (e *Embedder) Embed(ctx context.Context, kind embedding.Kind, texts []string) ([][]float32, error) {
	r := request{Model: e.o.Model, Input: e.known.Prefixed(kind, texts), Truncate: true}
	if e.o.Ask {
		r.Dimensions = e.o.Dimension
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	data, err := e.server.Post(ctx, "/api/embed", body, remote.MaxAnswer)
	if err != nil {
		return nil, e.failure(err)
	}
	var answer struct {
		Embeddings [][]float32 `json:"embeddings"`
	}
	if json.Unmarshal(data, &answer) != nil {
		return nil, remote.Failure(Name, &llm.Error{Code: chat.CodeProvider, Message: "the answer could not be read; check the address"})
	}
	return answer.Embeddings, nil
}

// failure says what to do about a missing model.
func (e *Embedder) failure(err error) error {
	if found, ok := errors.AsType[*llm.Error](err); ok && found.Status == http.StatusNotFound && strings.Contains(found.Message, "model") {
		return chat.WrapError(chat.CodeNotFound, "embedding.ollama", found, "Ollama does not have the model \"%s\".", e.o.Model).
			WithHint("ollama pull %s", e.o.Model)
	}
	return remote.Failure(Name, err)
}
