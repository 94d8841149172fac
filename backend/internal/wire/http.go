package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/heap"
	"contextinfinity/backend/internal/loopback"
	"contextinfinity/backend/llm"
)

// maxErrorBody limits what is read of an error response.
const maxErrorBody = 1 << 20

// Client prepares an HTTP client for providers; nil means a suitable default. Redirects are not followed, because the
// key would be sent to a host that was not configured. There is no overall timeout, because an answer may stream for
// minutes; the turn handles an idle stream.
func Client(base *http.Client) *http.Client {
	c := &http.Client{}
	if base != nil {
		*c = *base
	}
	if c.Transport == nil {
		c.Transport = defaultTransport()
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

func defaultTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.DialContext = (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	return t
}

// CheckBase parses the address of a server. It fails if no request could be sent to it. A query is kept, because some
// gateways require one (?api-version=...).
func CheckBase(base string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, &llm.Error{
			Code:    chat.CodeConfig,
			Message: "the address of the server is not a web address; it begins with http:// or https:// and a host",
		}
	}
	u.ForceQuery, u.Fragment = false, ""
	return u, nil
}

// versionedBase returns a base URL that ends in its version, as OpenAI's does: a host without a path gets /v1, and a
// pasted endpoint is shortened.
func versionedBase(base, vendor string) (string, error) {
	if base == "" {
		return vendor, nil
	}
	u, err := CheckBase(base)
	if err != nil {
		return "", err
	}
	path := strings.TrimRight(u.Path, "/")
	for _, tail := range []string{"/chat/completions", "/responses", "/models", "/embeddings"} {
		path = strings.TrimSuffix(path, tail)
	}
	path = cmp.Or(path, "/v1")
	u.Path, u.RawPath = path, ""
	return u.String(), nil
}

// missingKey returns the error for a vendor's own endpoint without a key.
func missingKey(v Vendor) *llm.Error {
	return (&llm.Error{Code: chat.CodeAuth}).Say(
		"there is no API key for %s; save one in Settings, or set %s before the program starts; nothing was sent",
		v.Name, v.KeyEnv)
}

// checkPlainKey refuses to send a key to another machine over plain http, where it can be intercepted, unless the
// endpoint allows that.
func checkPlainKey(ep llm.Endpoint, base string) error {
	if ep.Key == "" && len(ep.Hidden) == 0 || ep.AllowPlainHTTP || !loopback.Exposes(base) {
		return nil
	}
	return (&llm.Error{Code: chat.CodeConfig}).Say(
		"the address of %s is plain http, so the key could be read on the way; nothing was sent. "+
			"Use an https address, or set allow_plain_http if you trust the network", hostOf(base))
}

// receive reads a response to its end and yields its events.
func (s Server) receive(ctx context.Context, resp *http.Response, yield func(chat.RawEvent) error) error {
	src := bufio.NewReader(resp.Body)
	deliver, finish := filterSecrets(s.Endpoint.Secrets(), yield)
	kind, err := bodyKind(resp.Header.Get("Content-Type"), src)
	switch {
	case err != nil:
		return s.transportError(ctx, err)
	case kind == bodyPage:
		return (&llm.Error{Code: chat.CodeProvider, Status: resp.StatusCode}).Say(
			"%s answered with a web page instead of an answer; check the address of the server", hostOf(s.Base))
	case kind == bodyDocument:
		limit := eventLimit(s.Endpoint)
		limited := io.LimitReader(src, int64(limit)+1)
		data, err := io.ReadAll(io.LimitReader(limited, largeEvent))
		if len(data) == largeEvent {
			defer heap.Tighten()()
			data, err = io.ReadAll(io.MultiReader(bytes.NewReader(data), limited))
		}
		if err == nil && (len(data) > limit || tooDense(data)) {
			err = errEventTooLarge
		}
		if err != nil {
			return s.transportError(ctx, err)
		}
		return deliver(llm.EventResponse, data)
	}
	err = s.receiveEvents(ctx, src, deliver)
	if finishErr := finish(); err == nil {
		err = finishErr
	}
	return err
}

func (s Server) receiveEvents(ctx context.Context, src io.Reader, deliver func(string, []byte) error) error {
	events := newEventReader(src, eventLimit(s.Endpoint))
	events.alive = llm.Alive(ctx)
	for {
		ev, err := events.next()
		if errors.Is(err, io.EOF) {
			// A cancelled request can look like a normal end to the reader.
			if ctx.Err() != nil {
				return Cancelled(ctx)
			}
			return nil
		}
		if err == nil && tooDense(ev.data) {
			err = errEventTooLarge
		}
		if err != nil {
			return s.transportError(ctx, err)
		}
		ev.name = cmp.Or(ev.name, "message")
		if err := deliverEvent(ev, deliver); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return Cancelled(ctx)
		}
	}
}

func deliverEvent(ev event, deliver func(string, []byte) error) error {
	if len(ev.data) >= largeEvent {
		defer heap.Tighten()()
	}
	return deliver(ev.name, ev.data)
}

type body int

const (
	bodyEvents body = iota
	bodyDocument
	bodyPage
)

// bodyKind trusts a declared stream of events, also of JSON lines, and checks the first byte of anything else: servers mislabel both.
func bodyKind(contentType string, src *bufio.Reader) (body, error) {
	if strings.Contains(contentType, "event-stream") || strings.Contains(contentType, "ndjson") || strings.Contains(contentType, "jsonl") {
		return bodyEvents, nil
	}
	for {
		c, err := src.ReadByte()
		if errors.Is(err, io.EOF) {
			return bodyEvents, nil
		}
		if err != nil {
			return 0, err
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		}
		_ = src.UnreadByte()
		switch c {
		case '{', '[':
			return bodyDocument, nil
		case '<':
			return bodyPage, nil
		}
		return bodyEvents, nil
	}
}
