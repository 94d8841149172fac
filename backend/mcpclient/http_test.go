//go:build unix

package mcpclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/tools"
)

// honest starts a well-behaved server built with the SDK, with a tool that asks the user.
func honest(t *testing.T, stateless bool, wrap func(http.Handler) http.Handler) *httptest.Server {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "honest", Version: "1"}, &mcp.ServerOptions{Instructions: "be kind"})
	s.AddTool(&mcp.Tool{Name: "ask", Description: "asks", InputSchema: &jsonschema.Schema{Type: "object"}}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		textResult := func(text string) *mcp.CallToolResult {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
		}
		if stateless {
			if answer, ok := r.Params.InputResponses["q"].(*mcp.ElicitResult); ok {
				return textResult(answer.Action), nil
			}
			return &mcp.CallToolResult{InputRequests: map[string]mcp.InputRequest{"q": form()}}, nil
		}
		res, err := r.Session.Elicit(ctx, form())
		if err != nil {
			return nil, err
		}
		name, _ := res.Content["name"].(string)
		return textResult(res.Action + " " + name), nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who"}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "hello " + r.Params.Arguments["who"]}}}}, nil
	})
	s.AddResource(&mcp.Resource{URI: "mem://a", Name: "a"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "mem://a", Text: "inside"}}}, nil
	})
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: stateless})
	if wrap != nil {
		h = wrap(h)
	}
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		web.Close()
		for session := range s.Sessions() {
			_ = session.Close() // of clients that did not close them
		}
	})
	return web
}

func form() *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: "Who is it?", RequestedSchema: &jsonschema.Schema{
		Type: "object", Required: []string{"name"}, Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}, "n": {Type: "integer"}},
	}}
}

func serverAt(address string) config.MCPServer {
	return config.MCPServer{Name: "web", Enabled: true, URL: address}
}

// Servers at an address work in both revisions of the protocol, including questions to the user.
func TestServersAtAnAddress(t *testing.T) {
	for _, c := range []struct {
		stateless bool
		protocol  string
	}{{true, "2026-07-28"}, {false, "2025-11-25"}} {
		t.Run(c.protocol, func(t *testing.T) {
			var attended atomic.Bool
			attended.Store(true)
			asked := make(chan struct{}, 8)
			qs := &Questions{Attended: attended.Load, Open: func(string) error { return nil }, Changed: func(string) {
				select {
				case asked <- struct{}{}:
				default:
				}
			}}
			b := newFixture(t, qs, serverAt(honest(t, c.stateless, nil).URL))
			b.Ensure(t.Context())
			if st := b.status(); st.State != StateReady || st.Protocol != c.protocol || st.Instructions != "be kind" {
				t.Fatalf("%+v", st)
			}
			b.until("prompts and resources are counted", func() bool { st := b.status(); return st.Prompts == 1 && st.Resources == 1 })
			done := make(chan string, 1)
			go func() {
				out, err := b.call(t.Context(), "ask")
				done <- textOf(out.Content) + " " + errText(err)
			}()
			for len(qs.List()) == 0 {
				<-asked
			}
			q := qs.List()[0]
			if q.Server != "web" || q.Message != "Who is it?" || len(q.Fields) != 2 || q.Fields[0].Name != "name" || !q.Fields[0].Required {
				t.Errorf("%+v", q)
			}
			if err := qs.Answer(q.ID, Answer{Action: Accept}); chat.CodeOf(err) != chat.CodeInvalid {
				t.Errorf("an answer without a required field: %v", err)
			}
			if err := qs.Answer(q.ID, Answer{Action: Accept, Values: map[string][]string{"name": {"Ada"}, "n": {"x"}}}); chat.CodeOf(err) != chat.CodeInvalid {
				t.Errorf("an answer that is not a number: %v", err)
			}
			if err := qs.Answer(q.ID, Answer{Action: Accept, Values: map[string][]string{"name": {"Ada"}, "n": {"3"}}}); err != nil {
				t.Error(err)
			}
			if got := <-done; !strings.HasPrefix(got, "accept") || !c.stateless && !strings.Contains(got, "Ada") {
				t.Errorf("the call gave %q", got)
			}
			if len(qs.List()) != 0 || qs.Answer(q.ID, Answer{Action: Decline}) == nil {
				t.Error("the question is still open")
			}
			attended.Store(false)
			if out, err := b.call(t.Context(), "ask"); err != nil || !strings.HasPrefix(textOf(out.Content), "decline") {
				t.Errorf("without a user: %q, %v", textOf(out.Content), err)
			}
			r, err := b.GetPrompt(t.Context(), "web", "greet", map[string]string{"who": "Ada"})
			if err != nil || textOf(r.Messages[0].Blocks) != "hello Ada" {
				t.Errorf("prompt %+v, %v", r, err)
			}
			if blocks, err := b.ReadResource(t.Context(), "web", "mem://a"); err != nil || textOf(blocks) != "inside" {
				t.Errorf("resource %q, %v", textOf(blocks), err)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Headers with secrets are sent only to the configured server: redirects to other hosts are not followed.
func TestRedirectsAreNotFollowed(t *testing.T) {
	const canary = "canary-in-a-header"
	var mu sync.Mutex
	var seen []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.URL.Path+" "+r.Header.Get("X-Key"))
	}))
	t.Cleanup(elsewhere.Close)
	redirecting := honest(t, false, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/there", http.StatusTemporaryRedirect)
		})
	})
	cfg := serverAt(redirecting.URL)
	cfg.Headers = map[string]string{"X-Key": "${secret:key}"}
	b := newFixture(t, nil, cfg)
	b.secrets["web/key"] = canary
	b.Ensure(t.Context())
	if st := b.status(); st.State != StateWaiting || !strings.Contains(st.Full().String(), "another address") {
		t.Errorf("it is %s: %s", st.State, st.Full())
	}
	mu.Lock()
	defer mu.Unlock()
	if len(seen) > 0 || strings.Contains(b.logText(), canary) {
		t.Errorf("another address was requested: %q; log %s", seen, b.logText())
	}
}

func TestEndlessRedirectsAreReported(t *testing.T) {
	redirecting := honest(t, false, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		})
	})
	b := newFixture(t, nil, serverAt(redirecting.URL))
	b.Ensure(t.Context())
	if st := b.status(); st.State != StateWaiting || !strings.Contains(st.Full().String(), "redirects more than 5 times") {
		t.Errorf("it is %s: %s", st.State, st.Full())
	}
}

// A server that requires sign-in is reported as such, and no browser is opened unasked.
func TestAServerThatRequiresASignIn(t *testing.T) {
	var locked atomic.Bool
	locked.Store(true)
	guard := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if locked.Load() {
				w.Header().Set("WWW-Authenticate", "Bearer")
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	b := newFixture(t, nil, serverAt(honest(t, true, guard).URL))
	b.Ensure(t.Context())
	if st := b.status(); st.State != StateSignIn {
		t.Fatalf("it is %s: %s", st.State, st.Full())
	}
	if _, err := b.call(t.Context(), "ask"); !errors.Is(err, tools.ErrNotStarted) || !strings.Contains(err.Error(), "sign in") {
		t.Errorf("a call: %v", err)
	}
	locked.Store(false)
	if err := b.Restart(t.Context(), "web"); err != nil || b.status().State != StateReady {
		t.Fatalf("%v, %+v", err, b.status())
	}
	locked.Store(true)
	if _, err := b.call(t.Context(), "ask"); !errors.Is(err, tools.ErrNotStarted) {
		t.Errorf("a call after the sign-in expired: %v", err)
	}
	b.until("it requires a sign-in again", func() bool { return b.status().State == StateSignIn })
}

// A public server cannot name a private address as its sign-in page.
func TestSignInCannotUsePrivateAddresses(t *testing.T) {
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secret of the router") }))
	t.Cleanup(private.Close)
	public, local := &url.URL{Scheme: "https", Host: "mcp.example.test"}, &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	for _, address := range []string{
		private.URL, strings.Replace(private.URL, "127.0.0.1", "localhost", 1), "http://169.254.169.254/latest", "http://[::1]:1/", "http://10.0.0.1:1/", "http://100.64.0.1:1/",
		"http://[64:ff9b::7f00:1]:1/", "http://[2002:c0a8:1::]:1/", "http://[::10.0.0.1]:1/", "http://[::ffff:192.168.0.1]:1/",
	} {
		c := newOAuthClient(public)
		resp, err := c.Get(address)
		if err == nil {
			_ = resp.Body.Close()
		}
		if !errors.Is(err, errInternal) {
			t.Errorf("%s was requested: %v", address, err)
		}
		c.CloseIdleConnections()
	}
	opened := false
	browser := &signIn{open: func(string) error { opened = true; return nil }}
	if _, err := browser.fetch(t.Context(), &auth.AuthorizationArgs{URL: "https://192.168.0.1/reboot?state=x"}, false); !errors.Is(err, errInternal) || opened {
		t.Errorf("the browser was sent to a private address: %v", err)
	}
	c := newOAuthClient(local)
	defer c.CloseIdleConnections()
	resp, err := c.Get(private.URL)
	if err != nil {
		t.Fatalf("a local server cannot name a local address: %v", err)
	}
	_ = resp.Body.Close()
}

// If a server disappears during a call, the outcome of the call is unknown.
func TestAServerThatDisappears(t *testing.T) {
	broken := make(chan struct{})
	web := honest(t, false, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-broken:
				panic(http.ErrAbortHandler)
			default:
				next.ServeHTTP(w, r)
			}
		})
	})
	b := newFixture(t, nil, serverAt(web.URL))
	b.Ensure(t.Context())
	close(broken)
	if _, err := b.call(t.Context(), "ask"); err == nil || errors.Is(err, tools.ErrNotStarted) {
		t.Errorf("a call that was cut off: %v", err)
	}
	web.CloseClientConnections()
	web.Close()
	if _, err := b.call(t.Context(), "ask"); !errors.Is(err, tools.ErrNotStarted) && !strings.Contains(errText(err), "web") {
		t.Errorf("a call of a server that is gone: %v", err)
	}
}

// The SDK reads the whole body of an error, so its size is limited, whatever its type.
func TestErrorBodiesAreBounded(t *testing.T) {
	var status atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(int(status.Load()))
		for range 2000 {
			_, _ = io.WriteString(w, ": "+strings.Repeat("x", 1000)+"\n\n")
		}
	}))
	t.Cleanup(web.Close)
	endpoint, err := url.Parse(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := newHTTPClient(endpoint, nil, Limits{Frame: 1 << 20}, &session{life: t.Context(), traffic: &newMeter().traffic})
	defer c.CloseIdleConnections()
	for code, want := range map[int32]error{http.StatusInternalServerError: errFrame, http.StatusOK: nil} {
		status.Store(code)
		resp, err := c.Post(web.URL, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = io.Copy(io.Discard, resp.Body); !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", code, err, want)
		}
		_ = resp.Body.Close()
	}
}
