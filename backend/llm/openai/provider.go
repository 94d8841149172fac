// Package openai implements OpenAI's Responses API (SPEC 9; SRD 11.2).
//
// It sends exactly the bytes from Encode, once, and keeps every event byte for byte, including unknown ones. It does
// not read the environment: a key or address can only come from the Endpoint.
package openai

import (
	"context"
	"encoding/json"
	"net/http"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// Name is the adapter's name.
const Name = "openai"

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
	return server.Stream(ctx, "/responses", body, yield)
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

// DescribeModels implements llm.ModelDescriber.
func (p *Provider) DescribeModels(ctx context.Context, ep llm.Endpoint) ([]llm.ModelCard, error) {
	server, err := wire.OpenAI(p.client, ep)
	if err != nil {
		return nil, err
	}
	cards, _, _, err := server.Cards(ctx, "/models")
	return cards, err
}
