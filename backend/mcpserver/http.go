package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
)

// Limits of the server over HTTP.
const (
	maxConnections = 64
	maxRequests    = 32 // handled at once
	maxSessions    = 64 // of all programs together, in protocol revisions that have sessions
	maxOwnSessions = 16 // of one program: at the next one, its oldest session ends
	sessionIdle    = 10 * time.Minute
	headerTime     = 10 * time.Second
	bodyTime       = 30 * time.Second
	idleTime       = time.Minute
	maxHeader      = 16 << 10
	maxToken       = 200
)

// Path is the path of the server's endpoint.
const Path = "/mcp"

// URL returns the address of the endpoint at a port.
func URL(port int) string { return fmt.Sprintf("http://127.0.0.1:%d%s", port, Path) }

// stateless is the first revision of the protocol without sessions.
const stateless = "2026-07-28"

// HTTP serves programs on this computer over streamable HTTP. Its methods are safe for concurrent use.
type HTTP struct {
	options Options

	mu       sync.Mutex
	server   *http.Server
	protocol *programs
	listener net.Listener
	port     int
	problem  string
}

// NewHTTP returns a server that does not listen yet.
func NewHTTP(o Options) *HTTP { o.Client = ""; return &HTTP{options: o} }

// Apply makes the server listen on a port of this computer; 0 stops it. A server on another port is stopped first.
func (h *HTTP) Apply(port int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server != nil && h.port == port {
		return nil
	}
	h.stop()
	h.port, h.problem = port, ""
	if port == 0 {
		return nil
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
	if err != nil {
		h.problem = fmt.Sprintf("Port %d is unavailable: another program is using it, or it is not permitted. Choose another: mcp.server.port.", port)
		return chat.WrapError(chat.CodeUnavailable, "mcp.http", err, "%s", h.problem)
	}
	h.serve(l)
	return nil
}

func (h *HTTP) serve(l net.Listener) {
	h.listener = &limited{Listener: l}
	h.protocol = &programs{options: h.options, servers: map[string]*mcp.Server{}}
	h.server = &http.Server{
		Handler:           h.options.handler(h.protocol, l.Addr().(*net.TCPAddr).Port),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       bodyTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, c)
		},
	}
	server, listener := h.server, h.listener
	go func() { _ = server.Serve(listener) }()
}

// Address returns the address of the running server, or an empty address and the reason why it does not run.
func (h *HTTP) Address() (address, problem string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server == nil {
		return "", h.problem
	}
	return "http://" + h.listener.Addr().String() + Path, ""
}

// Close stops the server.
func (h *HTTP) Close() { _ = h.Apply(0) }

// stop closes the server with its connections and sessions. The sessions have to be closed too: a program that waits
// for notifications would never end its session.
func (h *HTTP) stop() {
	if h.server == nil {
		return
	}
	_ = h.server.Close()
	h.protocol.close()
	h.server, h.protocol, h.listener = nil, nil, nil
}

// programs holds a separate protocol server for each program, so that a program that leaves its sessions open uses up
// only its own share.
type programs struct {
	options Options

	mu      sync.Mutex
	servers map[string]*mcp.Server
}

// serverFor returns the server of the program that a request comes from.
func (p *programs) serverFor(r *http.Request) *mcp.Server {
	p.mu.Lock()
	defer p.mu.Unlock()
	info := auth.TokenInfoFromContext(r.Context())
	if info == nil {
		return nil
	}
	if p.servers[info.UserID] == nil {
		p.servers[info.UserID] = newServer(p.options)
	}
	return p.servers[info.UserID]
}

// makeRoom makes room for one more session of a program. If there are too many, it ends the program's oldest session;
// the program reconnects if it still uses that one. It returns false if other programs use up the limit.
func (p *programs) makeRoom(r *http.Request) bool {
	server := p.serverFor(r)
	if server == nil {
		return true // without a valid token, the request is refused later
	}
	own, all := slices.Collect(server.Sessions()), p.sessions()
	if len(own) < maxOwnSessions && all < maxSessions {
		return true
	}
	if len(own) == 0 {
		return false
	}
	_ = own[0].Close()
	return true
}

func (p *programs) sessions() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.servers {
		for range s.Sessions() {
			n++
		}
	}
	return n
}

// close ends all sessions.
func (p *programs) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, server := range p.servers {
		for s := range server.Sessions() {
			_ = s.Close()
		}
	}
}

// handler serves the protocol to local programs that have a token.
func (o Options) handler(p *programs, port int) http.Handler {
	withSessions := mcp.NewStreamableHTTPHandler(p.serverFor, &mcp.StreamableHTTPOptions{MaxRequestBodyBytes: maxMessage, SessionTimeout: sessionIdle})
	without := mcp.NewStreamableHTTPHandler(p.serverFor, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
	})
	protocol := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= stateless {
			without.ServeHTTP(w, r)
			return
		}
		if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" && !p.makeRoom(r) {
			w.Header().Set("Retry-After", "60")
			http.Error(w, "Too many programs are connected.", http.StatusServiceUnavailable)
			return
		}
		withSessions.ServeHTTP(w, r)
	})
	verified := auth.RequireBearerToken(func(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
		if len(token) > maxToken {
			return nil, auth.ErrInvalidToken
		}
		info, err := o.verify(ctx, token)
		if err != nil && !errors.Is(err, auth.ErrInvalidToken) {
			return nil, errors.New("the token could not be checked: " + errorText(err))
		}
		if c, ok := r.Context().Value(connectionKey{}).(*counted); ok && err == nil {
			c.known.Store(true)
		}
		return info, err
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(protocol)
	return guard(port, verified)
}

// guard refuses requests that do not come from a program on this computer, and more than maxRequests at once.
func guard(port int, next http.Handler) http.Handler {
	busy := make(chan struct{}, maxRequests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !isThisServer(r.Host, port):
			http.Error(w, "This server can only be reached as 127.0.0.1 or localhost.", http.StatusForbidden)
			return
		case !isLocalOrigin(r.Header, port):
			http.Error(w, "Web pages may not use this server.", http.StatusForbidden)
			return
		case r.URL.Path != Path:
			http.NotFound(w, r)
			return
		}
		if r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		if r.Method == http.MethodGet { // a long-lived stream for notifications: the limit of connections bounds these
			next.ServeHTTP(w, r)
			return
		}
		select {
		case busy <- struct{}{}:
			defer func() { <-busy }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "Too many requests at once.", http.StatusServiceUnavailable)
		}
	})
}

// isThisServer reports whether a Host header names this server. After DNS rebinding, the header has the attacker's host
// name.
func isThisServer(host string, port int) bool {
	name, p, err := net.SplitHostPort(host)
	if err != nil || p != fmt.Sprint(port) {
		return false
	}
	return name == "127.0.0.1" || strings.EqualFold(name, "localhost")
}

// isLocalOrigin reports whether a request has no Origin, as programs send it, or this server's own.
func isLocalOrigin(h http.Header, port int) bool {
	for _, origin := range h.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" || !isThisServer(u.Host, port) {
			return false
		}
	}
	return true
}

// connectionKey is the key of a request's connection in its context.
type connectionKey struct{}

// limited is a listener that limits the number of open connections. At the limit, a new one takes the place of the
// oldest that has not shown a valid token: whoever has none cannot keep out those who have.
type limited struct {
	net.Listener

	mu   sync.Mutex
	open []*counted // the oldest first
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &counted{Conn: accepted, listener: l}
		l.mu.Lock()
		var oldest *counted
		if len(l.open) >= maxConnections {
			if i := slices.IndexFunc(l.open, func(o *counted) bool { return !o.known.Load() }); i >= 0 {
				oldest = l.open[i]
			} else {
				oldest = c
			}
		}
		l.open = append(l.open, c)
		l.mu.Unlock()
		if oldest != nil {
			_ = oldest.Close()
		}
		if oldest != c {
			return c, nil
		}
	}
}

type counted struct {
	net.Conn
	listener *limited
	known    atomic.Bool // a request on it had a valid token
}

func (c *counted) Close() error {
	c.listener.mu.Lock()
	c.listener.open = slices.DeleteFunc(c.listener.open, func(o *counted) bool { return o == c })
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
