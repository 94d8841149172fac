package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"contextinfinity/backend/internal/loopback"
)

// newHTTPClient returns a client for a single server: its headers are sent to no other server, and only redirects
// within its origin are followed.
func newHTTPClient(endpoint *url.URL, headers map[string]string, limits Limits, ss *session) (*http.Client, *serverTransport) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSHandshakeTimeout = 15 * time.Second
	t.IdleConnTimeout = 60 * time.Second
	t.MaxResponseHeaderBytes = 64 << 10
	transport := &serverTransport{next: t, endpoint: endpoint, headers: headers, maxBody: int64(limits.Frame), traffic: ss.traffic, life: ss.life}
	return &http.Client{
		Transport: transport,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch {
			case !sameOrigin(r.URL, endpoint):
				return errRedirect
			case len(via) > maxRedirects:
				return errRedirects
			}
			return nil
		},
	}, transport
}

// maxRedirects is how many redirects of a request are followed.
const maxRedirects = 5

var (
	errRedirect  = errors.New("the server redirects to another address, which is not followed: configure the right one")
	errRedirects = fmt.Errorf("the server redirects more than %d times: check its address", maxRedirects)
)

func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Host, b.Host)
}

// serverTransport adds the configured headers and limits what is not streamed.
type serverTransport struct {
	next     *http.Transport
	endpoint *url.URL
	headers  map[string]string
	maxBody  int64
	traffic  *traffic
	life     context.Context // of the session: pending requests end with it
	// signIn returns why a refused request cannot continue, or nil if the user can sign in. The SDK must not handle
	// this, because it ends the whole connection if a refused call was cancelled.
	signIn func(*http.Response) error
}

func (t *serverTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameOrigin(r.URL, t.endpoint) {
		return nil, errRedirect
	}
	if r.Method == http.MethodDelete { // the request that ends the session, which the SDK limits
		return t.send(r)
	}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(t.life, cancel)
	end := func() { stop(); cancel() }
	resp, err := t.send(r.WithContext(ctx))
	if err != nil {
		end()
		return nil, err
	}
	resp.Body = &tiedBody{resp.Body, end}
	return resp, nil
}

// tiedBody is a body with a function that is called after it is closed.
type tiedBody struct {
	io.ReadCloser
	end func()
}

func (b *tiedBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

func (t *serverTransport) send(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range t.headers {
		r.Header.Set(name, value)
	}
	if t.isAnswer(r) {
		defer t.traffic.countAnswer()
	}
	sent := attemptOf(r.Context())
	sent.begin()
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		if r.Method == http.MethodPost && isDial(err) {
			sent.refuse()
		}
		return nil, err
	}
	if r.Method == http.MethodPost {
		if refused(resp) {
			sent.refuse()
		}
		if t.signIn != nil && (resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden) {
			if err := t.signIn(resp); err != nil {
				_ = resp.Body.Close()
				return nil, err
			}
		}
	}
	// An event stream may continue indefinitely; each of its events is limited. The SDK reads errors completely,
	// whatever their type.
	media, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if strings.TrimSpace(strings.ToLower(media)) == "text/event-stream" && resp.StatusCode >= 200 && resp.StatusCode < 300 {
		resp.Body = newEventFilter(resp.Body, t.traffic, int(t.maxBody))
	} else {
		resp.Body = &boundedBody{ReadCloser: resp.Body, remaining: t.maxBody}
	}
	return resp, nil
}

// isAnswer reports whether an HTTP request contains a response to a request of the server.
func (t *serverTransport) isAnswer(r *http.Request) bool {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(body)
	return err == nil && t.traffic.isAnswer(data)
}

// attempt counts the requests of one call: its own, its repetition after signing in, and those that resume its
// response.
type attempt struct {
	mu            sync.Mutex
	sent, refused int
}

type attemptKey struct{}

func withAttempt(ctx context.Context) (context.Context, *attempt) {
	a := &attempt{}
	return context.WithValue(ctx, attemptKey{}, a), a
}

// attemptOf returns the attempt of the call that a request belongs to; nil: none.
func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

func (a *attempt) begin() {
	if a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.sent++
	}
}

func (a *attempt) refuse() {
	if a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.refused++
	}
}

// neverReached reports whether each request of the call was refused, or none was sent.
func (a *attempt) neverReached() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sent == a.refused
}

// refused reports whether a response proves that a request was not processed.
func refused(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusNotFound:
		return true
	case http.StatusForbidden:
		return needsScope(resp.Header)
	}
	return false
}

// needsScope reports whether a request was refused for lack of a permission that signing in again may grant.
func needsScope(h http.Header) bool {
	return strings.Contains(strings.Join(h.Values("WWW-Authenticate"), " "), "insufficient_scope")
}

// boundedBody is a body that fails if it is too large.
type boundedBody struct {
	io.ReadCloser
	remaining int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, errFrame
	}
	if int64(len(p)) > b.remaining {
		p = p[:b.remaining]
	}
	n, err := b.ReadCloser.Read(p)
	b.remaining -= int64(n)
	return n, err
}

// newOAuthClient returns a client for the addresses that a server names for signing in. A server on the internet cannot
// use it to reach addresses of this machine or its network; a local server can.
func newOAuthClient(endpoint *url.URL) *http.Client {
	internal := isInternalHost(endpoint.Hostname())
	dialer := &net.Dialer{Timeout: 15 * time.Second}
	guarded := &net.Dialer{Timeout: 15 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		if ip, err := netip.ParseAddr(host); err != nil || isInternalAddress(ip) {
			return errInternal
		}
		return nil
	}}
	t := http.DefaultTransport.(*http.Transport).Clone()
	proxied := t.Proxy
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		if !internal && isInternalHost(r.URL.Hostname()) {
			return nil, errInternal // before a proxy is used
		}
		return proxied(r)
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if internal || isProxy(ctx) {
			return dialer.DialContext(ctx, network, address)
		}
		return guarded.DialContext(ctx, network, address)
	}
	t.TLSHandshakeTimeout, t.ResponseHeaderTimeout, t.MaxResponseHeaderBytes = 15*time.Second, 30*time.Second, 64<<10
	return &http.Client{Timeout: time.Minute, Transport: &oauthTransport{next: t, proxy: proxied}, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > 5 || via[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
			return errRedirect
		}
		return nil
	}}
}

var errInternal = errors.New("the server named an address of this computer or its network for signing in, which is refused")

// oauthTransport limits responses, and marks requests through a proxy of this network.
type oauthTransport struct {
	next  *http.Transport
	proxy func(*http.Request) (*url.URL, error)
}

type proxyKey struct{}

func isProxy(ctx context.Context) bool { return ctx.Value(proxyKey{}) != nil }

func (t *oauthTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if proxyURL, err := t.proxy(r); err == nil && proxyURL != nil {
		r = r.WithContext(context.WithValue(r.Context(), proxyKey{}, true))
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, remaining: 1 << 20}
	return resp, nil
}

func (t *oauthTransport) CloseIdleConnections()  { t.next.CloseIdleConnections() }
func (t *serverTransport) CloseIdleConnections() { t.next.CloseIdleConnections() }

// isInternalHost reports whether a name or an address obviously belongs to this machine or its network.
func isInternalHost(host string) bool {
	if loopback.IsHost(host) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && isInternalAddress(ip)
}

func isInternalAddress(ip netip.Addr) bool {
	ip = embeddedIPv4(ip.Unmap())
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast() || ip.IsMulticast() || ip.IsUnspecified() || sharedAddresses.Contains(ip)
}

// embeddedIPv4 returns the IPv4 address that a gateway derives from an IPv6 address, for 64:ff9b::/96 (NAT64),
// 2002::/16 (6to4) and ::/96; otherwise ip.
func embeddedIPv4(ip netip.Addr) netip.Addr {
	if !ip.Is6() || ip.IsLoopback() || ip.IsUnspecified() {
		return ip
	}
	b := ip.As16()
	switch {
	case nat64Prefix.Contains(ip), ipv4CompatiblePrefix.Contains(ip):
		return netip.AddrFrom4([4]byte(b[12:]))
	case sixToFourPrefix.Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip
}

var (
	nat64Prefix          = netip.MustParsePrefix("64:ff9b::/96")
	sixToFourPrefix      = netip.MustParsePrefix("2002::/16")
	ipv4CompatiblePrefix = netip.MustParsePrefix("::/96")
)

// sharedAddresses are the addresses of providers' internal networks (RFC 6598).
var sharedAddresses = netip.MustParsePrefix("100.64.0.0/10")

// endpointOf parses the address of a server, whose placeholders must have been filled in.
func endpointOf(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the address must begin with http:// or https://")
	}
	return u, nil
}
