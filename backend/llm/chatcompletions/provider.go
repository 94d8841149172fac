// Package chatcompletions implements the Chat Completions protocol for servers that support only that: Ollama, LM
// Studio, vLLM, llama.cpp, gateways (SPEC 9).
//
// It sends exactly the bytes from Encode and keeps every chunk byte for byte. A key is sent if there is one; local
// servers need none.
package chatcompletions

import (
	"context"
	"encoding/json"
	"net/http"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// Name is the adapter's name.
const Name = "chatcompletions"

// Provider implements llm.Provider, llm.ModelLister and llm.ModelDescriber. It is safe for concurrent use.
type Provider struct{ client *http.Client }

// New creates the adapter; a nil client means a suitable default.
func New(client *http.Client) *Provider { return &Provider{client: wire.Client(client)} }

// Name implements llm.Provider.
func (*Provider) Name() string { return Name }

// Stream implements llm.Provider.
func (p *Provider) Stream(ctx context.Context, ep llm.Endpoint, body json.RawMessage, yield func(chat.RawEvent) error) error {
	server, err := wire.OpenAI(p.client, ep)
	if err != nil {
		return err
	}
	return server.Stream(ctx, "/chat/completions", body, yield)
}

// ListModels implements llm.ModelLister.
func (p *Provider) ListModels(ctx context.Context, ep llm.Endpoint) ([]string, error) {
	server, err := wire.OpenAI(p.client, ep)
	if err != nil {
		return nil, err
	}
	ids, _, err := server.Models(ctx, "/models")
	return ids, err
}
