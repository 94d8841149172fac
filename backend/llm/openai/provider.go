// Package openai speaks OpenAI's Responses API through the vendor's SDK (SPEC 9;
// SRD 11.2).
//
// The SDK carries the request: it sends exactly the bytes that Encode made, once
// (its retries are off), and hands over the raw answer. Events are read from
// that answer directly, so each is kept byte for byte, also those the SDK does
// not know. Nothing is taken from the environment: a key or address reaches this
// package in the Endpoint or not at all.
package openai

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/internal/responses"
)

// Name is the adapter's name.
const Name = responses.Provider

const vendorBase = "https://api.openai.com/v1"

// Provider implements llm.Provider and llm.ModelLister. It is safe for
// concurrent use.
type Provider struct{ client *http.Client }

// New makes the adapter; a nil client stands for a sound default.
func New(client *http.Client) *Provider { return &Provider{client: wire.Client(client)} }

// Name implements llm.Provider.
func (*Provider) Name() string { return Name }

// NewDecoder implements llm.Provider.
func (*Provider) NewDecoder(mode llm.ToolsMode) llm.Decoder { return responses.NewDecoder(mode) }

// Encode implements llm.Provider.
func (*Provider) Encode(r llm.Request) (json.RawMessage, error) { return responses.Encode(r) }

// Stream implements llm.Provider.
func (p *Provider) Stream(ctx context.Context, ep llm.Endpoint, body json.RawMessage, yield func(chat.RawEvent) error) error {
	base, resp, err := p.call(ctx, ep, http.MethodPost, "responses",
		option.WithRequestBody("application/json", []byte(body)),
		option.WithHeader("Accept", "text/event-stream, application/json"))
	if err != nil {
		return err
	}
	return wire.Receive(ctx, ep, base, resp, yield)
}

// ListModels implements llm.ModelLister.
func (p *Provider) ListModels(ctx context.Context, ep llm.Endpoint) ([]string, error) {
	_, resp, err := p.call(ctx, ep, http.MethodGet, "models")
	if err != nil {
		return nil, err
	}
	ids, _, err := wire.ReadModels(ep, resp)
	return ids, err
}

// call sends one request and returns the raw answer, whatever its status.
func (p *Provider) call(ctx context.Context, ep llm.Endpoint, method, path string, extra ...option.RequestOption) (string, *http.Response, error) {
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
	opts := []option.RequestOption{
		option.WithHTTPClient(p.client), option.WithBaseURL(base), option.WithMaxRetries(0),
	}
	if ep.Key != "" {
		opts = append(opts, option.WithAPIKey(ep.Key.Reveal()))
	}
	// NewClient would read keys and headers from the environment; a bare client does not.
	client := openai.Client{Options: opts}
	var resp *http.Response
	err = client.Execute(ctx, method, path, nil, &resp, extra...)
	if resp != nil && (err == nil || resp.StatusCode >= 400) {
		return base, resp, nil
	}
	return base, nil, wire.TransportError(ctx, ep, base, err)
}
