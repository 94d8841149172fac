// Package anthropic speaks Anthropic's Messages API through the vendor's SDK
// (SPEC 9; SRD 11.3).
//
// The SDK carries the request: it sends exactly the bytes that Encode made, once
// (its retries are off), and hands over the raw answer. Events are read from
// that answer directly, so pings, unknown events and unknown blocks are kept
// byte for byte. Nothing is taken from the environment or from the vendor's
// profile files: a key or address reaches this package in the Endpoint or not at
// all.
package anthropic

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/internal/messages"
)

// Name is the adapter's name.
const Name = messages.Provider

const vendorBase = "https://api.anthropic.com"

// Provider implements llm.Provider and llm.ModelLister. It is safe for
// concurrent use.
type Provider struct{ client *http.Client }

// New makes the adapter; a nil client stands for a sound default.
func New(client *http.Client) *Provider { return &Provider{client: wire.Client(client)} }

// Name implements llm.Provider.
func (*Provider) Name() string { return Name }

// NewDecoder implements llm.Provider.
func (*Provider) NewDecoder(mode llm.ToolsMode) llm.Decoder { return messages.NewDecoder(mode) }

// Encode implements llm.Provider.
func (*Provider) Encode(r llm.Request) (json.RawMessage, error) { return messages.Encode(r) }

// Stream implements llm.Provider.
func (p *Provider) Stream(ctx context.Context, ep llm.Endpoint, body json.RawMessage, yield func(chat.RawEvent) error) error {
	base, resp, err := p.call(ctx, ep, http.MethodPost, "v1/messages",
		option.WithRequestBody("application/json", []byte(body)),
		option.WithHeader("Accept", "text/event-stream, application/json"))
	if err != nil {
		return err
	}
	return wire.Receive(ctx, ep, base, resp, yield)
}

// maxPages bounds a listing whose server always promises another page.
const maxPages = 20

// ListModels implements llm.ModelLister.
func (p *Provider) ListModels(ctx context.Context, ep llm.Endpoint) ([]string, error) {
	var all []string
	path := "v1/models?limit=1000"
	for range maxPages {
		_, resp, err := p.call(ctx, ep, http.MethodGet, path)
		if err != nil {
			return nil, err
		}
		ids, next, err := wire.ReadModels(ep, resp)
		if err != nil {
			return nil, err
		}
		all = append(all, ids...)
		if next == "" {
			break
		}
		path = "v1/models?limit=1000&after_id=" + url.QueryEscape(next)
	}
	return all, nil
}

// call sends one request and returns the raw answer, whatever its status.
func (p *Provider) call(ctx context.Context, ep llm.Endpoint, method, path string, extra ...option.RequestOption) (string, *http.Response, error) {
	base, err := baseURL(ep.BaseURL)
	if err != nil {
		return "", nil, err
	}
	if ep.Key == "" && base == vendorBase {
		return "", nil, wire.MissingKey("Anthropic", "ANTHROPIC_API_KEY")
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
	// NewClient would look for keys in the environment and in profile files; a
	// bare client does not.
	client := anthropic.Client{Options: opts}
	var resp *http.Response
	err = client.Execute(ctx, method, path, nil, &resp, extra...)
	if resp != nil && (err == nil || resp.StatusCode >= 400) {
		return base, resp, nil
	}
	return base, nil, wire.TransportError(ctx, ep, base, err)
}

// baseURL is the address without its version, which the API's paths carry.
func baseURL(base string) (string, error) {
	if base == "" {
		return vendorBase, nil
	}
	u, err := wire.CheckBase(base)
	if err != nil {
		return "", err
	}
	path := strings.TrimRight(u.Path, "/")
	path = strings.TrimSuffix(path, "/messages")
	u.Path, u.RawPath = strings.TrimSuffix(path, "/v1"), ""
	return u.String(), nil
}
