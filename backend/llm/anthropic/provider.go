// Package anthropic implements Anthropic's Messages API (SPEC 9; SRD 11.3).
//
// It sends exactly the bytes from Encode, once, and keeps every event byte for byte, including pings, unknown events
// and unknown blocks. It does not read the environment or the vendor's profile files: a key or address can only come
// from the Endpoint.
package anthropic

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// Name is the adapter's name.
const Name = "anthropic"

var vendor = wire.Vendor{Name: "Anthropic", Base: "https://api.anthropic.com", KeyEnv: "ANTHROPIC_API_KEY"}

// protocol is the version of the Messages API that the encoder writes and the decoder reads.
const protocol = "2023-06-01"

// Provider implements llm.Provider, llm.ModelLister and llm.ModelDescriber. It is safe for concurrent use.
type Provider struct{ client *http.Client }

// New creates the adapter; a nil client means a suitable default.
func New(client *http.Client) *Provider { return &Provider{client: wire.Client(client)} }

// Name implements llm.Provider.
func (*Provider) Name() string { return Name }

// Stream implements llm.Provider.
func (p *Provider) Stream(ctx context.Context, ep llm.Endpoint, body json.RawMessage, yield func(chat.RawEvent) error) error {
	server, err := p.server(ep)
	if err != nil {
		return err
	}
	return server.Stream(ctx, "/v1/messages", body, yield)
}

// maxPages limits the listing of a server that always announces another page.
const maxPages = 20

// ListModels implements llm.ModelLister.
func (p *Provider) ListModels(ctx context.Context, ep llm.Endpoint) ([]string, error) {
	cards, err := p.DescribeModels(ctx, ep)
	return lists.Map(cards, func(c llm.ModelCard) string { return c.ID }), err
}

// DescribeModels implements llm.ModelDescriber.
func (p *Provider) DescribeModels(ctx context.Context, ep llm.Endpoint) ([]llm.ModelCard, error) {
	server, err := p.server(ep)
	if err != nil {
		return nil, err
	}
	var all []llm.ModelCard
	path := "/v1/models?limit=1000"
	for range maxPages {
		cards, _, next, err := server.Cards(ctx, path)
		if err != nil {
			return nil, err
		}
		all = append(all, cards...)
		if next == "" {
			break
		}
		path = "/v1/models?limit=1000&after_id=" + url.QueryEscape(next)
	}
	return all, nil
}

func (p *Provider) server(ep llm.Endpoint) (wire.Server, error) {
	base, err := baseURL(ep.BaseURL)
	return wire.Server{
		Client: p.client, Endpoint: ep, Vendor: vendor, Base: base,
		KeyHeader: "X-Api-Key", Header: map[string]string{"Anthropic-Version": protocol},
	}, err
}

// baseURL returns the address without its version, which is part of the API's paths.
func baseURL(base string) (string, error) {
	if base == "" {
		return vendor.Base, nil
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
