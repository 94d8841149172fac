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

// newHTTPClient is for a single server: its headers are sent to no other, and redirects are not followed.
func newHTTPClient(endpoint *url.URL, headers map[string]string, limits Limits, ss *session) (*http.Client, *serverTransport) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSHandshakeTimeout = 15 * time.Second
	t.IdleConnTimeout = 60 * time.Second
	t.MaxResponseHeaderBytes = 64 << 10
	web := &serverTransport{next: t, endpoint: endpoint, headers: headers, most: int64(limits.Frame), traffic: ss.traffic, life: ss.life}
	return &http.Client{
		Transport: web,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if !sameOrigin(r.URL, endpoint) || len(via) > 5 {
				return errRedirect
			}
			return nil
		},
	}, web
}

var errRedirect = errors.New("the server redirects to another address, which is not followed: configure the right one")

func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Host, b.Host)
}

// serverTransport adds the configured headers and limits what is not streamed.
type serverTransport struct {
	next     *http.Transport
	endpoint *url.URL
	headers  map[string]string
	most     int64
	traffic  *traffic
	life     context.Context // of the session: pending requests end with it
	// signIn says why a refused request cannot continue; nil if the user can sign in. The SDK must not handle this:
	// it ends the whole connection if a refused call was cancelled.
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
	resp.Body = &tied{resp.Body, end}
	return resp, nil
}

// tied is a body with something to close after it.
type tied struct {
	io.ReadCloser
	end func()
}

func (b *tied) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

func (t *serverTransport) send(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range t.headers {
		r.Header.Set(name, value)
	}
	if t.answers(r) {
		defer t.traffic.answered()
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
		resp.Body = newEventFilter(resp.Body, t.traffic, int(t.most))
	} else {
		resp.Body = &bounded{ReadCloser: resp.Body, left: t.most}
	}
	return resp, nil
}

// answers reports an HTTP request that contains a response to the server's request.
func (t *serverTransport) answers(r *http.Request) bool {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(body)
	return err == nil && t.traffic.answers(data)
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

// attemptOf is the attempt of the call for which a request is sent; nil: none.
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

// neverReached reports that each request of the call was refused, or that there was none.
func (a *attempt) neverReached() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sent == a.refused
}

// refused reports a response that proves that a request was not processed.
func refused(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusNotFound:
		return true
	case http.StatusForbidden:
		return wantsScope(resp.Header)
	}
	return false
}

// wantsScope reports a refusal because of a permission that signing in again may grant.
func wantsScope(h http.Header) bool {
	return strings.Contains(strings.Join(h.Values("WWW-Authenticate"), " "), "insufficient_scope")
}

// bounded fails if a body is too large.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errFrame
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

// newOAuthClient fetches a server's sign-in addresses. A server on the internet cannot use it to reach addresses of
// this machine or its network; a local one can.
func newOAuthClient(endpoint *url.URL) *http.Client {
	inside := insideHost(endpoint.Hostname())
	dialer := &net.Dialer{Timeout: 15 * time.Second}
	guarded := &net.Dialer{Timeout: 15 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		if ip, err := netip.ParseAddr(host); err != nil || insideAddress(ip) {
			return errInside
		}
		return nil
	}}
	t := http.DefaultTransport.(*http.Transport).Clone()
	proxied := t.Proxy
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		if !inside && insideHost(r.URL.Hostname()) {
			return nil, errInside // before a proxy is asked
		}
		return proxied(r)
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if inside || isProxy(ctx) {
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

var errInside = errors.New("the server named an address of this computer or its network for signing in, which is refused")

// oauthTransport limits responses, and marks requests through a proxy of this network.
type oauthTransport struct {
	next  *http.Transport
	proxy func(*http.Request) (*url.URL, error)
}

type proxyKey struct{}

func isProxy(ctx context.Context) bool { return ctx.Value(proxyKey{}) != nil }

func (t *oauthTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if to, err := t.proxy(r); err == nil && to != nil {
		r = r.WithContext(context.WithValue(r.Context(), proxyKey{}, true))
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = &bounded{ReadCloser: resp.Body, left: 1 << 20}
	return resp, nil
}

func (t *oauthTransport) CloseIdleConnections()  { t.next.CloseIdleConnections() }
func (t *serverTransport) CloseIdleConnections() { t.next.CloseIdleConnections() }

// insideHost reports a name or an address that obviously belongs to this machine or network.
func insideHost(host string) bool {
	if loopback.IsHost(host) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && insideAddress(ip)
}

func insideAddress(ip netip.Addr) bool {
	ip = embedded(ip.Unmap())
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast() || ip.IsMulticast() || ip.IsUnspecified() || sharedAddresses.Contains(ip)
}

// embedded is the IPv4 address that a gateway derives from an IPv6 address, if it does: for 64:ff9b::/96 (NAT64),
// 2002::/16 (6to4) and ::/96.
func embedded(ip netip.Addr) netip.Addr {
	if !ip.Is6() || ip.IsLoopback() || ip.IsUnspecified() {
		return ip
	}
	b := ip.As16()
	switch {
	case translated.Contains(ip), compatible.Contains(ip):
		return netip.AddrFrom4([4]byte(b[12:]))
	case tunnelled.Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip
}

var (
	translated = netip.MustParsePrefix("64:ff9b::/96")
	tunnelled  = netip.MustParsePrefix("2002::/16")
	compatible = netip.MustParsePrefix("::/96")
)

// sharedAddresses are those of providers' internal networks (RFC 6598).
var sharedAddresses = netip.MustParsePrefix("100.64.0.0/10")

// endpointOf parses the address of a server after filling in placeholders.
func endpointOf(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the address must begin with http:// or https://")
	}
	return u, nil
}
