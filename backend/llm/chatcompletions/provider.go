// Package chatcompletions speaks the Chat Completions protocol to whatever
// server has only that: Ollama, LM Studio, vLLM, llama.cpp, gateways (SPEC 9).
//
// It is plain HTTP. It sends exactly the bytes that Encode made and keeps every
// chunk byte for byte. A key is sent if there is one; local servers need none.
package chatcompletions

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// Name is the adapter's name.
const Name = "chatcompletions"

const vendorBase = "https://api.openai.com/v1"

// Provider implements llm.Provider and llm.ModelLister. It is safe for
// concurrent use.
type Provider struct{ client *http.Client }

// New makes the adapter; a nil client stands for a sound default.
func New(client *http.Client) *Provider { return &Provider{client: wire.Client(client)} }

// Name implements llm.Provider.
func (*Provider) Name() string { return Name }

// NewDecoder implements llm.Provider.
func (*Provider) NewDecoder(mode llm.ToolsMode) llm.Decoder { return newDecoder(mode) }

// Stream implements llm.Provider.
func (p *Provider) Stream(ctx context.Context, ep llm.Endpoint, body json.RawMessage, yield func(chat.RawEvent) error) error {
	base, resp, err := p.call(ctx, ep, http.MethodPost, "/chat/completions", body)
	if err != nil {
		return err
	}
	return wire.Receive(ctx, ep, base, resp, yield)
}

// ListModels implements llm.ModelLister.
func (p *Provider) ListModels(ctx context.Context, ep llm.Endpoint) ([]string, error) {
	_, resp, err := p.call(ctx, ep, http.MethodGet, "/models", nil)
	if err != nil {
		return nil, err
	}
	ids, _, err := wire.ReadModels(ep, resp)
	return ids, err
}

// call sends one request and returns the raw answer, whatever its status.
func (p *Provider) call(ctx context.Context, ep llm.Endpoint, method, path string, body []byte) (string, *http.Response, error) {
	base, err := wire.VersionedBase(ep.BaseURL, vendorBase)
	if err != nil {
		return "", nil, err
	}
	if ep.Key == "" && base == vendorBase {
		return "", nil, wire.MissingKey("OpenAI", "OPENAI_API_KEY")
	}
	if err := wire.CheckPlainKey(ep, base); err != nil {
		return "", nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(body))
	if err != nil {
		return "", nil, wire.TransportError(ctx, ep, base, err)
	}
	req.Header.Set("Accept", "text/event-stream, application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if ep.Key != "" {
		req.Header.Set("Authorization", "Bearer "+ep.Key.Reveal())
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return "", nil, wire.TransportError(ctx, ep, base, err)
	}
	return base, resp, nil
}
