package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/display"
)

// clientSecretName is the name, in the keyring, of the secret of a manually registered client.
const clientSecretName = "oauth_client_secret" //nolint:gosec // a name, not a secret

// grant is the result of signing in, as stored in the keyring.
type grant struct {
	Endpoint string       `json:"endpoint"` // of the server: a grant for another address is never used
	ClientID string       `json:"client_id"`
	Secret   string       `json:"client_secret,omitempty"`
	TokenURL string       `json:"token_url"`
	Style    int          `json:"auth_style,omitempty"`
	Scopes   []string     `json:"scopes,omitempty"`
	Token    oauth2.Token `json:"token"`
}

// signIn is a sign-in in the browser, until the server is ready.
type signIn struct {
	port    int
	open    func(url string) error
	server  *http.Server
	serving sync.WaitGroup
	closed  atomic.Bool // no further sign-in is started

	mu      sync.Mutex
	waiting map[string]chan<- browserResult // by state
}

// browserResult is what the browser sent back.
type browserResult struct {
	*auth.AuthorizationResult
	err error
}

// newSignIn listens on this machine for the browser's redirect.
func newSignIn(port int, open func(string) error) (*signIn, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, &permanentError{chat.Say("Port %d of this computer, to which the browser should return, is in use.", port), err}
	}
	in := &signIn{port: l.Addr().(*net.TCPAddr).Port, open: open, waiting: map[string]chan<- browserResult{}}
	in.server = &http.Server{MaxHeaderBytes: 64 << 10, ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(in.callback)}
	in.serving.Go(func() { _ = in.server.Serve(l) })
	return in, nil
}

// close stops listening. It may be called twice.
func (in *signIn) close() {
	in.closed.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // the final page is still being sent
	defer cancel()
	_ = in.server.Shutdown(ctx)
	_ = in.server.Close()
	in.serving.Wait()
}

// callback handles the browser's redirect.
func (in *signIn) callback(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	in.mu.Lock()
	done := in.waiting[q.Get("state")]
	delete(in.waiting, q.Get("state"))
	in.mu.Unlock()
	if r.URL.Path != "/callback" || done == nil {
		http.NotFound(w, r) // not the response to our request
		return
	}
	res := browserResult{AuthorizationResult: &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}}
	message := "You are signed in. You can close this page."
	if q.Get("code") == "" {
		res.err = &permanentError{chat.Say("You were not signed in: the page returned %s.", display.Shorten(clean(q.Get("error")), 100)), errSignIn}
		message = "You were not signed in. You can close this page."
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, "<!doctype html><title>ContextInfinity</title><p>%s</p>", message)
	done <- res
}

// fetch opens the sign-in page, and waits for the browser's redirect. internal: the server is on this machine or its
// network, so its page may be too.
func (in *signIn) fetch(ctx context.Context, args *auth.AuthorizationArgs, internal bool) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(args.URL)
	switch {
	case err != nil || u.Scheme != "https" && (u.Scheme != "http" || !isInternalHost(u.Hostname())):
		return nil, &permanentError{chat.Say("The sign-in page that it names is not https, so it was not opened."), err}
	case !internal && isInternalHost(u.Hostname()):
		return nil, errInternal
	}
	done := make(chan browserResult, 1)
	state := u.Query().Get("state")
	in.mu.Lock()
	in.waiting[state] = done
	in.mu.Unlock()
	defer func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		delete(in.waiting, state)
	}()
	if err := in.open(args.URL); err != nil {
		return nil, &permanentError{chat.Say("The sign-in page could not be opened in a browser."), err}
	}
	select {
	case res := <-done:
		return res.AuthorizationResult, res.err
	case <-ctx.Done():
		return nil, &permanentError{chat.Say("Nobody signed in."), errors.Join(errSignIn, ctx.Err())}
	}
}

// newOAuth returns the handler that authorizes requests to a server. Without a signIn, a server that requires one fails
// with errSignIn.
func (s *server) newOAuth(cfg config.MCPServer, endpoint *url.URL, secret func(string) (string, error), in *signIn) (auth.OAuthHandler, error) {
	client := newOAuthClient(endpoint)
	port := cfg.OAuthPort
	fetch := func(context.Context, *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		return nil, errSignIn
	}
	if in != nil {
		port = in.port
		fetch = func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return in.fetch(ctx, args, isInternalHost(endpoint.Hostname()))
		}
	}
	if port == 0 {
		port = 1 // unused: without a signIn no page is opened that could redirect to it
	}
	redirectURL := fmt.Sprintf("http://127.0.0.1:%d/callback", port)
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: redirectURL, AuthorizationCodeFetcher: fetch, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: client,
		NewTokenSource: func(ctx context.Context, o *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			return s.storeSignIn(ctx, endpoint, o, t), nil
		},
	}
	source, scopes := s.savedSignIn(endpoint, client)
	c.InitialTokenSource = source
	// Scopes granted before are requested again together with the new ones.
	c.ScopeFilter = func(found []string) []string { return union(scopes, found) }
	if cfg.OAuthClientID != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: cfg.OAuthClientID}
		if text, err := secret(clientSecretName); err == nil {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: text}
		}
	} else {
		c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "ContextInfinity", RedirectURIs: []string{redirectURL},
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}}
	}
	h, err := auth.NewAuthorizationCodeHandler(c)
	if err != nil {
		return nil, err
	}
	return &signInHandler{h, s, in}, nil
}

// challenge is a server's refusal, in particular the requested scopes.
type challenge struct {
	status int
	header http.Header
}

func (s *server) wasChallenged() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.challenged != nil
}

// answerChallenge signs in for the last refused request: reconnecting alone may not require a sign-in, and then the
// request would be refused again.
func (s *server) answerChallenge(ctx context.Context, h auth.OAuthHandler, endpoint *url.URL) error {
	s.mu.Lock()
	c := s.challenged
	s.challenged = nil
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.String(), nil)
	if err != nil {
		return err
	}
	return h.Authorize(ctx, req, &http.Response{StatusCode: c.status, Header: c.header, Body: http.NoBody, Request: req})
}

// signInHandler starts a sign-in if the user is present. Otherwise it registers no client and fetches nothing.
type signInHandler struct {
	auth.OAuthHandler
	s  *server
	in *signIn
}

func (h *signInHandler) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	err := h.refuse(resp)
	if err == nil {
		return h.OAuthHandler.Authorize(ctx, req, resp)
	}
	_ = resp.Body.Close()
	return err
}

// refuse returns nil if a sign-in can start. Otherwise it records the refusal, so that a later sign-in can ask for the
// same scopes, and returns the error.
func (h *signInHandler) refuse(resp *http.Response) error {
	if h.in != nil && !h.in.closed.Load() {
		return nil
	}
	if resp.StatusCode == http.StatusForbidden && !needsScope(resp.Header) {
		return &permanentError{chat.Say("It refuses access (403): this account may not use it, or its key is wrong."), nil}
	}
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	h.s.challenged = &challenge{resp.StatusCode, resp.Header.Clone()}
	return errSignIn
}

// storeSignIn stores the result of signing in, now and whenever it is renewed.
func (s *server) storeSignIn(ctx context.Context, endpoint *url.URL, o *oauth2.Config, t *oauth2.Token) oauth2.TokenSource {
	g := grant{
		Endpoint: endpoint.String(), ClientID: o.ClientID, Secret: o.ClientSecret, TokenURL: o.Endpoint.TokenURL,
		Style: int(o.Endpoint.AuthStyle), Scopes: o.Scopes, Token: *t,
	}
	s.saveGrant(g)
	return &savedSource{s: s, grant: g, next: o.TokenSource(ctx, t)}
}

// savedSignIn returns the result of an earlier sign-in; nil if there is none for this address.
func (s *server) savedSignIn(endpoint *url.URL, client *http.Client) (oauth2.TokenSource, []string) {
	text, ok := s.m.deps.Secret(s.name, grantName)
	var g grant
	if !ok || json.Unmarshal([]byte(text), &g) != nil || g.Endpoint != endpoint.String() {
		return nil, nil
	}
	s.hide(g.Token.AccessToken, g.Token.RefreshToken, g.Secret)
	o := &oauth2.Config{ClientID: g.ClientID, ClientSecret: g.Secret, Scopes: g.Scopes, Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: oauth2.AuthStyle(g.Style)}}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, client)
	return &savedSource{s: s, grant: g, next: o.TokenSource(ctx, &g.Token)}, g.Scopes
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// grantName is the key of the sign-in's result in the keyring.
const grantName = "oauth"

func (s *server) saveGrant(g grant) {
	s.hide(g.Token.AccessToken, g.Token.RefreshToken, g.Secret)
	text, err := json.Marshal(g) //nolint:gosec // for the keyring
	if err == nil {
		err = s.m.deps.SetSecret(s.name, grantName, string(text))
	}
	if err != nil {
		s.log.add(FromProgram, "The sign-in could not be saved: you will be asked again at the next start.")
	}
}

// savedSource returns tokens and stores new ones.
type savedSource struct {
	s    *server
	next oauth2.TokenSource

	mu    sync.Mutex
	grant grant
}

func (k *savedSource) Token() (*oauth2.Token, error) {
	t, err := k.next.Token()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if t.AccessToken != k.grant.Token.AccessToken {
		k.grant.Token = *t
		k.s.saveGrant(k.grant)
	}
	return t, nil
}
