package wire

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// userAgent names the program in every request, but neither its version nor the machine.
const userAgent = "ContextInfinity"

// Server is the server that an adapter calls. A request is sent once: the callers decide about retries. The size of a
// response is limited.
type Server struct {
	Client   *http.Client // as returned by Client
	Endpoint llm.Endpoint
	Vendor   Vendor
	Base     string            // the address before paths, without a trailing slash; it may have a query
	Header   map[string]string // headers that the protocol requires in addition to the usual ones
	// KeyHeader sends the key unchanged; empty: "Authorization: Bearer KEY".
	KeyHeader string
}

// Vendor is the company that defines a protocol. Its own address requires a key.
type Vendor struct{ Name, Base, KeyEnv string }

// OpenAI returns the endpoint's server, by default OpenAI's own.
func OpenAI(client *http.Client, ep llm.Endpoint) (Server, error) {
	vendor := Vendor{Name: "OpenAI", Base: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY"}
	base, err := versionedBase(ep.BaseURL, vendor.Base)
	return Server{Client: client, Endpoint: ep, Vendor: vendor, Base: base}, err
}

// IsVendor reports whether the server is the vendor's own, not a compatible one.
func (s Server) IsVendor() bool { return s.Base == s.Vendor.Base }

// Stream posts a body and yields the events of the response. A response that is a single JSON document, requested or
// not, is one event of type llm.EventResponse.
func (s Server) Stream(ctx context.Context, path string, body []byte, yield func(chat.RawEvent) error) error {
	resp, err := s.send(ctx, http.MethodPost, path, "text/event-stream, application/json", body)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return s.receive(ctx, resp, yield)
}

// Post posts a body and returns the response, of which it reads at most this many bytes.
func (s Server) Post(ctx context.Context, path string, body []byte, limit int64) ([]byte, error) {
	return s.fetch(ctx, http.MethodPost, path, body, limit)
}

func (s Server) fetch(ctx context.Context, method, path string, body []byte, limit int64) ([]byte, error) {
	resp, err := s.send(ctx, method, path, "application/json", body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit))
	if err != nil {
		return nil, s.transportError(ctx, err)
	}
	return data, nil
}

// send sends one request. A response that is not a success is an error.
func (s Server) send(ctx context.Context, method, path, accept string, body []byte) (*http.Response, error) {
	if err := s.checkKey(); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, join(s.Base, path), bytes.NewReader(body))
	if err != nil {
		return nil, s.transportError(ctx, err)
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", userAgent)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range s.Header {
		req.Header.Set(name, value)
	}
	switch key, header := s.Endpoint.Key.Reveal(), cmp.Or(s.Endpoint.KeyHeader, s.KeyHeader, authorization); {
	case key == "":
	case strings.EqualFold(header, authorization):
		req.Header.Set(authorization, "Bearer "+key)
	default:
		req.Header.Set(header, key)
	}
	for name, value := range s.Endpoint.Headers {
		req.Header.Set(name, value.Reveal())
	}
	resp, err := s.Client.Do(req)
	if err != nil {
		return nil, s.transportError(ctx, err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, s.responseError(ctx, resp)
	}
	return resp, nil
}

const authorization = "Authorization"

// join appends a path, which may have a query, to an address, which may have one too.
func join(base, path string) string {
	address, query, both := strings.Cut(base, "?")
	if !both {
		return base + path
	}
	if strings.Contains(path, "?") {
		return address + path + "&" + query
	}
	return address + path + "?" + query
}

// checkKey refuses a key that no server would accept, or that would be sent unencrypted.
func (s Server) checkKey() error {
	if s.Endpoint.Key == "" && s.IsVendor() {
		return missingKey(s.Vendor)
	}
	for _, secret := range s.Endpoint.Secrets() {
		if strings.ContainsFunc(secret.Reveal(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return &llm.Error{Code: chat.CodeAuth, Message: "the API key contains a line break or another control character; save it again; nothing was sent"}
		}
	}
	return checkPlainKey(s.Endpoint, s.Base)
}
