// Package reranking scores passages with a model, through the /rerank endpoint of a server, as in llama.cpp, vLLM, Jina
// and Cohere. It sends each request only once: a search does not wait for a second attempt, but continues with the
// unchanged order.
package reranking

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// maxAnswer limits how many bytes of an answer are read. Some servers send the passages back.
const maxAnswer = 8 << 20

// Options select the server and the model.
type Options struct {
	Client  *http.Client // nil: a suitable default
	BaseURL string       // with or without /rerank at its end
	Key     llm.Secret   // empty: none is sent
	// AllowPlainHTTP permits sending the key to another machine over plain http.
	AllowPlainHTTP bool
	Model          string // empty: the server's only model
}

// Reranker scores passages. It is safe for concurrent use.
type Reranker struct {
	model  string
	server wire.Server
}

// New creates a reranker. It sends nothing.
func New(o Options) (*Reranker, error) {
	u, err := wire.CheckBase(o.BaseURL)
	if err != nil {
		return nil, chat.Errorf(chat.CodeConfig, "rerank.new", "The reranker's address %q is not a web address.", o.BaseURL).
			WithHint("correct retrieval.reranker_base_url")
	}
	u.Path, u.RawPath = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/rerank"), ""
	return &Reranker{model: o.Model, server: wire.Server{
		Client: wire.Client(o.Client), Base: u.String(),
		Endpoint: llm.Endpoint{Key: o.Key, AllowPlainHTTP: o.AllowPlainHTTP},
	}}, nil
}

type request struct {
	Model     string   `json:"model,omitempty"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
}

type answer struct {
	Results []struct {
		Index int      `json:"index"`
		Score *float64 `json:"relevance_score"`
	} `json:"results"`
}

// Rerank returns a score for each passage, in their order; a higher one is more relevant.
func (r *Reranker) Rerank(ctx context.Context, query string, passages []string) ([]float64, error) {
	body, err := json.Marshal(request{Model: r.model, Query: query, Documents: passages})
	if err != nil {
		return nil, err
	}
	data, err := r.server.Post(ctx, "/rerank", body, maxAnswer)
	if err != nil {
		return nil, failure(err)
	}
	var a answer
	if json.Unmarshal(data, &a) != nil {
		return nil, unusable("is not valid JSON")
	}
	scores, seen := make([]float64, len(passages)), make([]bool, len(passages))
	for _, result := range a.Results {
		if result.Index < 0 || result.Index >= len(passages) || result.Score == nil || math.IsNaN(*result.Score) || math.IsInf(*result.Score, 0) || seen[result.Index] {
			return nil, unusable("has an invalid score, or one for a passage that was not sent")
		}
		scores[result.Index], seen[result.Index] = *result.Score, true
	}
	if len(a.Results) != len(passages) {
		return nil, unusable("has no score for some of the passages")
	}
	return scores, nil
}

func unusable(problem string) error {
	return chat.Errorf(chat.CodeProvider, "rerank", "The reranker's response %s.", problem).
		WithHint("check retrieval.reranker_base_url and retrieval.reranker_model")
}

// failure converts an error to one for users; wire has removed keys from its text.
func failure(err error) error {
	var e *llm.Error
	if !errors.As(err, &e) {
		return err
	}
	return chat.WrapError(e.Code, "rerank", e, "The reranker could not be used: %s.", e).
		WithHint("check retrieval.reranker_base_url, or leave it empty to search without a reranker")
}
