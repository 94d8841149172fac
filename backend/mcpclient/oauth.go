package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"contextinfinity/backend/config"
)

// clientSecretName is the secret of a client that was registered by hand, in the keyring.
const clientSecretName = "oauth_client_secret"

// grant is what signing in gave, as the keyring keeps it.
type grant struct {
	Endpoint string       `json:"endpoint"` // of the server: a grant of another address is never used
	ClientID string       `json:"client_id"`
	Secret   string       `json:"client_secret,omitempty"`
	TokenURL string       `json:"token_url"`
	Style    int          `json:"auth_style,omitempty"`
	Scopes   []string     `json:"scopes,omitempty"`
	Token    oauth2.Token `json:"token"`
}

// signIn is a person's way through a browser and back, in one attempt to connect.
type signIn struct {
	listener net.Listener
	open     func(url string) error
}

// newSignIn listens for the browser to come back, on this machine alone.
func newSignIn(port int, open func(string) error) (*signIn, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, &permanentError{fmt.Sprintf("Port %d of this machine, to which the browser would come back, is taken.", port), err}
	}
	return &signIn{listener: l, open: open}, nil
}

// newOAuth authorizes requests to a server. Without a signIn nobody is asked: a server that wants
// one fails with errSignIn.
func (s *server) newOAuth(cfg config.MCPServer, endpoint *url.URL, secret func(string) (string, error), in *signIn) (auth.OAuthHandler, error) {
	client := newOAuthClient(endpoint)
	port := cfg.OAuthPort
	fetch := func(context.Context, *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		return nil, errSignIn
	}
	if in != nil {
		port = in.listener.Addr().(*net.TCPAddr).Port
		fetch = in.fetch
	}
	if port == 0 {
		port = 1 // nobody comes back to it: without a signIn there is no way out
	}
	back := fmt.Sprintf("http://127.0.0.1:%d/callback", port)
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: back, AuthorizationCodeFetcher: fetch, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: client,
		NewTokenSource: func(ctx context.Context, o *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			return s.keep(ctx, endpoint, o, t), nil
		},
		InitialTokenSource: s.kept(endpoint, client),
	}
	if cfg.OAuthClientID != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: cfg.OAuthClientID}
		if text, err := secret(clientSecretName); err == nil {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: text}
		}
	} else {
		c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "ContextInfinity", RedirectURIs: []string{back},
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}}
	}
	h, err := auth.NewAuthorizationCodeHandler(c)
	if err != nil {
		return nil, err
	}
	if in == nil {
		return &quiet{h}, nil
	}
	return h, nil
}

// quiet signs nobody in: it registers no client and fetches nothing for a way that nobody takes.
type quiet struct{ auth.OAuthHandler }

func (q *quiet) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusForbidden && !strings.Contains(strings.Join(resp.Header.Values("WWW-Authenticate"), " "), "insufficient_scope") {
		return &permanentError{"It refuses access (403): nobody who signs in here may use it, or its key is wrong.", nil}
	}
	return errSignIn
}

// fetch shows the page to sign in on, and waits until the browser comes back.
func (in *signIn) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(args.URL)
	if err != nil || u.Scheme != "https" && (u.Scheme != "http" || !insideHost(u.Hostname())) {
		return nil, &permanentError{"It names a page to sign in on that is not https, which is not opened.", err}
	}
	type result struct {
		*auth.AuthorizationResult
		err error
	}
	done := make(chan result, 1)
	server := &http.Server{MaxHeaderBytes: 64 << 10, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.URL.Path != "/callback" || q.Get("state") != u.Query().Get("state") {
			http.NotFound(w, r) // not the answer to this question
			return
		}
		res := result{AuthorizationResult: &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}}
		words := "You are signed in. You can close this page."
		if q.Get("code") == "" {
			res.err = &permanentError{"You were not signed in: the page answered " + clean(cut(q.Get("error"), 100)) + ".", errSignIn}
			words = "You were not signed in. You can close this page."
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, "<!doctype html><title>ContextInfinity</title><p>%s</p>", html.EscapeString(words))
		select {
		case done <- res:
		default:
		}
	})}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(in.listener) })
	defer func() { _ = server.Shutdown(context.WithoutCancel(ctx)); _ = server.Close(); serving.Wait() }()
	if err := in.open(args.URL); err != nil {
		return nil, &permanentError{"The page to sign in on could not be opened in a browser.", err}
	}
	select {
	case res := <-done:
		return res.AuthorizationResult, res.err
	case <-ctx.Done():
		return nil, &permanentError{"Nobody signed in.", errors.Join(errSignIn, ctx.Err())}
	}
}

func (in *signIn) close() { _ = in.listener.Close() }

// keep stores what signing in gave, now and whenever it is renewed.
func (s *server) keep(ctx context.Context, endpoint *url.URL, o *oauth2.Config, t *oauth2.Token) oauth2.TokenSource {
	g := grant{
		Endpoint: endpoint.String(), ClientID: o.ClientID, Secret: o.ClientSecret, TokenURL: o.Endpoint.TokenURL,
		Style: int(o.Endpoint.AuthStyle), Scopes: o.Scopes, Token: *t,
	}
	s.saveGrant(g)
	return &keptSource{s: s, grant: g, next: o.TokenSource(ctx, t)}
}

// kept is what an earlier sign-in gave, nil if there is none for this address.
func (s *server) kept(endpoint *url.URL, client *http.Client) oauth2.TokenSource {
	text, ok := s.m.deps.Secret(s.name, grantName)
	var g grant
	if !ok || json.Unmarshal([]byte(text), &g) != nil || g.Endpoint != endpoint.String() {
		return nil
	}
	s.hide(g.Token.AccessToken, g.Token.RefreshToken, g.Secret)
	o := &oauth2.Config{ClientID: g.ClientID, ClientSecret: g.Secret, Scopes: g.Scopes, Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: oauth2.AuthStyle(g.Style)}}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, client)
	return &keptSource{s: s, grant: g, next: o.TokenSource(ctx, &g.Token)}
}

// grantName is the name under which the keyring has what signing in gave.
const grantName = "oauth"

func (s *server) saveGrant(g grant) {
	s.hide(g.Token.AccessToken, g.Token.RefreshToken, g.Secret)
	text, err := json.Marshal(g)
	if err == nil {
		err = s.m.deps.SetSecret(s.name, grantName, string(text))
	}
	if err != nil {
		s.log.add(FromProgram, "What signing in gave could not be kept: you will be asked again at the next start.")
	}
}

// keptSource gives tokens and stores those that are new.
type keptSource struct {
	s    *server
	next oauth2.TokenSource

	mu    sync.Mutex
	grant grant
}

func (k *keptSource) Token() (*oauth2.Token, error) {
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
